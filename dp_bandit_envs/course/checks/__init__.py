"""Checks of students' answers, one file a lab; each says in a verdict what is wrong, without giving it away."""

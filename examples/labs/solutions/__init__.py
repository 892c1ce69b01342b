"""Solutions of the labs' tasks, for teachers and tests."""

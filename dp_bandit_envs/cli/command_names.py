"""The commands of `dp-bandit` by purpose; needs no other package."""

ABOUT = "Differentially private bandits: play them, compare them, reproduce the papers."
COMMANDS = {
    "Play": ("run", "suite", "reproduce", "list", "show", "compile"),
    "Privacy": ("audit", "calibrate", "ledger"),
    "Course": ("lab", "grade"),
}
"""The names of the commands in each group."""

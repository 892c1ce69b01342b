"""Lines that matter for privacy, broken one at a time: every break must be caught. `python -m tests.mutations`."""

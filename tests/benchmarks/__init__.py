"""Speed and memory, measured: `python -m tests.benchmarks` prints one table. Nothing here is a test that can fail."""

"""Tests of the counters for private running sums."""

"""Tests that break things: kills, damaged files, random calls."""

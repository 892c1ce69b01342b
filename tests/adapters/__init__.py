"""Tests of the adapters that need no other package; those against real ones are in tests/neighbours/."""

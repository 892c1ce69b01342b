"""Tests of the decision sets."""

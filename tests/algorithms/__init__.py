"""Tests of the algorithms."""

"""Tests of the graphs."""

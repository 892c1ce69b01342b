"""Tests of the adversaries."""

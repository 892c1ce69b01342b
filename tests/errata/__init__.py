"""Tests of the errata."""

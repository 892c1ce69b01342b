"""Tests of the privacy."""

"""Tests of the suite of tasks."""

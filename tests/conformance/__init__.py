"""Tests of the conformance checks: ours pass, and every rule catches what breaks it."""

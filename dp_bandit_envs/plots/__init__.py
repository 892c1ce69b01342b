"""Figures: one kind a file, and one file for how they all look."""

"""Figures: one file for each kind, and one for the style that all share."""

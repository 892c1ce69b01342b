"""Experiments: one folder for each figure, and the parts that all share: chunks, results folders, tables, reports."""

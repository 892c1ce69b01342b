"""Experiments: one question a file, and what all of them share: chunks, folders, tables, reports."""

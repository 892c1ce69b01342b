"""Messy files, and what becomes of them."""

"""Compiles plain functions with Numba: machine code on disk, random streams and arithmetic in it, lanes of arrays."""

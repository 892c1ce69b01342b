"""Compiles plain functions with Numba: a disk cache of machine code, random streams, arithmetic, lanes of arrays."""

"""Which algorithm is advised."""

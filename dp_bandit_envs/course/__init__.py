"""The course: what its labs share. The labs themselves are notebooks in `examples/labs/`."""

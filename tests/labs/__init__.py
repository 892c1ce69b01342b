"""Tests of the labs: their answers and wrong answers, their notebooks, and the notebooks in a browser."""

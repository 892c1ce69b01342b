"""Runs a lab and prints it as HTML: `python docs/generators/run_lab.py NOTEBOOK`. Each prediction is the first one.

marimo starts a process of its own, which imports this file too: a lab shows its answers only to who has predicted.
"""

import sys

import marimo


class Predicted(marimo.ui.radio):
    """Choices of which the first is made."""

    def __init__(self, options, value=None, **more):
        super().__init__(options, value=next(iter(options)) if value is None else value, **more)


marimo.ui.radio = Predicted

if __name__ == "__main__":
    from marimo._cli.cli import main

    sys.argv[1:] = ["-q", "export", "html", *sys.argv[1:]]
    main()

"""Draws the pictures of the pages, wide and narrow, from stored results: a new look needs no new games."""

import json
from pathlib import Path

import numpy as np

from dp_bandit_envs.comparison.comparing import compare
from dp_bandit_envs.comparison.reporting import figure_of
from dp_bandit_envs.figures.reproduction import study_of
from dp_bandit_envs.plots.plot_style import as_bytes
from dp_bandit_envs.plots.privacy_figures import counters_figure
from dp_bandit_envs.privacy.counters import table
from dp_bandit_envs.runs.experiment import Results
from generators.kept import ROOT

FOLDER = ROOT / "examples"
WIDTHS = {"": None, "-narrow": 1}
"""The end of a picture's name, and the number of panels in a row; None for the figure's own."""


def draw_results(folder: Path, picture: str) -> None:
    """Draw a figure from the arrays in a folder of `dp-bandit reproduce`, whatever version of the package made them."""
    written = json.loads((folder / "configuration.json").read_text(encoding="utf-8"))
    # The first experiment is the one that the command's horizon and trials are about.
    whole = study_of(folder.name).experiments
    first = written["experiments"][whole[0].name] if len(whole) > 1 else written
    horizon = first["horizon"] or max(panel["env_kwargs"]["horizon"] for panel in first["panels"])
    study = study_of(folder.name, horizon=horizon, trials=first["trials"])
    results = []
    for experiment in study.experiments:
        part = folder / experiment.name if len(study.experiments) > 1 else folder
        with np.load(part / "results.npz") as arrays:
            results.append(Results(experiment, dict(arrays)))
    for end, columns in WIDTHS.items():
        (FOLDER / f"{picture}{end}.png").write_bytes(as_bytes(figure_of(study, results, columns), "png"))


def draw_others() -> None:
    """Draw the pictures that need a few seconds of play only: the README's comparison, and the counters."""
    algorithms = ["KL-UCB", "DP-UCB", "DP-KLUCB"]
    compared = compare("Stochastic", algorithms, epsilon=[0.1, 1], horizon=20_000, trials=100, progress=False)
    rows = table.compare(100_000, 1.0, 1e-6)
    for end, columns in WIDTHS.items():
        drawn = {
            "what-privacy-costs": compared.plot(against="round", columns=columns),
            "counters": counters_figure(rows, 100_000, columns),
        }
        for name, figure in drawn.items():
            (FOLDER / f"{name}{end}.png").write_bytes(as_bytes(figure, "png"))

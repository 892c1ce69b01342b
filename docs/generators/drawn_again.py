"""Draws the pictures of the pages, wide and narrow, from stored results: a new look needs no new games."""

import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.experiments.comparison import compare
from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.report import draw_figures
from dp_bandit_envs.figures.reproduction import study_of
from dp_bandit_envs.plots.plot_style import STYLES, as_bytes
from dp_bandit_envs.plots.privacy_figures import counters_figure
from dp_bandit_envs.privacy.counters import table
from generators import ROOT

FOLDER = ROOT / "examples"
WIDTHS = {"": None, "-narrow": 1}
"""The end of a picture's name, and the number of panels in a row; None for the figure's own."""


def draw_results(folder: Path, picture: str) -> None:
    """Draw a figure from the arrays in a folder of `dp-bandit reproduce`, whatever version of the package made them."""
    written = json.loads((folder / "configuration.json").read_text(encoding="utf-8"))
    # The first experiment is the one that the command's horizon and trials are about.
    whole = study_of(folder.name).experiments
    first = written["experiments"][whole[0].name] if len(whole) > 1 else written
    horizon = max(game["horizon"] for game in first["described"])
    trials = min(result["trials"] for game in first["described"] for result in game["results"])
    study = study_of(folder.name, horizon=horizon, trials=trials)
    results = []
    for experiment in study.experiments:
        part_folder = folder / experiment.name if len(study.experiments) > 1 else folder
        with np.load(part_folder / "results.npz") as arrays:
            results.append(Results(experiment, dict(arrays)))
    for end, columns in WIDTHS.items():
        for name, figure in draw_figures(study, results, columns).items():
            stem = f"{picture}-{name}" if name else picture
            (FOLDER / f"{stem}{end}.png").write_bytes(as_bytes(figure, "png"))


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


# ---- The README's first picture: two games of figure 1 as in the paper, and beside them at epsilon = 1 ----

TWICE = FOLDER / "figure-1-twice.png"
GAMES = {"deterministic": "Deterministic", "switching": "Switching costs"}
SIDES = ("As in the paper:\nepsilon = 243, no privacy", "At equal privacy:\nepsilon = 1")
TRIALS = 120
"""How many games of each are drawn; those of a longer run begin with the same ones."""
LETTERS = 15
"""Points at eight inches, so that seven remain where the picture is as wide as a telephone."""


def draw_figure_1_twice(left: Path, right: Path, picture: Path = TWICE) -> None:
    """Draw it from the folders that `dp-bandit reproduce figure-1` wrote, without and with `--epsilon 1`."""
    figure = Figure(figsize=(8, 7.6))
    axes = figure.subplots(len(GAMES), len(SIDES), sharex=True, sharey="row")
    figure.subplots_adjust(left=0.16, right=0.96, top=0.89, bottom=0.2, wspace=0.14, hspace=0.13)
    lines = {}
    for column, folder in enumerate((left, right)):
        with np.load(folder / "results.npz") as arrays:
            for row, (key, title) in enumerate(GAMES.items()):
                axes_of_game, rounds = axes[row, column], arrays[f"{key}/checkpoints"]
                for name in STYLES:
                    if (key_of_regret := f"{key}/{name}/external_regret") in arrays and name != "Batched-Lap-EXP3":
                        mean = arrays[key_of_regret][:TRIALS].mean(axis=0)
                        style = STYLES[name]
                        lines[name] = axes_of_game.plot(
                            rounds, mean / 1000, color=style.colour, ls=style.line, lw=2.4, label=name
                        )[0]
                        marked = dict(color=style.colour, marker=style.marker, ms=9, clip_on=False, zorder=3)
                        axes_of_game.plot(rounds[-1:], mean[-1:] / 1000, **marked)
                axes_of_game.set_xlim(0, rounds[-1])
                axes_of_game.set_xticks([0, rounds[-1]], ["0", "2¹⁸"], fontsize=LETTERS)
                axes_of_game.tick_params(labelsize=LETTERS)
                axes_of_game.grid(alpha=0.3)
                if column == 0:
                    axes_of_game.set_ylabel(f"{title}\nregret in thousands", fontsize=LETTERS)
        axes[0, column].set_title(SIDES[column], fontsize=LETTERS + 1)
        axes[-1, column].set_xlabel("rounds", fontsize=LETTERS, labelpad=-14)
    for axes_of_game in axes.flat:
        axes_of_game.set_ylim(bottom=0)
    figure.legend(
        lines.values(),
        [f"{name} (no privacy)" if name == "EXP3" else name for name in lines],
        loc="lower center",
        ncols=2,
        fontsize=LETTERS,
        frameon=False,
        handlelength=3.2,
    )
    picture.write_bytes(as_bytes(figure, "png"))

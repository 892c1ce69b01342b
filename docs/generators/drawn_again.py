"""Draws the pictures of the pages, wide and narrow, from stored results: a new look needs no new games."""

import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

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
        for name, figure in draw_figures(study, results, columns, note=False).items():
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
PAPERS_LEVELS = ("DP-EXP3-Lap", "EXP3-tau")
"""Entries of the numbers of figure 1 with the epsilons of the paper's parameters."""
GAMES = {"deterministic": "Deterministic", "switching": "Switching costs"}
LETTERS = 15
"""Points at eight inches, so that seven remain where the picture is as wide as a telephone."""


def draw_figure_1_twice(left: Path, right: Path, picture: Path = TWICE) -> None:
    """Draw it from the folders that `dp-bandit reproduce figure-1` wrote, at the paper's epsilon and at 1."""
    papers, level = (json.loads((left / "numbers.json").read_text(encoding="utf-8"))[name] for name in PAPERS_LEVELS)
    sides = (
        f"As in the paper: DP-EXP3-Lap\nat epsilon = {papers['epsilon']:.0f}, EXP3-tau at {level['epsilon']:.2f}",
        "At equal privacy: all private\nalgorithms at epsilon = 1",
    )
    figure = Figure(figsize=(8, 8))
    axes = figure.subplots(len(GAMES), len(sides), sharex=True, sharey="row")
    figure.subplots_adjust(left=0.16, right=0.96, top=0.9, bottom=0.23, wspace=0.14, hspace=0.13)
    lines: dict[str, Line2D] = {}
    for column, folder in enumerate((left, right)):
        with np.load(folder / "results.npz") as arrays:
            for row, (key, title) in enumerate(GAMES.items()):
                axes_of_game, rounds = axes[row, column], arrays[f"{key}/checkpoints"]
                for name, style in STYLES.items():
                    if (key_of_regret := f"{key}/{name}/external_regret") in arrays and name != "Batched-Lap-EXP3":
                        regret = arrays[key_of_regret] / 1000
                        games, mean = len(regret), regret.mean(axis=0)
                        look = {"color": style.colour, "ls": style.line, "lw": 2.4, "label": name}
                        (lines[name],) = axes_of_game.plot(rounds, mean, **look)
                        low, high = np.quantile(regret, (0.1, 0.9), axis=0)
                        axes_of_game.fill_between(rounds, low, high, color=style.colour, alpha=0.18, linewidth=0)
                        marked = {"color": style.colour, "marker": style.marker, "ms": 9, "clip_on": False, "zorder": 3}
                        axes_of_game.plot(rounds[-1:], mean[-1:], **marked)
                axes_of_game.set_xlim(0, rounds[-1])
                axes_of_game.set_xticks([0, rounds[-1]], ["0", "2¹⁸"], fontsize=LETTERS)
                axes_of_game.tick_params(labelsize=LETTERS)
                axes_of_game.grid(alpha=0.3)
                if column == 0:
                    axes_of_game.set_ylabel(f"{title}\nregret in thousands", fontsize=LETTERS)
        axes[0, column].set_title(sides[column], fontsize=LETTERS)
        axes[-1, column].set_xlabel("rounds", fontsize=LETTERS, labelpad=-14)
    for axes_of_game in axes.flat:
        axes_of_game.set_ylim(bottom=0)
    names = [f"{name} (no privacy)" if name == "EXP3" else name for name in lines]
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 0.045)}
    figure.legend(lines.values(), names, ncols=2, fontsize=LETTERS, frameon=False, handlelength=3.2, **place)
    band = f"line: mean of {games} games; band: from their 10 % to their 90 % quantile"
    figure.text(0.5, 0.02, band, ha="center", fontsize=LETTERS - 1)
    picture.write_bytes(as_bytes(figure, "png"))

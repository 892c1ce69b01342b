"""The README's picture: two games of figure 1 at the paper's parameters, and beside them at epsilon = 1."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.plots.plot_style import STYLES, as_bytes
from generators.kept import ROOT

PICTURE = ROOT / "examples" / "figure-1-twice.png"
GAMES = {"deterministic": "Deterministic", "switching": "Switching costs"}
SIDES = ("As in the paper:\nepsilon = 243, no privacy", "At equal privacy:\nepsilon = 1")
TRIALS = 120
"""How many games of each are drawn; those of a longer run begin with the same ones."""
LETTERS = 15
"""Points at eight inches, so that seven remain where the picture is as wide as a telephone."""


def draw(left: Path, right: Path, picture: Path = PICTURE) -> None:
    """Draw the picture from the folders that `dp-bandit reproduce` wrote, of figure-1 and figure-1-epsilon-1."""
    figure = Figure(figsize=(8, 7.6))
    axes = figure.subplots(len(GAMES), len(SIDES), sharex=True, sharey="row")
    figure.subplots_adjust(left=0.16, right=0.96, top=0.89, bottom=0.2, wspace=0.14, hspace=0.13)
    lines = {}
    for column, folder in enumerate((left, right)):
        with np.load(folder / "results.npz") as arrays:
            for row, (key, title) in enumerate(GAMES.items()):
                place, rounds = axes[row, column], arrays[f"{key}/checkpoints"]
                for name in STYLES:
                    if (found := f"{key}/{name}/external_regret") in arrays and name != "Batched-Lap-EXP3":
                        mean = arrays[found][:TRIALS].mean(axis=0)
                        style = STYLES[name]
                        lines[name] = place.plot(
                            rounds, mean / 1000, color=style.colour, ls=style.line, lw=2.4, label=name
                        )[0]
                        marked = dict(color=style.colour, marker=style.marker, ms=9, clip_on=False, zorder=3)
                        place.plot(rounds[-1:], mean[-1:] / 1000, **marked)
                place.set_xlim(0, rounds[-1])
                place.set_xticks([0, rounds[-1]], ["0", "2¹⁸"], fontsize=LETTERS)
                place.tick_params(labelsize=LETTERS)
                place.grid(alpha=0.3)
                if column == 0:
                    place.set_ylabel(f"{title}\nregret in thousands", fontsize=LETTERS)
        axes[0, column].set_title(SIDES[column], fontsize=LETTERS + 1)
        axes[-1, column].set_xlabel("rounds", fontsize=LETTERS, labelpad=-14)
    for place in axes.flat:
        place.set_ylim(bottom=0)
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

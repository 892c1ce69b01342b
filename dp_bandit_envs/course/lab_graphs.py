"""Lab 6, graph feedback: games on random graphs, and checks of the cost of privacy there and of a clique cover.

The checks use fixed graphs, without chance: their rate of false alarms is 0.
"""

import functools
import math
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.course.checking import MORE, WrongAnswer, call, check_formula, graded, kind, mistakes, plain
from dp_bandit_envs.course.notebooks import panel
from dp_bandit_envs.plots.plot_style import BLACK, BLUE, GREY, LIGHT_GREY, ORANGE, VERMILION
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation import simulate

ARMS: Final = 20
TRIALS: Final = 50
POINTS: Final = 24


class RegretCurve(NamedTuple):
    """Mean pseudo-regret of games after some rounds, and its standard error, `(points,)` each."""

    rounds: IntArray
    mean: FloatArray
    error: FloatArray

    @property
    def last(self) -> float:
        """The mean after the last round."""
        return float(self.mean[-1])


def random_graph(density: float, number: int) -> IntArray:
    """Return the reveal matrix, `(20, 20)`: for one seed, a denser graph contains all edges of a sparser graph."""
    draws = np.triu(np.random.default_rng(number).random((ARMS, ARMS)), 1)
    reveals = (draws + draws.T < density).astype(np.int64)
    np.fill_diagonal(reveals, 1)
    return reveals


@functools.lru_cache(maxsize=500)
def regret(algorithm: str, epsilon: float, density: float, number: int, most: int, horizon: int) -> RegretCurve:
    """Return an algorithm's regret on arms with random means, if a round reveals at most `most` gains."""
    options = {"epsilon": epsilon} if math.isfinite(epsilon) else {}
    reveals = random_graph(density, number)
    games = simulate(
        "DPBandit-Graph-v0",
        [make_algorithm(algorithm, **options)],
        horizon=horizon,
        trials=TRIALS,
        seed=0,
        env_kwargs={"graph": reveals - np.eye(ARMS, dtype=np.int64), "max_revealed": most},
    )
    outcome = games[next(iter(games))]
    assert outcome.pseudo_regret is not None
    points = np.unique(np.linspace(0, len(outcome.checkpoints) - 1, POINTS).astype(np.int64))
    regrets = outcome.pseudo_regret[:, points]
    return RegretCurve(
        outcome.checkpoints[points], regrets.mean(axis=0), regrets.std(axis=0, ddof=1) / math.sqrt(TRIALS)
    )


def revealed(reveals: IntArray, most: int) -> int:
    """Return the most gains that a round reveals: the factor for Laplace noise."""
    return min(int(reveals.sum(axis=1).max()), most)


def graph_picture(reveals: IntArray, most: int) -> Figure:
    """Draw the reveal graph, and the at most `most` gains that the busiest arm reveals."""
    angles = 2 * np.pi * np.arange(len(reveals)) / len(reveals)
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    busiest = int(reveals.sum(axis=1).argmax())
    figure, axes = panel(width=3.8)
    for first, second in zip(*np.nonzero(np.triu(reveals, 1)), strict=True):
        look = (
            {"color": ORANGE, "linewidth": 1.6}
            if busiest in (first, second)
            else {"color": LIGHT_GREY, "linewidth": 0.6}
        )
        axes.plot(*places[[first, second]].T, **look)
    seen = reveals[busiest] == 1
    axes.scatter(*places.T, s=110, color=np.where(seen, ORANGE, GREY), zorder=3)
    axes.scatter(*places[busiest], s=320, color=VERMILION, zorder=4)
    cut = f" (cut to {most})" if most < seen.sum() else ""
    axes.set(title=f"Playing the large arm reveals {seen.sum()} gains{cut}", aspect="equal")
    axes.axis("off")
    return figure


def regret_picture(curves: dict[str, RegretCurve]) -> Figure:
    """Draw up to four curves by their labels: with and without neighbours, first without privacy and then with it."""
    figure, axes = panel()
    looks = ((BLACK, "--"), (BLACK, "-"), (BLUE, "--"), (BLUE, "-"))
    for (label, curve), (colour, line) in zip(curves.items(), looks, strict=False):
        axes.plot(curve.rounds, curve.mean, color=colour, linestyle=line, label=label)
        band = curve.mean - 2 * curve.error, curve.mean + 2 * curve.error
        axes.fill_between(curve.rounds, *band, color=colour, alpha=0.12, linewidth=0)
    axes.set(title=f"Mean regret of {TRIALS} games, ± 2 standard errors", xlabel="rounds")
    axes.set(ylabel="regret, in gains (log scale)", yscale="log")
    axes.minorticks_off()
    axes.set_ylim(bottom=1)
    axes.legend(loc="lower right", fontsize=7.5, frameon=True, framealpha=0.8, edgecolor="none")
    return figure


def matrix(n_arms: int, edges: list[tuple[int, int]], *, directed: bool = False) -> IntArray:
    """Return the reveal matrix, `(n_arms, n_arms)`: 1 if the row's arm reveals the column's; 1 on the diagonal."""
    reveals = np.eye(n_arms, dtype=np.int64)
    for source, target in edges:
        reveals[source, target] = 1
        if not directed:
            reveals[target, source] = 1
    return reveals


FOLLOWED = matrix(6, [(1, 0), (2, 0), (3, 0), (4, 0), (5, 1), (5, 2)], directed=True)
"""Arm 5 reveals two others; arm 0 is revealed by four others and reveals none."""
STAR = matrix(7, [(0, arm) for arm in range(1, 7)])
CYCLE = matrix(9, [(arm, (arm + 1) % 9) for arm in range(9)])
GROUPS = matrix(7, [(0, 3), (0, 5), (3, 5), (1, 2), (4, 6)])
"""A triangle and two pairs, with shuffled numbers."""
KITE = matrix(6, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5)])
ALONE = matrix(4, [])
ALL = matrix(5, [(one, other) for one in range(5) for other in range(one)])
GRAPHS = (GROUPS, KITE, STAR, CYCLE, ALL, ALONE)
"""Undirected graphs."""

MISTAKES: Final = mistakes(
    "reveals",
    """\
float(reveals.sum(axis=1).mean()) | This is how many gains a round reveals on average. A promise has to hold for the \
worst round.
float(reveals.sum(axis=0).max()) | You count by how many arms one arm is revealed. Which gains change together if one \
round's data change?
float(reveals.sum(axis=1).max() - 1) | Does a round not reveal the gain of the arm played, too?
float(len(reveals)) | This is enough on any graph, but more than needed on most: look at the graph.
float(reveals.sum()) | This counts what all arms reveal together, but only one arm is played in a round.
float(reveals.sum(axis=1).min()) | This is the fewest gains that a round can reveal.
float(np.sqrt(reveals.sum(axis=1).max())) | The root is for Gaussian noise. For Laplace noise, changes of several \
gains add up.
1.0 | This is right if a round reveals one gain. Here it reveals more.
""",
)


def drawn_graph(rng: np.random.Generator, *, undirected: bool = False) -> IntArray:
    """Return a random graph of 4 to 10 arms."""
    n_arms = int(rng.integers(4, 11))
    reveals: IntArray = (rng.random((n_arms, n_arms)) < rng.uniform(0.2, 0.7)).astype(np.int64)
    if undirected:
        reveals = np.triu(reveals) | np.triu(reveals).T
    np.fill_diagonal(reveals, 1)
    return reveals


@graded
def check_noise_factor(noise_factor: Any, *, seed: int | None = None) -> str:
    """Check the growth factor of Laplace noise on a graph: the most gains of a round. No false alarms."""
    check_formula(
        noise_factor,
        lambda reveals: float(reveals.sum(axis=1).max()),
        [(each,) for each in (FOLLOWED, STAR, KITE, ALL, ALONE)],
        lambda rng: (drawn_graph(rng),),
        seed,
        known_mistakes=MISTAKES,
        wrong="On a graph of {0.shape[0]} arms {answer:g} is {side}. Which arm reveals most, and how many gains?",
        sides=("not enough", "more than needed"),
        what="The factor",
        partly=(
            (
                lambda reveals: bool((reveals == reveals.T).all()),
                "It is right for edges in both directions. Row i of the matrix says what playing arm i reveals.",
            ),
        ),
    )
    return "If a round's data change, so many gains may change by 1 each, and noise has to cover all of them."


@graded
def check_clique_cover(clique_cover: Any, *, seed: int | None = None) -> str:
    """Check a partition of the arms into cliques such that no two can be merged. No false alarms.

    Both usual greedy ways pass on all graphs, in any order: first fit, and one largest possible clique after the other.
    """
    numbers, rng = [], np.random.default_rng(seed)
    for reveals in (*GRAPHS, *(drawn_graph(rng, undirected=True) for _ in range(MORE))):
        cover = _groups(call(clique_cover, reveals), len(reveals))
        for group in cover:
            for arm in group:
                for other in group:
                    if not reveals[arm, other]:
                        raise WrongAnswer(
                            f"Arms {arm} and {other} are in one group, but playing arm {arm} does not reveal arm"
                            f" {other}. In a clique every arm reveals every other, not only the first one."
                        )
        for index, group in enumerate(cover):
            for later in cover[index + 1 :]:
                both = [*group, *later]
                if reveals[np.ix_(both, both)].all():
                    raise WrongAnswer(f"The groups {group} and {later} together are a clique, too: one is enough.")
        numbers.append(len(cover))
    return f"All are cliques and no two can be merged: {numbers[0]} for a triangle and two pairs, {numbers[4]} for all."


def _groups(answer: Any, n_arms: int) -> list[list[int]]:
    """Return groups of arms, each arm once, or raise `WrongAnswer`."""
    if isinstance(answer, (str, bytes, dict, int, float)) or not hasattr(answer, "__iter__"):
        raise WrongAnswer(f"Return a list of groups, each a list of arms; this is {kind(answer)}.")
    cover = []
    for group in answer:
        members = plain(sorted(group) if isinstance(group, (set, frozenset)) else group)
        if members is None or members.ndim != 1:
            raise WrongAnswer(f"Each group has to be a list of arms, such as [0, 2]; one of them is {kind(group)}.")
        if len(members):
            cover.append(members.tolist())
    arms = [arm for group in cover for arm in group]
    strange = [arm for arm in arms if arm not in range(n_arms)]
    if strange:
        raise WrongAnswer(f"There are {n_arms} arms, numbered from 0; there is no arm {strange[0]:g}.")
    missing = sorted(set(range(n_arms)) - set(arms))
    if missing:
        raise WrongAnswer(f"On a graph of {n_arms} arms, arm {missing[0]} is in no group.")
    if len(arms) > n_arms:
        twice = next(arm for arm in arms if arms.count(arm) > 1)
        raise WrongAnswer(f"Arm {twice} is in two groups; once is enough.")
    return [[int(arm) for arm in group] for group in cover]

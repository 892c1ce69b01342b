"""Lab 5, the attacker's view: attacks on arms alone, three suspects, pictures, and checks of bound and verdict."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.audits import ExactLoss
from dp_bandit_envs.audits.events import ArmEvent, clopper_pearson, least_epsilon
from dp_bandit_envs.audits.sampled import Candidate, Sampler, TablePair
from dp_bandit_envs.checks import require
from dp_bandit_envs.course.checking import (
    MORE,
    WrongAnswer,
    agree,
    call,
    graded,
    kind,
    mistakes,
    number,
    refuse_mistakes,
    some_number,
    whole,
)
from dp_bandit_envs.course.notebooks import panel
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.plots.plot_style import BLUE, GREY, LIGHT_GREY, ORANGE, VERMILION
from dp_bandit_envs.privacy.mechanisms import BlockSums
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.wrappers import PrivacyBoundary

ROUNDS = 12
TABLES: dict[str, tuple[float, float]] = {
    "both arms pay 0": (0.0, 0.0),
    "both arms pay 1": (1.0, 1.0),
    "both arms pay 1/2": (0.5, 0.5),
    "arm 0 pays": (1.0, 0.0),
    "arm 1 pays": (0.0, 1.0),
}
"""The gains of all rounds but the one in question."""


class Counts(NamedTuple):
    """Games with an event on each table, the more frequent table first, and the event's share of all arms."""

    more: int
    less: int
    games: int
    share: float


def neighbours(table: str, changed: int) -> TablePair:
    """Return two tables that differ in the round `changed`, from 0 to 11: in the paying arm, or in both gains."""
    gains = TABLES[table]
    table_one = np.tile(gains, (ROUNDS, 1)).astype(float)
    table_two = table_one.copy()
    table_one[changed], table_two[changed] = (0.0, 1.0) if gains[0] == gains[1] else ([1.0, 0.0], [0.0, 1.0])
    return TablePair(table_one, table_two, changed)


def attack(
    make: Callable[[], Algorithm], pair: TablePair, games: int, seed: int, *, choice: int | None = None
) -> Counts:
    """Choose an event of the arms in separate games (seeded by `choice` or else `seed`), and count it in others."""
    # Streams differ by seed: an even one chooses and an odd one counts.
    chooser = Sampler(make(), bandit, releases=False, seed=2 * (seed if choice is None else choice))
    event, candidate = chooser.events([Candidate(pair)], games, 0.0)[0]
    assert isinstance(event, ArmEvent)
    hits = Sampler(make(), bandit, releases=False, seed=2 * seed + 1).hits((event, candidate), games)
    more, less = hits if event.first else hits[::-1]
    return Counts(more, less, games, len(event.codes) / event.n_arms**event.rounds)


def bandit(table: FloatArray) -> BanditEnv:
    """Return the game of a table."""
    return BanditEnv(GainTable(table))


DECLARED: Final = 1.0
GAMES: Final = 20_000
CONFIDENCE: Final = 0.9999
"""The confidence of each bound, so that both honest suspects are cleared but for a probability of 2e-4."""
LETTERS: Final = ("A", "B", "C")
NUMBERS: Final = 3
"""How many numbers a student chooses: each has suspects of its own."""


class Suspect(NamedTuple):
    """A suspect: its letter, and the attacker's counts."""

    letter: str
    counts: Counts


def half_the_noise() -> Algorithm:
    """AdaP-UCB for epsilon = 1, which it also declares, with half the noise that it needs: a changed gain loses 2."""
    honest = make_algorithm("AdaP-UCB", epsilon=DECLARED)
    noise = BlockSums(epsilon=2 * DECLARED)
    return dataclasses.replace(honest, name="broken on purpose", wrapping=lambda env: PrivacyBoundary(env, noise))


def order(number: int) -> list[str]:
    """Return the letters of the broken algorithm, of AdaP-UCB and of LDP-UCB-B, shuffled by a student's number."""
    return [LETTERS[place] for place in np.random.default_rng([number, 3]).permutation(3)]


def three_suspects(number: int) -> list[Suspect]:
    """Return the counts of the three for a student's number, by letter."""
    makers = (
        half_the_noise,
        lambda: make_algorithm("AdaP-UCB", epsilon=DECLARED),
        lambda: make_algorithm("LDP-UCB-B", epsilon=DECLARED),
    )
    pair = neighbours("both arms pay 1", 0)
    # The events are the same for all students, so that the probability of a wrong verdict is known.
    counted = [attack(make, pair, GAMES, 3 * number + place, choice=0) for place, make in enumerate(makers)]
    return sorted(Suspect(letter, counts) for letter, counts in zip(order(number), counted, strict=True))


def own_numbers(numbers: Any) -> tuple[int, ...]:
    """Return a student's three different whole numbers, or raise `WrongAnswer`."""
    if numbers is None or numbers is ...:
        raise WrongAnswer("There are no numbers yet: write three of your own, such as (3, 14, 159).")
    if not isinstance(numbers, (Sequence, np.ndarray)) or isinstance(numbers, str):
        raise WrongAnswer(f"Write three whole numbers, such as (3, 14, 159); this is {kind(numbers)}.")
    checked = tuple(whole(each, "Your number") for each in numbers)
    if len(checked) != NUMBERS or len(set(checked)) < NUMBERS:
        raise WrongAnswer(
            f"It takes three different numbers, as one number always has the same games; these are {checked}."
        )
    if min(checked) < 0:
        raise WrongAnswer(f"Your numbers have to be at least 0; one is {min(checked)}.")
    return checked


def suspects_tables(numbers: Any, epsilon_bound: Callable[..., Any]) -> str:
    """Return the counts of the three for each number in Markdown, or the error in the numbers.

    Bounds come from a student's function, which may behave arbitrarily.
    """
    try:
        student_numbers = own_numbers(numbers)
    except WrongAnswer as wrong:
        return f"*{wrong}*"
    lines = ["| number | suspect | more | less | your bound |", "| --: | :-- | --: | --: | --: |"]
    for student in student_numbers:
        for suspect in three_suspects(student):
            try:
                bound = f"{epsilon_bound(*suspect.counts[:3], CONFIDENCE):.3f}"
            except Exception:
                bound = "(solve task 1)"
            counts = suspect.counts
            lines.append(f"| {student} | {suspect.letter} | {counts.more:,} | {counts.less:,} | {bound} |")
    return "\n".join(lines)


def counts_pictures(counts: Counts, declared: float, bound: float, confidence: float) -> tuple[Figure, Figure]:
    """Draw the frequencies of an event on two tables with their intervals, and the implied epsilon."""
    hits = np.array([counts.more, counts.less])
    intervals = np.array([clopper_pearson(int(each), counts.games, (1 - confidence) / 2) for each in hits])
    frequencies = hits / counts.games
    ratio = math.log(counts.more / counts.less) if counts.more and counts.less else math.nan
    (shares_figure, shares), (epsilon_figure, said) = panel(2.4), panel(2.4)
    reach = np.abs(intervals.T - frequencies)
    shares.barh([0, 1], frequencies, xerr=reach, color=[ORANGE, LIGHT_GREY], height=0.6, capsize=4)
    shares.set_yticks([0, 1], ["one table", "its neighbour"])
    shares.set(title="How often the event happened", xlabel="share of games, with Clopper-Pearson intervals")
    bars = [("at least", bound, VERMILION if bound > declared else ORANGE), ("ratio of frequencies", ratio, GREY)]
    if math.isfinite(declared):
        bars.append(("declared", declared, BLUE))
        said.axvline(declared, color=BLUE, linestyle="--", linewidth=1.0)
    lengths = [length if math.isfinite(length) else 0.0 for _, length, _ in bars]
    said.barh(range(len(bars)), lengths, color=[colour for _, _, colour in bars], height=0.6)
    said.set_yticks(range(len(bars)), [words for words, _, _ in bars])
    said.set(title="What that says of epsilon", xlabel="epsilon for one changed round")
    said.set_xlim(min(0.0, *lengths), 1.15 * max(*lengths, 0.1))
    for axes in (shares, said):
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
    return shares_figure, epsilon_figure


def losses_pictures(losses: Sequence[ExactLoss], names: Sequence[str], declared: float) -> list[Figure]:
    """Draw the loss of each round of some games, on the same axes; an infinite loss reaches the top."""
    finite = [float(loss) for each in losses for loss in each.by_round if math.isfinite(loss)]
    figures, top = [], 1.25 * max(declared, *finite, 0.0)
    for loss, title in zip(losses, names, strict=True):
        figure, axes = panel(2.6)
        rounds = np.arange(1, len(loss.by_round) + 1)
        above = loss.by_round > declared * (1 + 1e-6)
        axes.bar(rounds, np.minimum(loss.by_round, top), color=np.where(above, VERMILION, BLUE))
        for t in rounds[np.isinf(loss.by_round)]:
            axes.annotate(r"$\infty$", (t, top), ha="center", va="top", color="white")
        axes.axhline(declared, color=GREY, linestyle="--", linewidth=1.2)
        axes.set(title=title, xlabel="round that changes", ylabel="exact loss (dashed: declared)", ylim=(0, top))
        axes.grid(visible=False, axis="x")
        figures.append(figure)
    return figures


# Counts on both tables, games on each, and the confidence.
EASY = [(300, 100, 1000, 0.99), (6530, 2711, 20_000, 0.99)]
CASES = [*EASY, (30, 2, 50, 0.95), (700, 700, 1000, 0.99), (20, 0, 1000, 0.999), (0, 0, 100, 0.99)]
CASES += [(1000, 250, 1000, 0.99)]


def right(more: int, less: int, games: int, confidence: float) -> float:
    """Return the bound, at least 0."""
    return max(0.0, bound_on_epsilon(more, less, games, confidence))


def bound_on_epsilon(more: int, less: int, games: int, confidence: float) -> float:
    """Return the bound, which is below 0 if the counts show no difference."""
    return least_epsilon(more, less, games, 0.0, 1 - confidence)


def normal_ends(hits: int, games: int, failure: float) -> tuple[float, float]:
    """Return the bounds by the normal distribution, which are wrong for small counts."""
    share = hits / games
    width = float(require("scipy.stats", extra="audits").norm.isf(failure)) * math.sqrt(share * (1 - share) / games)
    return share - width, share + width


def log_ratio(above: float, below: float) -> float:
    """Return the smallest epsilon that allows two probabilities."""
    return math.log(above / below)


MISTAKES: Final = mistakes(
    "m, s, n, c",
    """\
log_ratio(m, s) | This is the ratio of the frequencies. Both are off by chance, so the truth can well be smaller: be \
cautious.
-log_ratio(m, s) | The ratio is upside down: the event is more frequent on the first table.
log_ratio(clopper_pearson(m, n, 1 - c)[0], clopper_pearson(s, n, 1 - c)[1]) | Each of your two bounds holds with the \
confidence, but both together do not: split the failure probability.
log_ratio(clopper_pearson(m, n, (1 - c) / 2)[1], clopper_pearson(s, n, (1 - c) / 2)[0]) | Both bounds are on the \
wrong side: this is the largest epsilon that fits the counts, not the smallest.
log_ratio(clopper_pearson(m, n, 1 - c)[1], clopper_pearson(s, n, 1 - c)[0]) | Both bounds are on the wrong side: this \
is the largest epsilon that fits the counts, not the smallest.
math.exp(bound_on_epsilon(m, s, n, c)) | This is the ratio of the probabilities, which is at most e to the epsilon.
bound_on_epsilon(m, s, n, c) / math.log(2) | Epsilon is measured with the natural logarithm.
bound_on_epsilon(m, s, n, c) / math.log(10) | Epsilon is measured with the natural logarithm.
log_ratio(normal_ends(m, n, (1 - c) / 2)[0], normal_ends(s, n, (1 - c) / 2)[1]) | These are intervals by the normal \
distribution, which fail for small counts; use Clopper and Pearson's.
log_ratio(clopper_pearson(m, n, (1 - c) / 4)[0], clopper_pearson(s, n, (1 - c) / 4)[1]) | Too cautious: only one end \
of each interval is used, so the failure probability is split in two, not four.
""",
    log_ratio=log_ratio,
    clopper_pearson=clopper_pearson,
    normal_ends=normal_ends,
    bound_on_epsilon=bound_on_epsilon,
)


def drawn_counts(rng: np.random.Generator) -> tuple[int, int, int, float]:
    """Return unpredictable counts."""
    games, less = some_number(rng, 400, 30_000), rng.uniform(0.02, 0.3)
    more = less * rng.uniform(1.5, 3.0)
    return int(games * more), int(games * less), games, (0.9, 0.95, 0.99, 0.999)[int(rng.integers(4))]


@graded
def check_epsilon_bound(epsilon_bound: Any, *, seed: int | None = None) -> str:
    """Check the lower confidence bound on epsilon, ln(p / q) with Clopper-Pearson bounds on both, at least 0.

    If the bound is 0, any answer not above it is accepted. No false alarms.
    """
    answers = [number(call(epsilon_bound, *case), f"epsilon_bound{case}") for case in EASY]
    if not all(fits(shown_epsilon, right(*case)) for shown_epsilon, case in zip(answers, EASY, strict=True)):
        refuse_mistakes(MISTAKES, EASY, answers)
    rng = np.random.default_rng(seed)
    for case in (*CASES, *(drawn_counts(rng) for _ in range(MORE))):
        more, less, games, confidence = case
        answer, bound = call(epsilon_bound, *case), right(*case)
        no_bound = bound == 0 and isinstance(answer, float) and answer == -math.inf
        shown_epsilon = 0.0 if no_bound else number(answer, f"epsilon_bound{case}")
        if fits(shown_epsilon, bound):
            continue
        if confidence != 0.99 and agree(shown_epsilon, bound_on_epsilon(more, less, games, 0.99)):
            raise WrongAnswer("It holds for a confidence of 0.99 only: use the one that is given.")
        side = "too large, so it would accuse the innocent" if shown_epsilon > bound else "smaller than it can be"
        of = f"For {more} and {less} of {games:,} games and confidence {confidence}"
        raise WrongAnswer(f"{of}, {shown_epsilon:.6g} is {side}.")
    return "If an algorithm keeps epsilon, your bound is above it with at most the failure probability."


def fits(answer: float, bound: float) -> bool:
    """Return whether an answer is the bound; a bound of 0 also accepts answers below 0."""
    return agree(answer, bound) or (bound == 0 and answer <= 0)


@graded
def check_accused(accused: Any, students: Any) -> str:
    """Check a student's accusations, one letter for each of three numbers that drew the suspects.

    Rate of false alarms: at most 1e-3. A student who applies the right bound accuses an honest suspect with a
    probability of at most 1e-4 for each of the six, 6e-4 in all, by Clopper and Pearson. No suspect is accused if the
    bound for the broken algorithm is at most 1. The events are the same for all students, and with the probabilities
    measured in 2,000,000 games, 0.0418 and 0.0060, the binomial distributions give this a probability below 1e-9 for
    each number. Guessed letters are right with a probability of 1/27.
    """
    if accused is None or accused is ...:
        raise WrongAnswer("Nobody is accused yet: write three letters, such as 'ABA', one for each number.")
    if not isinstance(accused, str):
        raise WrongAnswer(f"Write three letters as text, such as 'ABA'; this is {kind(accused)}.")
    letters = "".join(accused.upper().split())
    if unknown := set(letters) - set(LETTERS):
        raise WrongAnswer(f"The suspects are A, B and C; {min(unknown)!r} is none of them.")
    if len(letters) != NUMBERS:
        raise WrongAnswer(f"Write three letters, one for each number; there are {len(letters)} in {accused!r}.")
    for position, (letter, own_number) in enumerate(zip(letters, own_numbers(students), strict=True), 1):
        if letter != order(own_number)[0]:
            counts = next(each.counts for each in three_suspects(own_number) if each.letter == letter)
            bound = right(counts.more, counts.less, GAMES, CONFIDENCE)
            raise WrongAnswer(
                f"Letter {position} is wrong: with number {own_number}, the counts of {letter} fit epsilon ="
                f" {DECLARED:g}, as with confidence {CONFIDENCE} no more than {bound:.2f} can be shown. Frequencies"
                " alone accuse the innocent; whose bound is above the claim?"
            )
    return "Each has half the noise that it needs and loses 2. The other bounds clear nobody: they only accuse less."

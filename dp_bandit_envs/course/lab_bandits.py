"""Lab 1, bandits: games played or counted by hand, an opponent that knows the code of UCB, and checks."""

import math
from typing import Any, Final

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.course.checking import WrongAnswer, check_formula, graded, mistakes, number, some_number
from dp_bandit_envs.protocols import FloatArray, IntArray

Game = tuple[FloatArray, IntArray]

CHANCES: Final = (0.3, 0.5, 0.7)
"""With which the three arms pay, in an order that is drawn for each game."""
SIX_ROUNDS: Final[FloatArray] = np.array(
    [[1, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 0]], dtype=np.float64
)
"""What three arms pay in the six rounds of task 1, `(6, 3)`."""
ARMS_OF_SIX: Final[IntArray] = np.array([0, 0, 2, 2, 0, 1])
"""The arms that its player plays, `(6,)`."""


def new_payments(rounds: int = 30) -> FloatArray:
    """Return the payments of all arms, 1 or 0, `(rounds, 3)`; every call is another game."""
    luck = np.random.default_rng()
    return (luck.random((rounds, len(CHANCES))) < luck.permutation(CHANCES)).astype(np.float64)


def scoreboard(payments: FloatArray, pulled: list[int]) -> str:
    """Return the payments `(T, K)` that a player has seen, and at the end the regret, in Markdown."""
    arms = np.array(pulled, int)
    got = payments[np.arange(len(arms)), arms]
    rows = [f"| arm {arm} | {(arms == arm).sum()} | {got[arms == arm].sum():.0f} |" for arm in range(payments.shape[1])]
    last = f"The last pull paid **{got[-1]:.0f}**. " if len(arms) else ""
    over = ""
    if len(arms) == len(payments):
        totals = payments.sum(axis=0)
        over = (
            f"\n\nArm {totals.argmax()}, played throughout, would have paid {totals.max():.0f}. Your **regret** is"
            f" {totals.max():.0f} - {got.sum():.0f} = **{totals.max() - got.sum():.0f}**. Press *New game* for another"
            " one."
        )
    head = ["| | pulls | paid in all |", "| :-- | --: | --: |"]
    return f"{last}Rounds left: {len(payments) - len(arms)}.\n\n" + "\n".join([*head, *rows]) + over


def six_rounds() -> str:
    """Return the six rounds of task 1 as a table in Markdown, with the player's payments in bold."""
    lines = ["| round | arm 0 | arm 1 | arm 2 |", "| --: | --: | --: | --: |"]
    for t, (row, arm) in enumerate(zip(SIX_ROUNDS, ARMS_OF_SIX, strict=True), 1):
        cells = [f"**{gain:.0f}**" if each == arm else f"{gain:.0f}" for each, gain in enumerate(row)]
        lines.append(f"| {t} | {' | '.join(cells)} |")
    return "\n".join(lines)


class MindReader(Adversary):
    """Runs UCB in parallel: the arm that UCB plays next pays 0, and all others pay 1.

    UCB is deterministic, so this adversary is oblivious: all gains could be written down before the game begins.
    """

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game; it is deterministic."""
        self._victim = Ucb()
        self._victim.begin(n_arms=self.n_arms, horizon=self.horizon, rng=rng)
        self._seen = {key: np.zeros(self.n_arms, int) for key in ("count", "release")}

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        gains = np.ones((rounds, self.n_arms))
        for row in gains:
            arm = self._victim.select_arm()
            row[arm] = 0.0
            for counted in self._seen.values():
                counted[arm] += 1
            # The sums of what UCB earned stay 0.
            self._victim.update(arm, {"sum": np.zeros(self.n_arms), **self._seen})
        return gains


def collected(gains: FloatArray, arms: IntArray) -> float:
    """Return the total payment of the arms played."""
    return float(gains[np.arange(len(arms)), arms].sum())


def external_regret(gains: FloatArray, arms: IntArray) -> float:
    """Return the payment of the best single arm minus the payment of the arms played."""
    return float(gains.sum(axis=0).max()) - collected(gains, arms)


def seen_only(gains: FloatArray, arms: IntArray) -> float:
    """Return the wrong regret that counts the payments of each arm in its own rounds only."""
    collected_by_arm = np.bincount(arms, gains[np.arange(len(arms)), arms], gains.shape[1])
    return float(collected_by_arm.max()) - collected(gains, arms)


def shifted(gains: FloatArray, arms: IntArray) -> float:
    """Return the wrong regret with arms numbered from 1."""
    return external_regret(gains, arms - 1)


MISTAKES: Final = mistakes(
    "gains, arms",
    """\
float(gains.max(axis=1).sum()) - collected(gains, arms) | You compare with the best arm of each round. What would one \
and the same arm have paid in all rounds?
-external_regret(gains, arms) | The sign is wrong: regret is large when another arm would have paid more.
external_regret(gains, arms) / len(arms) | That is the regret per round; the regret of the whole game is asked for.
float(gains.sum(axis=0).max()) | That is what the best arm would have paid. What did the player get?
collected(gains, arms) | That is what the player got. What would the best arm have paid?
max(external_regret(gains, arms), 0.0) | It is right as long as the regret is not negative. Somebody who changes arms \
may beat every single arm.
seen_only(gains, arms) | You count what an arm paid when it was played. What would it have paid in all rounds?
float(gains.sum(axis=0).mean()) - collected(gains, arms) | You compare with the average of all arms, which is what \
somebody gets who plays at random.
float(gains.sum(axis=0).max() - gains.sum(axis=0)[np.bincount(arms).argmax()]) | You compare with the arm that was \
played most. What did the player get in the rounds with other arms?
shifted(gains, arms) | Arms are numbered from 0: arm 1 is the second column.
""",
    collected=collected,
    external_regret=external_regret,
    seen_only=seen_only,
    shifted=shifted,
)


@graded
def check_six_rounds(answer: Any) -> str:
    """Check the regret of the six rounds of task 1, a number. No false alarms: it is compared with 1e-9 to spare."""
    said = number(answer)
    if math.isclose(said, external_regret(SIX_ROUNDS, ARMS_OF_SIX), abs_tol=1e-9):
        return "Arm 0 would have paid 5 in all, and the player got 4."
    for mistake, says in MISTAKES[:-1]:  # but for arms that are counted from 1
        if math.isclose(said, mistake(SIX_ROUNDS, ARMS_OF_SIX), abs_tol=0.01):
            raise WrongAnswer(says)
    raise WrongAnswer("Add up each column, and the numbers in bold. Which two of these four sums does regret compare?")


def drawn_game(rng: np.random.Generator, rounds: int = 0, n_arms: int = 0) -> Game:
    """Return an unpredictable game."""
    rounds, n_arms = rounds or some_number(rng, 2, 60), n_arms or some_number(rng, 2, 9)
    return rng.integers(0, 9, (rounds, n_arms)) / 8, rng.integers(0, n_arms, rounds)


def games() -> list[Game]:
    """Return games that tell the mistakes above apart; in the second game the regret is negative."""
    rng = np.random.default_rng(20_261)
    return [
        (np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [1.0, 0.0, 0.25]]), np.array([1, 1, 2])),
        (np.tile(np.eye(2), (4, 1)), np.tile([0, 1], 4)),
        (np.array([[0.25, 0.75]]), np.array([0])),
        *(drawn_game(rng, *size) for size in ((20, 2), (50, 5), (7, 10))),
    ]


@graded
def check_regret(regret: Any, *, seed: int | None = None) -> str:
    """Check the external regret of gains `(T, K)` and arms `(T,)`. No false alarms: sums may differ by 1e-9."""

    def wrong(game: Game, answer: float, right: float) -> str:
        gains, arms = game
        if gains.size <= 16:  # a sentence can show them
            return f"With gains {gains.tolist()} and arms {arms.tolist()} you have {answer:g}; work it out by hand."
        rounds, n_arms = gains.shape
        return (
            f"It is right for short games, but not for one of {rounds} rounds and {n_arms} arms. Make longer games, and"
            " add up their gains in a loop."
        )

    check_formula(
        regret,
        external_regret,
        games(),
        drawn_game,
        seed,
        known_mistakes=MISTAKES,
        wrong=wrong,
        what="The regret",
        relative=0.0,
        absolute=1e-9,
    )
    return "It compares with the best arm in hindsight, which nobody knows while playing; it may be negative."


def ucb(total: float, count: int, rounds: int) -> float:
    """Return UCB's index, as in `dp_bandit_envs.agents.Ucb`."""
    return total / count + math.sqrt(2 * math.log(rounds) / count)


LOOKS: Final = ((3.0, 4, 10), (40.0, 100, 400), (0.0, 2, 3), (7.5, 10, 5_000), (1.0, 1, 4), (612.0, 900, 1_000))
"""The sum of an arm's gains, how many they are, and how many rounds were played."""
WRONG_INDEXES: Final = mistakes(
    "s, n, t",
    """\
s / n | That is the average alone. An arm that paid badly in its first rounds would never be tried again.
2 * s / n - ucb(s, n, t) | The bonus has to be added: an arm that was seldom tried may be better than it looks.
ucb(s, n, t) - s / n | That is the bonus alone. What does it come on top of?
s + ucb(s, n, t) - s / n | The sum stands where the average of the arm's gains has to be.
s / t + ucb(s, n, t) - s / n | The sum is divided by all rounds. How many gains of this arm are in it?
s / n + math.sqrt(2 * math.log(n) / t) | Count and rounds are exchanged in the bonus. Which should shrink it?
s / n + math.sqrt(2 * math.log(n) / n) | The logarithm is of all rounds played, not of this arm's own.
s / n + math.sqrt(math.log(t) / n) | The 2 under the root is missing.
s / n + 2 * math.sqrt(math.log(t) / n) | The 2 belongs under the root.
s / n + math.sqrt(2 * math.log(t)) / n | The count belongs under the root.
s / n + 2 * math.log(t) / n | The root is missing: without it the bonus is far too large for new arms.
s / n + math.sqrt(2 * math.log10(t) / n) | ln is the natural logarithm, `math.log` in Python.
s / n + math.sqrt(2 * math.log2(t) / n) | ln is the natural logarithm, `math.log` in Python.
s / n + math.sqrt(2 * math.log(t + 1) / n) | t is the number of rounds played, without the one to come.
s / n + math.sqrt(2 * t / n) | The logarithm is missing: the bonus of every arm would grow without end.
""",
    ucb=ucb,
)


def drawn_look(rng: np.random.Generator) -> tuple[float, int, int]:
    """Return the observations of an unpredictable arm."""
    count = some_number(rng, 1, 1_000)
    return round(rng.uniform(0, count), 3), count, count + some_number(rng, 1, 10_000)


@graded
def check_ucb_index(ucb_index: Any, *, seed: int | None = None) -> str:
    """Check UCB's index of an arm, of the sum and count of its gains and of the rounds played. No false alarms.

    Right is sum / count + sqrt(2 ln rounds / count), to a relative 1e-6.
    """
    check_formula(
        ucb_index,
        ucb,
        LOOKS,
        drawn_look,
        seed,
        known_mistakes=WRONG_INDEXES,
        wrong="For a sum of {0:g} in {1:,} of {2:,} rounds, {answer:.4g} is {side}. Work out average and bonus apart.",
        sides=("too small", "too large"),
        what="The index",
        rounded="Two arms may differ by little.",
    )
    return "That is all of UCB: it plays the arm with the largest index, after each was tried once."

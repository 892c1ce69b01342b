"""Lab 10, your own adversary: games that turn half way, leagues against the hardest game of lab 1, and a ranking."""

from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.conformance import check_adversary
from dp_bandit_envs.course.checking import WrongAnswer, failure, graded, kind
from dp_bandit_envs.course.lab_own_agent import ENOUGH, GAMES, LEAGUES
from dp_bandit_envs.errors import ConformanceError
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation import simulate

ARMS: Final = 4
ROUNDS: Final = 4_000
TRIALS: Final = LEAGUES * GAMES
SEED: Final = 2026
"""The games of the check's leagues are also those of the ranking, so that both say one number of one game."""
VICTIM: Final = "DP-KLUCB"
PROVEN: Final = "DP-EXP3-Lap"
HARDEST: Final = "Coins, each outcome lasts 200 rounds"
"""The opponent of lab 1 that hurts the victim most."""
OPPONENTS: Final = {
    "Coins with fixed chances": "Stochastic",
    "Coins, new chances every round": "FullyOblivious",
    HARDEST: "Oblivious",
    "Rhythms: every second or third round": "Deterministic",
}
"""Opponents of lab 1, without the adversary that charges for switching, which no list of gains can do."""


class Turn(Adversary):
    """Coins: one arm is ahead, with mean `leader`; after a share of the rounds another arm always pays."""

    def __init__(self, n_arms: int = ARMS, horizon: int = ROUNDS, share: float = 0.5, leader: float = 0.5) -> None:
        super().__init__(n_arms, horizon)
        self.share, self.leader = share, leader

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game: the roles of arms are drawn."""
        self._rng, self._t, self._order = rng, 0, rng.permutation(self.n_arms)

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next rounds, shape `(rounds, n_arms)`."""
        chances = np.full((rounds, self.n_arms), 0.4)
        chances[:, 0] = self.leader
        after = self._t + np.arange(rounds) >= self.share * self.horizon
        chances[after, 1] = 1.0
        self._t += rounds
        gains: FloatArray = (self._rng.random((rounds, self.n_arms)) < chances)[:, self._order].astype(np.float64)
        return gains


def learners() -> list[Algorithm]:
    """Return the attacked private agent, and an agent with a proven bound in every game."""
    return [make_algorithm(VICTIM, epsilon=1.0), make_algorithm(PROVEN, epsilon=10.0)]


def bound(name: str, horizon: int = ROUNDS) -> float:
    """Return a learner's proven regret bound in every game; infinite if there is none."""
    (learner,) = (each for each in learners() if each.name == name)
    return float(learner.regret_bound(n_arms=ARMS, horizon=horizon))


def regrets(game: Any, trials: int = TRIALS, horizon: int = ROUNDS, seed: int = SEED) -> dict[str, FloatArray]:
    """Return each learner's regret against the best fixed arm in each game, `(trials,)`; a game may be a short name."""
    more: dict[str, Any] = {"horizon": horizon} if isinstance(game, str) else {}
    played: Any = simulate(game, learners(), trials=trials, checkpoints=1, seed=seed, **more)
    return {name: outcome.external_regret[:, -1] for name, outcome in played.items()}


def mean_and_error(lost: FloatArray) -> str:
    """Return a mean with its standard error, in words."""
    return f"{lost.mean():,.1f} ± {lost.std(ddof=1) / np.sqrt(len(lost)):,.1f}"


def ranking(classes: dict[str, Any], trials: int = TRIALS, horizon: int = ROUNDS) -> str:
    """Return games as a table in Markdown, by decreasing regret of `VICTIM`; `classes` has adversary classes by name.

    Cells are means ± standard errors over the games of the check's leagues.
    """
    games = {title: regrets(name, trials, horizon) for title, name in OPPONENTS.items()}
    games |= {f"**{name}**": regrets(make(ARMS, horizon), trials) for name, make in classes.items()}
    first = sorted(games, key=lambda title: -games[title][VICTIM].mean())
    cells = {title: [mean_and_error(games[title][name]) for name in (VICTIM, PROVEN)] for title in first}
    lines = [f"| {title} | {' | '.join(means)} |" for title, means in cells.items()]
    lines.append(f"| *proven for every game* | *nothing* | *at most {bound(PROVEN, horizon):,.0f}* |")
    head = [f"| game | {VICTIM}, epsilon = 1 | {PROVEN}, epsilon = 10 |", "| :-- | --: | --: |"]
    return "\n".join([*head, *lines])


class VictimRegrets(NamedTuple):
    """The victim's regret in each game, `(games,)`: against the adversary, and the hardest opponent of lab 1."""

    adversary: FloatArray
    hardest: FloatArray

    @property
    def won(self) -> int:
        """The leagues with the larger regret against the adversary."""
        adversary, hardest = (regret.reshape(-1, GAMES).mean(axis=1) for regret in self)
        return int((adversary > hardest).sum())


def play_leagues(adversary: Adversary, seed: int) -> VictimRegrets:
    """Play all leagues."""
    both = (regrets(game, seed=seed)[VICTIM] for game in (adversary, OPPONENTS[HARDEST]))
    return VictimRegrets(*both)


@graded
def check_own_adversary(make_adversary: Any, *, seed: int = SEED) -> str:
    """Check an adversary's class: that it keeps all rules, and that it hurts DP-KLUCB more than any opponent of lab 1.

    It must pass `check_adversary`, be the same game in any blocks of its 4,000 rounds, and let no gain depend on the
    arms played. It must win 33 of 40 leagues against coins whose outcomes last 200 rounds. A league is 25 games of four
    arms and 4,000 rounds, with DP-KLUCB at epsilon = 1; the larger mean regret against the best fixed arm wins it. An
    adversary that wins a league with probability at least 0.95 is refused with probability at most 7.2e-4 (fewer than
    33 of 40 independent leagues; binomial, exact). An adversary that is not harder passes with probability at most
    2.2e-5. The same seed gives the same verdict.
    """
    adversary = checked(make_adversary)
    try:
        played = play_leagues(adversary, seed)
    except Exception as error:
        raise WrongAnswer(f"The adversary stops in one of the games, with {failure(error)}.") from None
    return in_words(played)


def checked(make_adversary: Any) -> Adversary:
    """Return an adversary of a student's class for the leagues; raise `WrongAnswer` if it breaks a rule."""
    if make_adversary is None or make_adversary is ...:
        raise WrongAnswer("There is no adversary yet.")
    if not (isinstance(make_adversary, type) and issubclass(make_adversary, Adversary)):
        what = "an adversary" if isinstance(make_adversary, Adversary) else kind(make_adversary)
        raise WrongAnswer(f"Give the class, one that inherits Adversary; this is {what}.")
    try:
        adversary: Adversary = make_adversary(n_arms=ARMS, horizon=ROUNDS)
        # First, because its errors name the line; check_adversary names the broken rule.
        adversary.begin(np.random.default_rng(0))
        adversary.next_gains(100)
        # A function, not the class: a game that needs four arms, or a turn after 2,000 rounds, is right here.
        check_adversary(lambda: make_adversary(n_arms=ARMS, horizon=ROUNDS))
        whole, cut = (whole_game(adversary, length) for length in (ROUNDS, 199))
    except ConformanceError as broken:
        raise WrongAnswer(f"A rule for adversaries is broken. {broken}") from None
    except Exception as error:
        raise WrongAnswer(f"The adversary stops with {failure(error)}.") from None
    if (size := (adversary.n_arms, adversary.horizon)) != (ARMS, ROUNDS):
        raise WrongAnswer(f"Made with {ARMS} arms and {ROUNDS:,} rounds, it has {size[0]} and {size[1]:,}.")
    if len(whole) != ROUNDS:
        raise WrongAnswer(f"next_gains gives {len(whole):,} rows in a game of {ROUNDS:,} rounds: give one each.")
    if not np.array_equal(whole, cut):
        raise WrongAnswer(
            "A rule for adversaries is broken. Fetched 199 rounds at a time, the game is another one than in a single"
            " piece. Does `self.t` count all rounds, and does the turn come within a piece, too?"
        )
    if not ((whole >= 0) & (whole <= 1)).all():
        raise WrongAnswer("A rule for adversaries is broken. Gains have to be in [0, 1] in all rounds, the last too.")
    if adversary.memory or adversary.payoff is not None or adversary.lowest:
        raise WrongAnswer("It has to write down its gains, in [0, 1], beforehand: no memory, no payoff, lowest = 0.")
    return adversary


def whole_game(adversary: Adversary, length: int) -> FloatArray:
    """Return all gains of a game, fetched in pieces of a length; `check_adversary` looks at its beginning only."""
    adversary.begin(np.random.default_rng(1))
    left = range(adversary.horizon, 0, -length)
    return np.concatenate([adversary.next_gains(min(length, rounds)).copy() for rounds in left])


def in_words(leagues: VictimRegrets) -> str:
    """Return praise for an adversary that wins enough leagues; raise `WrongAnswer` otherwise."""
    adversary, hardest = leagues.adversary.mean(), leagues.hardest.mean()
    numbers = (
        f"It wins {leagues.won} of {LEAGUES} leagues; {VICTIM} loses {mean_and_error(leagues.adversary)} to the best"
        f" fixed arm on average, and {mean_and_error(leagues.hardest)} in the hardest game of lab 1 (means ± standard"
        " errors)."
    )
    if leagues.won >= ENOUGH:
        return f"{numbers} No proof forbids it: the one of {VICTIM} is about coins whose chances stay."
    numbers = f"{numbers} It takes {ENOUGH} leagues."
    if adversary < 0:
        raise WrongAnswer(
            f"{numbers} Below 0: it changes arms in time and beats every fixed one. Regret compares with one arm for"
            " the whole game, so let the arm that is best in the end be best by much."
        )
    if adversary < hardest / 2:
        raise WrongAnswer(
            f"{numbers} It learns your game as if arms were coins. What does it believe after many rounds of the same,"
            " and when does it look again?"
        )
    raise WrongAnswer(f"{numbers} When should the game turn, and how far behind may the later best arm look before?")

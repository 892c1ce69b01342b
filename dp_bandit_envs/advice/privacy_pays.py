"""The smallest horizon at which learning under privacy is worth it."""

from collections.abc import Sequence
from typing import Final

from dp_bandit_envs.advice.eligible import eligible
from dp_bandit_envs.advice.situations import Situation
from dp_bandit_envs.advice.standings import standings
from dp_bandit_envs.errors import UnreachableGuaranteeError

LARGEST: Final = 2**18
"""The largest horizon that is tried."""
SHARE: Final = 0.5
"""Privacy pays if mean regret is below this share of uniform play's."""
ROUNDS: Final = 2**18
"""About how many rounds are played for each algorithm and horizon."""


def pays_from(
    situation: Situation,
    names: Sequence[str],
    *,
    target: tuple[float, float],
    person_rounds: int,
    start: int,
    seed: int,
    jobs: int,
) -> int | None:
    """Return the smallest power of two T at which the best of some algorithms loses less than half of uniform play.

    From a first T it goes down as long as that holds, or up until it does: the share falls with T.

    Args:
        situation: A stable situation, in which the regret of uniform play is known.
        names: Names of algorithms, which are calibrated anew for each T.
        target: (epsilon, delta) for a person.
        person_rounds: The most rounds of a person; not more than T in short games.
        start: Where to begin.
        seed: The seed.
        jobs: Games to play at a time.

    Returns:
        T, at least the number of arms; None if it does not hold up to `LARGEST`.
    """
    if situation.uniform <= 0:
        return None

    def holds(horizon: int) -> bool:
        trials = max(16, min(100, ROUNDS // horizon))
        game = situation.game(horizon)
        try:
            players, _ = eligible(names, target, min(person_rounds, horizon), game)
        except UnreachableGuaranteeError:
            return False
        pairs = [(one, "private") for one in players]
        best = standings(situation, pairs, horizon=horizon, trials=trials, seed=seed, jobs=jobs)[0]  # type: ignore[arg-type]
        return best.mean < SHARE * situation.uniform * horizon

    smallest = 1 << (situation.n_arms - 1).bit_length()
    horizon = min(LARGEST, max(smallest, 1 << (start - 1).bit_length()))
    if holds(horizon):
        while horizon > smallest and holds(horizon // 2):
            horizon //= 2
        return horizon
    while horizon < LARGEST:
        horizon *= 2
        if holds(horizon):
            return horizon
    return None

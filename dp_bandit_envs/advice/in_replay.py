"""The same guarantee in a replay: there the records of a person are played again and again, unlike in a new trial."""

from collections.abc import Sequence
from typing import NamedTuple

from dp_bandit_envs.advice.eligible import for_person
from dp_bandit_envs.advice.picks import Pick
from dp_bandit_envs.advice.trial_shape import TrialShape
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import UnreachableGuaranteeError


class InReplay(NamedTuple):
    """What a replay of all records of a file needs to give a person the guarantee that the advice is for.

    Attributes:
        records: Number of records, and of rounds of the replay.
        rounds: In how many of them one person serves, at most.
        algorithms: Those to take, calibrated to these rounds, by name; without those that cannot meet the guarantee.
    """

    records: int
    rounds: int
    algorithms: dict[str, Algorithm]


def in_replay(
    shape: TrialShape, most: int, picks: Sequence[Pick | None], target: tuple[float, float], game: BanditEnv
) -> InReplay:
    """Calibrate the algorithms to take to a replay of a file at its own length.

    Args:
        shape: The file's.
        most: The most records of a person, where the file does not say whose they are.
        picks: What is advised for a new trial.
        target: (epsilon, delta) for a person.
        game: A game of as many rounds as the file has records.
    """
    rounds = shape.rounds_in_replay(most)
    found: dict[str, Algorithm] = {}
    for name in dict.fromkeys(one.name for one in picks if one is not None and one.name != "Uniform"):
        try:
            found[name] = for_person(name, target, rounds, game)
        except UnreachableGuaranteeError:
            continue
    return InReplay(shape.records, rounds, found)

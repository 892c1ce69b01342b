"""The noise of boundaries with secure draws: a new stream for each game, from the operating system, and no seed."""

from typing import Any, SupportsIndex

from dp_bandit_envs.errors import SeedRefusedError
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.secure_draws import SecureStream, takes_no_seed
from dp_bandit_envs.seeding import EpisodeStreams, checked_seed, drawn_seed


class SecureStreams:
    """Takes the place of `EpisodeStreams` where a seed must not exist."""

    def __init__(self) -> None:
        self.begun = False

    def next(self, seed: int | None, options: dict[str, Any] | None = None) -> SecureStream:
        """Begin the next game; the options choose a trial and a player of the game below, and no noise."""
        refuse_seed(seed, "draws='secure'")
        self.begun = True
        return SecureStream()


def streams_of(mechanism: Mechanism, role: int, label: str) -> Any:
    """Return the streams of a boundary's noise: `EpisodeStreams`, or secure ones.

    Args:
        mechanism: Its mechanism.
        role: As in `dp_bandit_envs.seeding.stream`.
        label: What distinguishes its noise from that of others with the same seed.
    """
    return SecureStreams() if takes_no_seed(mechanism) else EpisodeStreams(role, label)


def refuse_seed(seed: SupportsIndex | None, name: str) -> None:
    """Raise if a seed is given."""
    number = checked_seed(seed)
    if number is not None:
        raise SeedRefusedError(
            f"{name} draws its noise from the operating system and takes no seed, which would let others repeat it;"
            f" received seed={number}. Use reset() without one, and play(env, agent, seed=None); or draws='fast'."
        )


def seed_below(seed: int | None, mechanism: Mechanism, below_takes_seed: bool) -> int | None:
    """Return the seed for what is below: a new one under secure draws, so that no seed given earlier goes on."""
    return drawn_seed() if seed is None and takes_no_seed(mechanism) and below_takes_seed else seed

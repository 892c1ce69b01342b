"""A stand-in for secure draws that takes seeds, so that whole games can be compared; its law is only nearly right."""

from dp_bandit_envs.seeding import EpisodeStreams
from dp_bandit_envs.wrappers import boundary


class Seeded:
    """Has the methods of a secure stream, over a NumPy generator."""

    def __init__(self, rng) -> None:
        self._rng, self.drawn = rng, []

    def laplace_steps(self, scale: float) -> float:
        return self._kept(self._rng.laplace(0.0, scale))

    def normal_steps(self, scale: float) -> float:
        return self._kept(self._rng.normal(0.0, scale))

    def random(self) -> float:
        return self._rng.random()

    def _kept(self, draw: float) -> float:
        self.drawn.append(round(draw))
        return float(round(draw))


class SeededStreams(EpisodeStreams):
    """Streams of `Seeded` for a boundary, in place of `SecureStreams`."""

    def __init__(self) -> None:
        """Take the role of the first wrapper."""
        super().__init__(2, "stand-in")

    def next(self, seed, options=None):
        return Seeded(super().next(seed, options))


def accept_seeds(monkeypatch) -> None:
    """Let boundaries with secure draws take seeds for the rest of a test."""
    monkeypatch.setattr(boundary, "SecureStreams", SeededStreams)
    monkeypatch.setattr(boundary.BoundaryBase, "takes_seed", True)
    for module in ("boundary", "vector.vector_boundary"):
        monkeypatch.setattr(f"dp_bandit_envs.wrappers.{module}.seed_for_inputs", lambda seed, mechanism, below: seed)

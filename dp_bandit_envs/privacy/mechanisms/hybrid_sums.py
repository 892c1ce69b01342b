"""Running sums released by one hybrid counter for each arm."""

from typing import Any, ClassVar, SupportsFloat

from dp_bandit_envs.privacy.mechanisms.counter_sums import CounterSums


class HybridSums(CounterSums):
    """Releases running sums, with one hybrid counter for each arm.

    Each counter has the full epsilon: a round's gain is added to the sum of the arm played only, so arms compose in
    parallel. Where one round reveals several values, the noise is larger; see `CounterSums`.

    Args:
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        noise: `"laplace"`, `"own-norm"` or `"gaussian"`; see `CounterSums`.
        delta: Privacy failure probability of Gaussian noise, in (0, 1), by default 1e-6; not for other noise.
        pad_unplayed: Whether the counters of arms that a round does not reveal are fed a 0 in that round, so that all
            arms have the same noise (DP-UCB). Their counts do not change.
        draws: `"fast"` or `"secure"`; see `CounterSums`.
        options: `budget`: `"split"`, or `"paper"`, which is 2 epsilon-DP.

    Protects: one round's gains of all arms, centrally.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import HybridSums, Ucb, play
        >>> env = HybridSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000), epsilon=10)
        >>> game = play(env, Ucb(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 98% of all rounds
    """

    example: ClassVar[dict[str, Any]] = {"epsilon": 1.0}

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        noise: str | None = None,
        delta: SupportsFloat | None = None,
        pad_unplayed: bool = False,
        draws: str = "fast",
        **options: Any,
    ) -> None:
        super().__init__(
            counter="hybrid",
            epsilon=epsilon,
            noise=noise,
            delta=delta,
            pad_unplayed=pad_unplayed,
            draws=draws,
            **options,
        )

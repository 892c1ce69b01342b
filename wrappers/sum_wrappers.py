"""The privacy wrappers that release running sums and counts of each arm's gains.

Observations are `{"sum": float64 (n_arms,), "count": int64 (n_arms,), "release": int64 (n_arms,)}`: the released total
of each arm, which noise may carry outside [0, count], the number of gains in it, and how many releases the arm has had.
Between releases they stay as they are. The reward is the released mean of the arm played, 0.0 before its first release.
Other privacy wrappers go below, none above.
"""

from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex

from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.mechanisms.interval_sums import PAPER_DELTA
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary


class ExactSums(PrivacyBoundary):
    """Exact running sums of what is below: for agents such as `Ucb`, without privacy of its own.

    Around a wrapper that adds noise to each gain, such as `RandomizedResponse`, the sums are noisy, and the guarantee
    is that wrapper's: adding up is post-processing.

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
    """

    def __init__(self, env: Environment) -> None:
        super().__init__(env, mechanisms.ExactSums())


class BlockSums(PrivacyBoundary):
    """Each arm's gains in blocks that grow; the sum of a block is released when it is full, with Laplace noise.

    The scale is sensitivity / epsilon for every block: a gain is in one block of one arm, so it is released once, and
    there is nothing to compose. What an agent divides by the count is a mean with noise of scale 1 / (epsilon n).

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        ratio: By how much an arm's number of released gains grows from release to release, at least 1. With 2, blocks
            have 1, 1, 2, 4, 8, ... gains; with 1, every gain is released by itself, which is local privacy.
        first: The number of gains in an arm's first block, at least 1.
        keep: Whether `sum` and `count` cover all full blocks, each with its own noise; otherwise the last one only.
        lengths: The lengths of the blocks instead, each at least 1; the last is that of all that follow.

    Protects: one round's gains of all arms, centrally (locally, with blocks of 1).

    Source: Azize and Basu (2022) and Hu and Hegde (2022) for doubling blocks that forget; Azize, Wu, Honda, Orabona,
    Ito and Basu (2025) for geometric blocks that keep; Sajed and Sheffet (2019) for lengths of its own.
    """

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        ratio: SupportsFloat = 2.0,
        first: SupportsIndex = 1,
        keep: bool = False,
        lengths: Iterable[int] | None = None,
    ) -> None:
        super().__init__(
            env, mechanisms.BlockSums(epsilon=epsilon, ratio=ratio, first=first, keep=keep, lengths=lengths)
        )


class IntervalSums(PrivacyBoundary):
    r"""Releases an arm's mean over all of its gains at the ends of growing intervals, with less and less noise.

    At n = W_1, W_2, ... gains the mean gets Laplace noise of scale :math:`n^{v/2 - 1}`. Released is the mean times n,
    as `sum`, with `count` n. Each release covers all gains so far and is :math:`n^{-v/2}`-DP, and they compose to
    (epsilon, delta): rho-zCDP with rho half the sum of :math:`W_j^{-v}`. A round's gain enters the sum of one arm only.

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
        epsilon: Target for all releases together, in (0, inf]; the paper's input parameter follows from it by its
            corollary 3.2. The guarantee states what is spent, which is less.
        v: How fast the noise falls, in (1, 1.5].
        delta: The delta of the target, in (0, 1).
        release: `"once"` draws the noise of a release once. `"redraw"` draws it again in every round, as the paper's
            algorithm 3 is printed: it is here to show what that does, and has no guarantee.
        intervals: `"lemma"` for those of lemma B.1, `"uniform"` for ceil(1 / input) gains each.

    Protects: one round's gains of all arms, centrally.

    Source: Tossou and Dimitrakakis (2016), algorithm 3, theorem 3.4, lemma B.1.
    """

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        v: SupportsFloat = 1.1,
        delta: SupportsFloat = PAPER_DELTA,
        release: str = "once",
        intervals: str = "lemma",
    ) -> None:
        super().__init__(
            env, mechanisms.IntervalSums(epsilon=epsilon, v=v, delta=delta, release=release, intervals=intervals)
        )


class CounterSums(PrivacyBoundary):
    """Running sums with the noise of one counter for each arm.

    Each counter has the whole of epsilon: a round's gain enters the sum of the arm played and no other, so arms compose
    in parallel. Where one round reveals several gains (sensitivity s > 1), the noise is s times as large.

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        counter: A key of `dp_bandit_envs.privacy.counters.COUNTERS`; `dp-bandit counters` compares them.
        pad_unplayed: Whether the counters of arms that revealed nothing get a 0 in every round, so that all arms have
            the same noise (DP-UCB). Their counts stay.
        options: What the counter takes besides: `budget` of the hybrid one, `base` of the k-ary one, `delta` of the
            square-root one.

    Protects: one round's gains of all arms, centrally.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2.
    """

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        counter: str,
        pad_unplayed: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(
            env, mechanisms.CounterSums(counter=counter, epsilon=epsilon, pad_unplayed=pad_unplayed, **options)
        )


class HybridSums(CounterSums):
    """Running sums with the noise of one hybrid counter for each arm.

    Each counter has the whole of epsilon: a round's gain enters the sum of the arm played and no other, so arms compose
    in parallel. Where one round reveals several gains (sensitivity s > 1), the noise is s times as large.

    Args:
        env: A bandit environment, or a privacy wrapper around one that releases gains.
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        pad_unplayed: Whether the counters of arms that revealed nothing get a 0 in every round, so that all arms have
            the same noise (DP-UCB). Their counts stay.
        options: `budget`: `"split"`, or `"paper"`, which is 2 epsilon-DP.

    Protects: one round's gains of all arms, centrally.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2.
    """

    def __init__(self, env: Environment, *, epsilon: SupportsFloat, pad_unplayed: bool = False, **options: Any) -> None:
        super().__init__(env, epsilon=epsilon, counter="hybrid", pad_unplayed=pad_unplayed, **options)

"""The privacy wrappers that release running sums and counts of each arm's gains.

Observations are `{"sum": float64 (n_arms,), "count": int64 (n_arms,), "release": int64 (n_arms,)}`: the released sum
of each arm, which can be outside [0, count] because of noise, the number of gains in it, and the number of releases of
the arm. Between releases they do not change. The reward is the released mean of the arm played, 0.0 before its first
release. Other privacy wrappers may be below these, but none above.
"""

from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex

from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.mechanisms.interval_sums import PAPER_DELTA
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary


class ExactSums(PrivacyBoundary):
    """Releases exact running sums, for agents such as `Ucb`; it adds no privacy.

    Above a wrapper that adds noise to each gain, such as `RandomizedResponse`, the sums are noisy, and that wrapper's
    guarantee holds: summing is post-processing.

    Args:
        env: A bandit environment, or a privacy wrapper around one that releases gains.
    """

    def __init__(self, env: Environment) -> None:
        super().__init__(env, mechanisms.ExactSums())


class BlockSums(PrivacyBoundary):
    """Sums each arm's gains in growing blocks; a block's sum is released with Laplace noise once the block is full.

    The scale is sensitivity / epsilon for every block: a gain is in one block of one arm, so it is released once, and
    no composition is needed. In one block of n gains, the noise of the mean has scale sensitivity / (epsilon n).

    Args:
        env: A bandit environment, or a privacy wrapper around one that releases gains.
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        ratio: Factor by which an arm's number of released gains grows from release to release, at least 1. With 2,
            blocks have 1, 1, 2, 4, 8, ... gains; with 1, all have `first`, and blocks of 1 give local privacy.
        first: The number of gains in an arm's first block, at least 1.
        keep: Whether `sum` and `count` cover all full blocks, each with its own noise; otherwise the last one only.
        lengths: The lengths of the blocks, each at least 1, in place of `ratio` and `first`; the last one repeats.

    Protects: one round's gains of all arms, centrally (locally, with blocks of 1).

    Source: Azize and Basu (2022) and Hu and Hegde (2022) for doubling blocks, only the last of which counts; Azize, Wu,
    Honda, Orabona, Ito and Basu (2025) for geometric blocks with `keep`; Sajed and Sheffet (2019) for `lengths`.
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

    After :math:`n = W_1, W_2, \ldots` gains the mean gets Laplace noise of scale :math:`n^{v/2 - 1}`; `sum` is n times
    the noisy mean, and `count` is n. Each release covers all gains so far and is :math:`n^{-v/2}`-DP. Together they are
    rho-zCDP with :math:`\rho = \frac{1}{2} \sum_j W_j^{-v}`, and so (epsilon, delta)-DP. A round's gain is added to the
    sum of one arm only.

    Args:
        env: A bandit environment, or a privacy wrapper around one that releases gains.
        epsilon: Target for all releases together, in (0, inf]; the paper's input parameter is computed from it by
            corollary 3.2. The guarantee states the epsilon spent, which is smaller.
        v: Exponent that sets how fast the noise falls, in (1, 1.5].
        delta: The delta of the target, in (0, 1).
        release: `"once"` draws the noise of each release once. `"redraw"` draws it again in every round, as algorithm 3
            of the paper is printed; it has no guarantee, and exists to show what such releases reveal.
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
    """Releases running sums, with one private counter for each arm.

    Each counter has the full epsilon: a round's gain is added to the sum of the arm played only, so arms compose in
    parallel. Where one round reveals several gains (sensitivity s > 1), the noise is s times as large.

    Args:
        env: A bandit environment, or a privacy wrapper around one that releases gains.
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        counter: A key of `dp_bandit_envs.privacy.counters.COUNTERS`; `dp-bandit counters` compares them.
        pad_unplayed: Whether the counters of arms that a round does not reveal are fed a 0 in that round, so that all
            arms have the same noise (DP-UCB). Their counts do not change.
        options: Further arguments of the counter: `budget` of the hybrid one, `base` of the k-ary one, `delta` of the
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
    """Releases running sums, with one hybrid counter for each arm.

    Each counter has the full epsilon: a round's gain is added to the sum of the arm played only, so arms compose in
    parallel. Where one round reveals several gains (sensitivity s > 1), the noise is s times as large.

    Args:
        env: A bandit environment, or a privacy wrapper around one that releases gains.
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        pad_unplayed: Whether the counters of arms that a round does not reveal are fed a 0 in that round, so that all
            arms have the same noise (DP-UCB). Their counts do not change.
        options: `budget`: `"split"`, or `"paper"`, which is 2 epsilon-DP.

    Protects: one round's gains of all arms, centrally.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2.
    """

    def __init__(self, env: Environment, *, epsilon: SupportsFloat, pad_unplayed: bool = False, **options: Any) -> None:
        super().__init__(env, epsilon=epsilon, counter="hybrid", pad_unplayed=pad_unplayed, **options)

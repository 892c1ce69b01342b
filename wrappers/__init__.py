"""Privacy wrappers decide what an agent may see; their vector forms are in `wrappers.vector`.

`PrivacyBoundary(env, mechanism)` puts any mechanism around an environment; those of `privacy.mechanisms` have wrappers
of their own, by the same names: `LaplaceClipRescale(env, epsilon=1.0)`.

Above those that release gains, observations are `{"gain": float64 (n_arms,), "observed": int8 (n_arms,)}`, as in the
environment itself. Above those that release sums they are `{"sum": float64 (n_arms,), "count": int64 (n_arms,),
"release": int64 (n_arms,)}`: the released total of each arm, which noise may carry outside [0, count], the number of
gains in it, and how many releases the arm has had; between releases they stay as they are. The reward is the released
gain, or mean, of the arm played, 0.0 where there is none. Where points are played, coordinates take the place of arms,
and the reward is the scalar product of the released values, or means, with the point; `ProjectToSet` is no privacy
wrapper, but plays the nearest point.
"""

from typing import TYPE_CHECKING, Any

from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary
from dp_bandit_envs.wrappers.named_wrappers import named, wrapper_of
from dp_bandit_envs.wrappers.project_to_set import ProjectToSet

__all__ = ["PrivacyBoundary", "ProjectToSet", *MECHANISMS]

if TYPE_CHECKING:
    from dp_bandit_envs.privacy import mechanisms

    # What `__getattr__` makes, for editors and type checkers.
    BatchSums = wrapper_of(PrivacyBoundary, mechanisms.BatchSums)
    BlockSums = wrapper_of(PrivacyBoundary, mechanisms.BlockSums)
    CounterSums = wrapper_of(PrivacyBoundary, mechanisms.CounterSums)
    ExactSums = wrapper_of(PrivacyBoundary, mechanisms.ExactSums)
    HybridSums = wrapper_of(PrivacyBoundary, mechanisms.HybridSums)
    IntervalSums = wrapper_of(PrivacyBoundary, mechanisms.IntervalSums)
    LaplaceClipRescale = wrapper_of(PrivacyBoundary, mechanisms.LaplaceClipRescale)
    MiniBatchAverage = wrapper_of(PrivacyBoundary, mechanisms.MiniBatchAverage)
    RandomizedResponse = wrapper_of(PrivacyBoundary, mechanisms.RandomizedResponse)


def __getattr__(name: str) -> Any:
    return named(__name__, PrivacyBoundary, name)

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

from dp_bandit_envs.lazy_names import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)

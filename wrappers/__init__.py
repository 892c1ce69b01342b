"""Privacy wrappers control what an agent observes; their vector forms are in `wrappers.vector`.

`PrivacyBoundary(env, mechanism)` applies any mechanism to an environment; each mechanism of `privacy.mechanisms` has a
wrapper of the same name: `LaplaceClipRescale(env, epsilon=1.0)`.

Wrappers that release gains return observations `{"gain": float64 (n_arms,), "observed": int8 (n_arms,)}`, like the
environment itself. Wrappers that release sums return `{"sum": float64 (n_arms,), "count": int64 (n_arms,), "release":
int64 (n_arms,)}`. These are each arm's released total (noise may move it outside [0, count]), the number of gains in
it, and the number of releases. These stay constant between releases. The reward is the released gain, or mean, of the
arm played; 0.0 without a release. In games of points, coordinates replace arms, and the reward is the scalar product of
the point with the released values or means. `ProjectToSet` adds no privacy: it plays the nearest point of the set.
"""

from dp_bandit_envs.lazy_names import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)

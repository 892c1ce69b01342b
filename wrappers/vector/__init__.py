"""The vector forms of the privacy wrappers, named like the scalar ones, as in `gymnasium.wrappers.vector`."""

from dp_bandit_envs.lazy_names import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)

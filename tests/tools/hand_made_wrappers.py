"""A privacy wrapper made by hand, from Gymnasium's base class alone, that keeps every rule; tests break it."""
# ruff: noqa: D102 (the methods do what the base says)

import numpy as np
from gymnasium import Wrapper
from gymnasium.error import ResetNeeded

from dp_bandit_envs import PrivacyGuarantee

PUBLIC = ("sensitivity", "guarantee", "horizon", "n_arms", "observation_space", "action_space", "render_mode")


class HandMade(Wrapper):
    """Adds Laplace noise of scale 1 / epsilon to the gain played and clips it to [0, 1]."""

    def __init__(self, env, *, epsilon=0.5):
        super().__init__(env)
        self._epsilon, self._scale = epsilon, 1 / epsilon
        self._noise = self._failure = None
        self._begun = self._ended = False
        self._own = np.random.default_rng()

    sensitivity = property(lambda self: 1.0)
    horizon = property(lambda self: self.unwrapped.horizon)
    n_arms = property(lambda self: self.unwrapped.n_arms)
    guarantee = property(lambda self: PrivacyGuarantee(self._epsilon, model="local", theorem="Laplace mechanism"))
    spec = property(lambda self: None)
    np_random = property(lambda self: self._own)

    def has_wrapper_attr(self, name):
        return name in PUBLIC

    def get_wrapper_attr(self, name):
        if not self.has_wrapper_attr(name):
            raise AttributeError(name)
        return getattr(self, name)

    def set_wrapper_attr(self, name, value, *, force=True):
        raise AttributeError(name)

    def __reduce_ex__(self, protocol):
        if self._begun:
            raise TypeError("it has begun")
        return super().__reduce_ex__(protocol)

    def reset(self, *, seed=None, options=None):
        self._noise = None
        if not self.quietly(lambda: self.env.reset(seed=seed, options=options) and None):
            raise RuntimeError("withheld")
        self._noise = self.stream(seed)
        self._begun, self._ended, self._round = True, False, 0
        return self.nothing(), {"round": 0}

    def stream(self, seed):
        return np.random.default_rng(None if seed is None else [seed, 99])

    def nothing(self):
        return {"gain": np.zeros(self.n_arms), "observed": np.zeros(self.n_arms, np.int8)}

    def step(self, arm):
        if arm not in range(self.n_arms):
            raise ValueError("no such arm")
        if self._noise is None or self._ended:
            raise ResetNeeded("reset first")
        if not self.quietly(lambda: self.advance(arm)):
            self._noise = None
            raise RuntimeError("withheld")
        released, self._ended = self._result
        self._round += 1
        return released, self.reward(released, arm), self._ended, False, self.info()

    def reward(self, released, arm):
        return float(released["gain"][arm])

    def info(self):
        return {"round": self._round}

    def quietly(self, call):
        """Return whether a call succeeds; nothing of its error stays behind."""
        try:
            call()
        except Exception:
            return False
        return True

    def advance(self, arm):
        """Play a round below and keep what is released."""
        seen, _, ended, _, _ = self.env.step(arm)
        gain = float(seen["gain"][arm])
        if not self.in_range(gain):
            raise ValueError
        self._result = self.release(arm, gain), ended

    def in_range(self, gain):
        return 0 <= gain <= 1

    def release(self, arm, gain):
        """Return the observation."""
        released = self.nothing()
        released["gain"][arm] = np.clip(self.noisy(gain), 0, 1)
        released["observed"][arm] = 1
        return released

    def noisy(self, gain):
        return gain + self._noise.laplace(0, self._scale)

"""`secured`: algorithms of the table with secure draws (the extra `secure`)."""

import dataclasses

import gymnasium as gym
import pytest

from dp_bandit_envs import Algorithm, Exp3, algorithm_names, make_algorithm, play
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.algorithms import secured
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import SeedRefusedError, WrongTypeError
from dp_bandit_envs.privacy import Mechanism, PrivacyGuarantee
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.tools.refusals import refused

pytest.importorskip("opendp")


def game_for(algorithm):
    if algorithm.make_agent is None:
        feedback = "bandit" if algorithm.feedback == "payoff" else "full"
        return gym.make("DPBandit-Ball-v0", dimension=2, horizon=30, feedback=feedback)
    coins = Stochastic(means=[0.2, 0.8, 0.5], horizon=30)
    return ExpertsEnv(gains=coins) if algorithm.feedback == "full" else BanditEnv(coins)


WEIGHED = ["AS-FTPL", "DP-FTRL"]
"""Their square-root counter weighs its draws, so it has no secure form."""
KINDS = [*((name, {}) for name in algorithm_names() if name not in WEIGHED), ("DP-FTRL", {"counter": "k-ary"})]


@pytest.mark.thorough
def test_every_algorithm_plays_with_secure_draws():
    for name, options in KINDS:
        fast = make_algorithm(name, **options)
        exact, env = secured(fast), game_for(fast)
        before, after = fast.guarantee_in(env), exact.guarantee_in(env)
        # What fast draws need of a delta makes noise larger, by far less than a thousandth.
        laws = [
            (0.0 if each.noise_law is None else each.noise_law.gaussian, each.rho or 0.0) for each in (before, after)
        ]
        assert laws[0] == pytest.approx(laws[1], rel=1e-3)
        alike = {"draw_distance": 0.0, "noise_law": None, "rho": None}
        assert dataclasses.replace(before, **alike) == dataclasses.replace(after, **alike)
        assert after.draw_distance <= (1e-15 if before.rho is not None else 0.0)
        assert exact.player == fast.player
        wrapped = exact.wrap(env)
        if before.draw_distance > 0:
            assert not wrapped.takes_seed
            with refused(SeedRefusedError, type(wrapped).__name__):
                play(env, exact)
        assert len(play(env, exact, seed=None).arms) == 30


def test_names_of_wrappers_stay_and_the_algorithm_is_not_changed():
    env, fast = BanditEnv(Stochastic(3, 30)), make_algorithm("Batched-Lap-EXP3", epsilon=0.5)
    wrapped = secured(fast).wrap(env)
    assert str(wrapped) == str(fast.wrap(env)) and wrapped.unwrapped is env
    assert wrapped.mechanism.draws == "secure" and fast.wrap(env).mechanism.draws == "fast"


def coin(state, arm, gain, rng):
    return float(rng.random() < 0.25 + gain / 2), 1


class Coin(Mechanism):
    """A coin of somebody else's."""

    release, withholds = staticmethod(coin), False

    def new_state(self, below):
        """Return nothing."""
        return ()

    def guarantee(self, below):
        """Return ln 3."""
        return PrivacyGuarantee(1.0986122886681098, model="local")


def test_what_has_no_secure_form_is_refused():
    mine = Algorithm("mine", Exp3, lambda env: PrivacyBoundary(env, Coin()))
    limited = Algorithm("limited", Exp3, lambda env: gym.wrappers.TimeLimit(env, 30))
    own_norm = make_algorithm("AS-FTRL", counter="k-ary", noise="own-norm")
    for algorithm, error, words in [
        (mine, WrongTypeError, ("PrivacyBoundary",)),
        (limited, WrongTypeError, ("TimeLimit",)),
        (own_norm, ValueError, ("own-norm",)),
        *((make_algorithm(name), ValueError, ("draws='secure'", "'square-root'", "fractions")) for name in WEIGHED),
    ]:
        with refused(error, *words):
            secured(algorithm).wrap(game_for(algorithm))
    with refused(WrongTypeError, "make_algorithm", "'DP-IMED'"):
        secured("DP-IMED")

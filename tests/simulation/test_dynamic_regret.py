"""The dynamic regret of `simulate` is that of `play`, to the bit, and the pseudo-regret where means stay."""

import functools
import math
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import compare, play, simulate
from dp_bandit_envs.adversaries import Shifting
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.simulation.engines import always_compiled
from tests.tools.refusals import refused


class Aside(gym.ActionWrapper):
    """Not part of the compiled loop."""

    def action(self, action):
        return action


GAME = {"horizon": 700, "n_arms": 3}
GIVEN = {**GAME, "trials": 4, "seed": 6, "checkpoints": 7}
PLAYERS = ["DP-KLUCB", "EXP3-tau"]


@pytest.mark.parametrize("options", [{"shifts": 4, "gap": 0.5}, {"budget": 5.0}], ids=str)
def test_compiled_games_have_the_dynamic_regret_of_play(options):
    with always_compiled():
        found = simulate(("Shifting", options), PLAYERS, **GIVEN)
    for name, outcome in found.items():
        assert outcome.engine == "compiled" and outcome.pseudo_regret is None
        for trial, regret in enumerate(outcome.dynamic_regret):
            game = play(("Shifting", options), name, seed=6, trial=trial, **GAME)
            assert regret.tolist() == game.dynamic_regret[found.checkpoints - 1].tolist()
            assert regret[-1] > regret[0] > 0


def test_games_in_python_have_it_too():
    settings = {"trials": 2, "seed": 6, "checkpoints": 7}
    make = functools.partial(gym.make, "DPBandit-Shifting-v0", horizon=300)
    played = simulate(lambda: Aside(make()), ["UCB"], **settings)["UCB"]
    with always_compiled():
        compiled = simulate(make, ["UCB"], **settings)["UCB"]
    assert (played.engine, compiled.engine) == ("play", "compiled")
    assert compiled.dynamic_regret.tolist() == played.dynamic_regret.tolist()


def test_where_means_stay_it_is_the_pseudo_regret():
    with always_compiled():
        outcome = simulate("Stochastic", ["UCB"], **GIVEN)["UCB"]
    assert outcome.engine == "lanes"
    assert outcome.dynamic_regret.tolist() == outcome.pseudo_regret.tolist()
    assert outcome.mean("dynamic_regret").tolist() == outcome.mean("pseudo_regret").tolist()
    game = play("Stochastic", "UCB", seed=6, **GAME)
    assert game.dynamic_regret is game.pseudo_regret


def test_a_summary_and_a_comparison_have_it():
    with always_compiled():
        whole = simulate("Shifting", ["UCB"], **GIVEN)["UCB"]
        summary = simulate("Shifting", ["UCB"], keep="summary", **GIVEN)["UCB"]
    assert summary.last("dynamic_regret").tolist() == whole.dynamic_regret[:, -1].tolist()
    assert summary.mean("dynamic_regret") == pytest.approx(whole.dynamic_regret.mean(axis=0), rel=1e-12)
    with refused(AttributeError, "dynamic_regret", "keep='summary'"):
        _ = summary.dynamic_regret
    compared = compare(["Shifting", "Stochastic"], ["UCB"], horizon=200, trials=2, seed=6)
    moving, still = compared.entries
    assert "dynamic_regret" in moving.measures and "dynamic_regret" not in still.measures
    assert still.values("dynamic_regret").tolist() == still.values("pseudo_regret").tolist()
    assert "UCB" in compared.table(measure="dynamic_regret")


class Coins(NamedTuple):
    """When arms change places."""

    change: int


def certain(state, t, row, rng):
    """Arm 0 pays 1 before the change, and arm 1 from then on."""
    for arm in range(len(row)):
        row[arm] = 1.0 if (arm == 0) == (t < state.change) else 0.0


class Half(RoundByRound):
    """Certain gains that change places after 20 of 50 rounds."""

    next_round = staticmethod(certain)

    def first_round_state(self, rng):
        return Coins(21)

    def means_at(self, rounds):
        return np.column_stack([rounds < 21, rounds >= 21])


def test_an_own_adversary_gives_its_means_by_means_at():
    """Each round with the other arm loses 1; external regret is against arm 1, which pays in 30 of 50 rounds."""
    with always_compiled():
        outcome = simulate(Half(2, 50), ["UCB"], trials=1, seed=1)["UCB"]
    lost = outcome.dynamic_regret[0, -1]
    assert outcome.engine == "compiled" and 0 < lost < 50
    assert (outcome.collected[0, -1], outcome.external_regret[0, -1]) == (50 - lost, 30 - (50 - lost))
    assert play(Half(2, 50), "UCB", seed=1).dynamic_regret[-1] == lost


@pytest.mark.parametrize("wrong", [[0.5, 0.4], [[0.5, 0.4]], [["a", "b"]] * 50, [[math.nan, 0.4]] * 50], ids=str)
def test_means_of_another_shape_or_kind_are_refused(wrong):
    class Wrong(Half):
        def means_at(self, rounds):
            return wrong

    with refused(ValueError, "Wrong.means_at", (50, 2)):
        play(Wrong(2, 50), "UCB")
    with always_compiled(), refused(ValueError, "Wrong.means_at", (50, 2)):
        simulate(Wrong(2, 50), ["UCB"], trials=1)


def test_unknown_means_have_none():
    class Silent(Shifting):
        def means_at(self, rounds):
            return None

        def next_gains(self, rounds):
            return np.full((rounds, self.n_arms), 0.5)

    with always_compiled():
        outcome = simulate(Silent(3, 40), ["UCB"], trials=2, seed=1)["UCB"]
    assert outcome.engine == "compiled" and outcome.dynamic_regret is None
    assert play(Silent(3, 40), "UCB", seed=1).dynamic_regret is None
    with refused(ValueError, "dynamic_regret", "external_regret"):
        outcome.last("dynamic_regret")
    charged = simulate("Switching", ["UCB"], horizon=40, trials=2, seed=1)["UCB"]
    assert charged.dynamic_regret is None

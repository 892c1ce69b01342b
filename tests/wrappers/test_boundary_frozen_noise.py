"""With the noise held still, what comes out depends on private gains through released averages only."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import BoundaryError
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage, vector
from tests.tools.boundary_games import FORMS, act, around, game, games, summed
from tests.tools.doors import one_each

TAU = 4
ROUNDS = 4 * TAU + 3
AVERAGE_FIRST = ["MiniBatch", "Laplace(MiniBatch)", "MiniBatch(MiniBatch)"]
"""Orders in which nothing happens to a gain before it is averaged."""


def base_table() -> np.ndarray:
    """Return gains that are multiples of 1/64, so that every sum of four of them is exact."""
    return np.random.default_rng(8).integers(0, 65, (ROUNDS, 2)) / 64


def all_that_comes_out(env: Any) -> list[Any]:
    """Play arms 0, 1, 0, 1, ... to the end; return everything seen, in a form that `==` compares to the last bit."""
    scalar = isinstance(env, gym.Env)
    seen: list[Any] = [env.reset(seed=11), str(env)]
    step, ended = 0, False
    while not ended:
        result = env.step(step % 2 if scalar else np.array([step % 2, (step + 1) % 2]))
        seen += [result, env.render(), repr(env)]
        ended = bool(np.all(result[2] | result[3]))
        step += 1
    for name in ("sensitivity", "guarantee", "horizon", "n_arms", "np_random_seed", "spec", "metadata", "render_mode"):
        seen.append(getattr(env, name))
    return [_exactly(thing) for thing in seen]


def _exactly(thing: Any) -> Any:
    if isinstance(thing, np.ndarray):
        return (str(thing.dtype), thing.shape, thing.tobytes())
    if isinstance(thing, dict):
        return {key: _exactly(value) for key, value in thing.items()}
    if isinstance(thing, (tuple, list)):
        return [_exactly(value) for value in thing]
    return (type(thing).__name__, repr(thing))


@pytest.mark.thorough
@pytest.mark.parametrize(("make", "order"), one_each(FORMS.values(), AVERAGE_FIRST))
def test_a_change_inside_a_batch_that_keeps_its_average_changes_nothing(order, make):
    tau = 2 if order == "MiniBatch(MiniBatch)" else TAU

    def seen(table):
        return all_that_comes_out(around(make(table, render_mode="ansi"), order, tau=tau))

    base = base_table()
    base[TAU : 2 * TAU] = 0.5
    assert seen(base) == seen(base)
    shifted = base.copy()
    shifted[TAU : 2 * TAU] = [[0.5, 0.25], [0.5, 0.75], [0.25, 0.5], [0.75, 0.5]]
    assert seen(shifted) == seen(base)
    moved = base.copy()
    moved[[1, 2]] = moved[[2, 1]]
    assert not np.array_equal(moved, base)
    if order != "MiniBatch(MiniBatch)":  # there rounds 2 and 3 are in different inner batches, but in one outer batch
        assert seen(moved) == seen(base)
    # and the comparison can see: another average does come out
    other = base.copy()
    other[TAU] += 0.25
    assert seen(other) != seen(base)


@pytest.mark.parametrize(
    ("make", "order"),
    one_each(FORMS.values(), ["Laplace(MiniBatch)", "MiniBatch", "MiniBatch(Laplace)", "Laplace(MiniBatch(Laplace))"]),
)
def test_rounds_of_the_last_shorter_batch_are_played_but_never_released(order, make):
    """Their average would move by 1/3, more than 1/4."""
    base, changed = base_table(), base_table()
    changed[-3:] = 1 - changed[-3:]
    env = around(make(base, render_mode="ansi"), order, tau=TAU)
    first = all_that_comes_out(env)
    assert first == all_that_comes_out(around(make(changed, render_mode="ansi"), order, tau=TAU))
    below = env.unwrapped
    assert below._round == ROUNDS  # played to the end
    assert env.horizon == ROUNDS // TAU


@pytest.mark.parametrize("tau", [1, 2, 4, 8])
def test_one_gain_moves_its_average_by_exactly_its_change_over_tau(tau):
    """Powers of two, so that floats are exact; every round and both arms."""
    rng = np.random.default_rng(tau)
    table = rng.integers(0, 2, (16, 2)).astype(float)
    arms = rng.integers(0, 2, 16 // tau)

    def released(gains):
        env = MiniBatchAverage(game(gains), batch_size=tau)
        env.reset(seed=0)
        return [env.step(int(arm))[0] for arm in arms]

    base = released(table)
    for round_ in range(16):
        changed = table.copy()
        changed[round_] = 1 - changed[round_]
        for step, (one, other) in enumerate(zip(base, released(changed), strict=True)):
            moved = np.abs(one["gain"] - other["gain"])
            expected = np.zeros(2)
            expected[arms[step]] = 1 / tau if step == round_ // tau else 0.0
            np.testing.assert_array_equal(moved, expected)
            np.testing.assert_array_equal(one["observed"], other["observed"])


@pytest.mark.parametrize("make", [game, lambda table: games(1, table)], ids=["scalar", "vector"])
def test_a_gain_moves_a_noisy_gain_by_its_change_over_the_width_of_the_interval(make):
    """One release, one draw: the same noise stands on both sides, and rescaling divides by 2 b + 1."""
    wrapper = LaplaceClipRescale if make is game else vector.LaplaceClipRescale
    found = []
    for gain in (0.25, 0.75):
        env = wrapper(make(np.full((1, 2), gain)), epsilon=0.5, bound=60.0)
        env.reset(seed=2)
        found.append(env.step(0 if make is game else np.array([0]))[0]["gain"].ravel()[0])
    # 0.5 / 121, with rounding at the size of the bound
    assert found[1] - found[0] == pytest.approx(0.5 / 121, abs=1e-15)


@pytest.mark.thorough
def test_a_rejected_gain_withholds_the_whole_average_above_it():
    """So the guarantee of MiniBatch(Laplace) must be that of the noise below, and must not rest on 1 / tau."""

    def observed(first_gain, seed):
        env = LaplaceClipRescale(game([[first_gain] * 2, [0, 0]]), epsilon=1.0, bound=0.0)
        env = MiniBatchAverage(env, batch_size=2)
        env.reset(seed=seed)
        return env.step(0)[0]["observed"][0]

    assert any(observed(0, seed) != observed(1, seed) for seed in range(200))
    inner = LaplaceClipRescale(game(np.zeros((4, 2))), epsilon=3.0)
    assert MiniBatchAverage(inner, batch_size=2).guarantee == inner.guarantee
    outer = LaplaceClipRescale(MiniBatchAverage(inner, batch_size=2), epsilon=0.1)
    assert outer.guarantee.epsilon == 3.0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("make", "case"),
    one_each(
        FORMS.values(),
        [
            ("Block, lengths", {"lengths": [5]}, [10, 11]),  # 12 gains of arm 0: 5, 5 and an open block of 2
            ("Interval, uniform", {"epsilon": 8.0}, [8, 9, 10, 11]),  # f = 8 (input 0.130): one end
            ("Hybrid, logarithmic", {}, [8, 9, 10, 11]),  # the last release is after 8 items
        ],
    ),
)
def test_gains_that_were_not_released_in_sums_change_nothing_that_comes_out(make, case):
    kind, more, open_rounds = case

    def seen(table):
        env = summed(make(table, render_mode="ansi"), kind, **more)
        out = [repr(env.reset(seed=4)), env.render()]
        for _ in range(12):
            out += [repr(env.step(act(env, 0))), env.render(), repr(env), repr(env.guarantee)]
        return out

    table = np.random.default_rng(1).integers(0, 65, (12, 3)) / 64
    base = seen(table)
    for changed in range(12):
        other = table.copy()
        other[changed] = 1 - other[changed] if other[changed, 0] != 0.5 else 1.0
        assert (seen(other) == base) == (changed in open_rounds)


class FailsOnce(BanditEnv):
    """Fails in its second round, the first time."""

    failed = False

    def step(self, action):
        """Fail once."""
        result = super().step(action)
        if result[4]["round"] == 2 and not self.failed:
            self.failed = True
            raise OSError("the data could not be read")
        return result


def test_a_batch_cut_off_by_an_error_leaves_nothing_for_the_next_game():
    """The gain of round 1 was already added up when round 2 failed and the game was begun anew."""
    found = []
    for first_gain in (0.0, 1.0):
        below = FailsOnce(GainTable(np.full((9, 2), first_gain)))
        env = MiniBatchAverage(below, batch_size=3)
        env.reset(seed=1)
        with pytest.raises(BoundaryError):
            env.step(0)
        below.adversary = GainTable(np.full((9, 2), 0.5))
        found.append(repr([env.reset(seed=2), env.step(0), env.step(1)]))
    assert found[0] == found[1]
    assert "0.5" in found[0]

"""Attacks on the boundary through parts that are not the project's own: foreign environments and wrappers below it."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.errors import BoundaryError
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage, vector
from tests.tools.boundary_games import FORMS, MARK, PLANTED, act, around, error_of, everything_in, game
from tests.tools.refusals import refused

TABLE = np.full((12, 3), PLANTED)


# ---- what a foreign environment says of itself


class Talks:
    """A foreign environment, of one game or many, whose text form shows its data, and that fails to close."""

    def __str__(self):
        """Show the data, as a dataclass would."""
        return f"Patients({PLANTED})"

    __repr__ = __str__

    def close(self, **kwargs):
        """Fail."""
        raise OSError(f"could not save the last gain, {PLANTED}")


class One(Talks, BanditEnv):
    """One game."""


class Many(Talks, BanditVectorEnv):
    """Many games."""


def talkative(form):
    if form == "scalar":
        return LaplaceClipRescale(One(GainTable(TABLE)), epsilon=1.0)
    return vector.LaplaceClipRescale(Many(2, GainTable(TABLE)), epsilon=1.0)


@pytest.mark.parametrize("form", FORMS)
def test_text_form_of_a_boundary_does_not_show_what_is_below(form):
    assert MARK not in str(talkative(form)) + repr(talkative(form))


@pytest.mark.parametrize("form", FORMS)
def test_an_error_while_closing_does_not_carry_a_gain(form):
    assert MARK not in everything_in(error_of(talkative(form).close))


class NotABandit(gym.Env):
    """A foreign environment without a sensitivity, whose text form shows its data."""

    action_space = gym.spaces.Discrete(3)
    observation_space = gym.spaces.Box(0, 1)

    def __str__(self):
        """Show the data."""
        return f"Patients({PLANTED})"


def test_refusing_an_environment_that_is_no_bandit_does_not_print_it():
    with refused(TypeError, "LaplaceClipRescale", "'n_arms'", "NotABandit") as error:
        LaplaceClipRescale(NotABandit(), epsilon=1.0)
    assert MARK not in everything_in(error.value)


class RoundsTellGains(BanditEnv):
    """A foreign environment that puts a gain where the number of the round belongs."""

    def step(self, action):
        """Put the gain's digits, or its text, into the info."""
        observation, reward, terminated, truncated, _ = super().step(action)
        return observation, reward, terminated, truncated, {"round": self.encode(reward)}


@pytest.mark.parametrize(
    "encode", [lambda gain: round(gain * 1e10), str, lambda gain: {}[gain]], ids=["int", "text", "key"]
)
def test_the_round_above_a_boundary_does_not_come_from_a_foreign_info(encode):
    env = RoundsTellGains(GainTable(TABLE))
    env.encode = encode
    env = LaplaceClipRescale(env, epsilon=1.0)
    env.reset(seed=1)
    try:
        seen = repr(env.step(0)[4])
    except Exception as error:
        seen = everything_in(error)
    assert MARK not in seen


class KindTellsGain(BanditEnv):
    """A foreign environment whose kind of error depends on the gain."""

    def step(self, action):
        """Fail one way or the other."""
        _, reward, *_ = super().step(action)
        raise (ValueError if reward > 0.5 else TypeError)("")


def test_the_kind_of_an_error_below_does_not_tell_gains_apart():
    """One bit of a gain a round is what a guarantee of epsilon forbids."""
    messages = set()
    for gain in (0.0, 1.0):
        env = LaplaceClipRescale(KindTellsGain(GainTable(np.full((3, 2), gain))), epsilon=1.0)
        env.reset(seed=1)
        messages.add(everything_in(error_of(lambda env=env: env.step(0))))
    assert len(messages) == 1


# ---- boundaries inside a SyncVectorEnv


def test_an_average_inside_a_sync_vector_env_makes_the_noise_around_it_central():
    """The part that averages sees true gains of many rounds, wherever it stands."""
    scalar = LaplaceClipRescale(MiniBatchAverage(game(TABLE), batch_size=2), epsilon=1.0)
    inside = gym.vector.SyncVectorEnv([lambda: MiniBatchAverage(game(TABLE), batch_size=2)] * 2)
    assert vector.LaplaceClipRescale(inside, epsilon=1.0).guarantee == scalar.guarantee


def test_a_guarantee_inside_a_sync_vector_env_is_not_improved_by_more_noise():
    """Whether the inner wrapper rejected a gain is protected by its own epsilon only."""
    inside = gym.vector.SyncVectorEnv([lambda: LaplaceClipRescale(game(TABLE), epsilon=10.0)] * 2)
    assert vector.LaplaceClipRescale(inside, epsilon=0.1).guarantee.epsilon == 10.0


def test_noise_around_a_sync_vector_env_of_noisy_games_is_drawn_from_another_stream():
    inside = gym.vector.SyncVectorEnv([lambda: LaplaceClipRescale(game(TABLE), epsilon=1.0, outside="clip")] * 2)
    env = vector.LaplaceClipRescale(inside, epsilon=1.0, outside="clip")
    env.reset(seed=3)
    draws = []
    for release in (inside.step, env.step):
        env.reset(seed=3)
        draws.append(release(np.array([0, 0]))[0]["gain"][:, 0])
    _, scale, bound = env.noise
    once = draws[0] * (1 + 2 * bound) - bound - PLANTED  # the inner noise
    twice = draws[1] * (1 + 2 * bound) - bound - draws[0]  # the outer noise
    assert scale == pytest.approx(1.0, rel=2e-9)
    assert not np.allclose(once, twice, rtol=0, atol=1e-6)


def test_vector_boundary_refuses_games_that_do_not_wait_for_the_next_step_to_start_again():
    """In the mode SAME_STEP the last observation of a game is replaced by the first of the next one."""
    below = gym.vector.SyncVectorEnv([lambda: game(TABLE)] * 2, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
    with refused((TypeError, ValueError), "NEXT_STEP"):
        vector.LaplaceClipRescale(below, epsilon=1.0)


# ---- what a foreign environment claims


class RevealsAll(BanditEnv):
    """Full information: every round reveals every arm's gain, so one round moves an observation by n_arms."""

    sensitivity = 3.0

    def step(self, action):
        """Reveal the row."""
        observation, *rest = super().step(action)
        observation["gain"] = np.array(self._rows[len(self._arms) - 1])
        observation["observed"] = np.ones(3, np.int8)
        return observation, *rest


def test_noise_grows_with_the_number_of_gains_that_a_round_reveals():
    env = RevealsAll(GainTable(TABLE))
    assert LaplaceClipRescale(env, epsilon=1.0).noise.scale == pytest.approx(3.0, rel=2e-9)
    assert MiniBatchAverage(env, batch_size=4).sensitivity == 0.75
    assert around(env, "Laplace(MiniBatch)", tau=4, epsilon=0.5).noise.scale == pytest.approx(1.5, rel=2e-9)
    noisy = LaplaceClipRescale(env, epsilon=1.0, outside="clip")
    noisy.reset(seed=1)
    observation, *_ = noisy.step(0)
    assert observation["observed"].tolist() == [1, 1, 1]
    assert len(set(observation["gain"].tolist())) == 3  # three gains alike, three draws


class RevealsByRound(BanditEnv):
    """A changing public graph: arm 1 is revealed in odd rounds only, arm 2 never."""

    sensitivity = 2.0

    def step(self, action):
        """Reveal arm 0, and arm 1 in odd rounds."""
        observation, reward, terminated, truncated, info = super().step(action)
        row = self._rows[len(self._arms) - 1]
        odd = info["round"] % 2
        observation["gain"] = np.array([row[0], row[1] if odd else 0.0, 0.0])
        observation["observed"] = np.array([1, odd, 0], np.int8)
        return observation, reward, terminated, truncated, info


def test_an_average_is_released_only_for_arms_revealed_in_every_round_of_the_batch():
    """An average over fewer rounds would move by more than 1 / tau, so it must not be handed on."""
    table = np.full((6, 3), 1.0)
    env = MiniBatchAverage(RevealsByRound(GainTable(table)), batch_size=2)
    env.reset(seed=1)
    observation, *_ = env.step(0)
    assert observation["gain"].tolist() == [1.0, 0.0, 0.0]
    assert observation["observed"].tolist() == [1, 0, 0]
    one = MiniBatchAverage(RevealsByRound(GainTable(table)), batch_size=1)
    one.reset(seed=1)
    assert [one.step(0)[0]["observed"].tolist() for _ in range(2)] == [[1, 1, 0], [1, 0, 0]]


class RevealsTwo(BanditEnv):
    """A foreign environment that reveals two gains in a round, and declares the sensitivity of one."""

    def step(self, action):
        """Reveal the next arm's gain, too."""
        observation, *rest = super().step(action)
        observation["gain"][(action + 1) % 3], observation["observed"][(action + 1) % 3] = PLANTED, 1
        return observation, *rest


@pytest.mark.parametrize("form", FORMS)
def test_a_round_that_reveals_more_gains_than_it_declares_ends_the_game(form):
    """Each of the two would get noise for one: epsilon twice, where the guarantee says once."""

    def make(sensitivity):
        env = RevealsTwo(GainTable(TABLE))
        env.sensitivity = sensitivity
        return env

    def private(sensitivity):
        if form == "scalar":
            return LaplaceClipRescale(make(sensitivity), epsilon=1.0)
        several = gym.vector.SyncVectorEnv([lambda: make(sensitivity)] * 2)
        return vector.LaplaceClipRescale(several, epsilon=1.0)

    env = private(1.0)
    env.reset(seed=1)
    with refused(BoundaryError, "sensitivity", 1) as error:
        env.step(act(env, 0))
    assert MARK not in everything_in(error.value)
    env = private(2.0)
    env.reset(seed=1)
    assert np.all(np.asarray(env.step(act(env, 0))[0]["observed"]).sum(axis=-1) == 2)


# ---- who made the game reads its errors


class OutOfPaper(Adversary):
    """Fails in round 1."""

    def begin(self, rng):
        """Begin."""

    def next_gains(self, rounds):
        """Fail."""
        raise RuntimeError("no paper in tray 2")


@pytest.mark.parametrize(
    "name", ["DP-EXP3-Lap", *(pytest.param(name, marks=pytest.mark.slow) for name in ("DP-KLUCB", "TS"))]
)
def test_who_made_the_game_and_chose_the_algorithm_sees_the_error(name):
    with refused(RuntimeError, "no paper in tray 2"):
        play(BanditEnv(OutOfPaper(2, 50)), make_algorithm(name))
    with refused(RuntimeError, "no paper in tray 2"):
        simulate(lambda: BanditEnv(OutOfPaper(2, 50)), [name])


def test_above_a_boundary_it_stays_hidden():
    env = LaplaceClipRescale(BanditEnv(OutOfPaper(2, 50)), epsilon=1.0)
    for player in (Exp3(), make_algorithm("TS")):
        with pytest.raises(BoundaryError) as caught:
            play(env, player)
        assert "paper" not in str(caught.value)

"""Where data are real, a given seed is warned of, and a secret one is drawn anew each time and written nowhere."""

import pickle
import warnings

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs import Algorithm, Ledger, compare, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import GainTable, MemoryBounded, OutcomePools, Replay, Stochastic, Trial, VectorTable
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import KnownSeedWarning, LateDataError
from dp_bandit_envs.privacy.mechanism import noise_key
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.seeding import FIRST_WRAPPER, stream
from dp_bandit_envs.simulation import playing as playing_module, simulation as prepared_module
from dp_bandit_envs.wrappers import ExactSums, LaplaceClipRescale, vector as of_many
from tests.tools.refusals import refused

TABLE = np.random.default_rng(0).integers(0, 2, (40, 2)).astype(float)
REPLAY = "DPBandit-Replay-v0"
SECRET = 271828182845904523536028747135266249775


def replay():
    return gym.make(REPLAY, gains=TABLE)


def noisy(env):
    return LaplaceClipRescale(env, epsilon=1.0)


class Plain(Exp3):
    """An agent that is played, not compiled."""

    def update(self, arm, observation):
        """Learn as usual."""
        super().update(arm, observation)


def points():
    return gym.make("DPBandit-Ball-v0", gains=TABLE / 2)


WITH_A_SEED = {
    "play": lambda seed: play(replay(), make_algorithm("DP-IMED"), seed=seed),
    "simulate": lambda seed: simulate(REPLAY, ["DP-EXP3-Lap"], seed=seed, env_kwargs={"gains": TABLE}),
    "played": lambda seed: simulate(REPLAY, [Algorithm("plain", Plain, noisy)], seed=seed, env_kwargs={"gains": TABLE}),
    "reset": lambda seed: noisy(replay()).reset(seed=seed),
    "stacked": lambda seed: ExactSums(noisy(replay())).reset(seed=seed),
    "vector": lambda seed: of_many.LaplaceClipRescale(gym.make_vec(REPLAY, num_envs=2, gains=TABLE), epsilon=1.0).reset(
        seed=seed
    ),
    "trial": lambda seed: noisy(gym.make("DPBandit-Trial-v0")).reset(seed=seed),
    "vectors": lambda seed: play(points(), make_algorithm("AS-FTPL"), seed=seed),
    "nested": lambda seed: noisy(BanditEnv(MemoryBounded(gains=Replay(TABLE), memory=1))).reset(seed=seed),
}


@pytest.mark.parametrize("way", WITH_A_SEED)
def test_a_given_seed_on_real_data_is_warned_of_once_and_without_one_there_is_no_warning(way):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        WITH_A_SEED[way](7)
    assert [one.category for one in caught] == [KnownSeedWarning]
    assert caught[0].filename == __file__
    assert "7" not in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WITH_A_SEED[way](None)


AS_IT_COMES = {
    "play": lambda given: play(replay(), make_algorithm("DP-EXP3-Lap"), **given).arms,
    "simulate": lambda given: simulate(REPLAY, ["DP-EXP3-Lap"], trials=9, env_kwargs={"gains": TABLE}, **given)[
        "DP-EXP3-Lap"
    ].collected[:, -1],
    "compare": lambda given: compare((REPLAY, {"gains": TABLE}), "DP-EXP3-Lap", trials=9, **given)[0].values(
        "external_regret"
    )[:, -1],
}


@pytest.mark.thorough
@pytest.mark.parametrize("way", AS_IT_COMES)
def test_by_default_the_seed_is_secret_where_data_are_real(way):
    """False alarm: 1e-12. Games with the seed 0 are equal, others differ in their arms."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (AS_IT_COMES[way]({}) for _ in range(2))
    with pytest.warns(KnownSeedWarning):
        known, again = (AS_IT_COMES[way]({"seed": 0}) for _ in range(2))
    assert np.array_equal(known, again)
    assert not np.array_equal(first, second) and not np.array_equal(first, known)


class Recorded(Stochastic):
    """Recorded data, as an adversary of one's own says so."""

    def __init__(self, **facts):
        super().__init__(2, 40)
        for name, value in facts.items():
            setattr(self, name, value)


@pytest.mark.parametrize(
    "made",
    [
        lambda: Recorded(data_use=Participation(1, 2)),
        lambda: Recorded(is_real=True),
        lambda: OutcomePools([np.ones(40), np.zeros(40)], 40, persons=1),
        lambda: GainTable(TABLE, persons=2),
    ],
    ids=["persons are counted", "it says so", "pools with persons", "a table with persons"],
)
def test_data_of_persons_are_real(made):
    assert made().is_real
    assert simulate(lambda: BanditEnv(made()), ["EXP3"]).seed is None
    with pytest.warns(KnownSeedWarning):
        play(BanditEnv(made()), Exp3(), seed=3)


def test_a_ledger_gets_a_secret_seed_by_default():
    ledger = Ledger(epsilon=10)
    made = OutcomePools([np.ones(40), np.zeros(40)], 40)
    assert not made.is_real
    made.ledger = ledger
    assert made.is_real
    play(BanditEnv(made), make_algorithm("DP-IMED", epsilon=0.01))
    assert ledger.spent.games == 1


class Late(Stochastic):
    """Makes its data when a game begins."""

    def begin(self, rng):
        """Make them."""
        super().begin(rng)
        self.data = Replay(TABLE)
        self.data.begin(rng)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", ["auto", 3])
@pytest.mark.parametrize("algorithm", ["UCB", "DP-EXP3-Lap", "EXP3"])
def test_data_that_are_there_too_late_are_refused(algorithm, seed):
    """The seed 0 was chosen without them; UCB is played in one game after the other, EXP3 in lanes."""
    with refused(LateDataError, "Late", "__init__", "begin"):
        play(BanditEnv(Late(2, 40)), make_algorithm(algorithm), seed=seed)
    with refused(LateDataError, "Late", "__init__", "begin"):
        simulate(lambda: BanditEnv(Late(2, 40)), [algorithm], trials=20, seed=seed)


def test_by_default_the_seed_is_0_where_data_are_made_up():
    env = gym.make("DPBandit-Stochastic-v0", horizon=50)
    assert np.array_equal(play(env, Exp3()).arms, play(env, Exp3(), seed=0).arms)
    assert simulate("DPBandit-Stochastic-v0", ["EXP3"], horizon=50).seed == 0
    assert compare("Stochastic", "EXP3", horizon=50, trials=2).seed == 0
    with refused(TypeError, "seed", "'secret'"):
        play(env, Exp3(), seed="secret")
    assert Trial().is_real and Replay(TABLE).is_real and VectorTable(TABLE).is_real
    assert not Stochastic().is_real and not Replay().is_real and not OutcomePools([np.ones(2), np.ones(3)]).is_real
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        noisy(gym.make("DPBandit-Stochastic-v0")).reset(seed=1)
        simulate("DPBandit-Stochastic-v0", ["DP-EXP3-Lap"], seed=1, horizon=9)
        noisy(BanditEnv(OutcomePools([np.ones(2), np.ones(3)]))).reset(seed=1)


def test_without_a_seed_each_simulation_has_another_one_and_does_not_say_which():
    """Two seeds of 128 random bits are equal with probability 2^-128."""
    both = [simulate("DPBandit-Stochastic-v0", ["EXP3", "DP-IMED"], seed=None, horizon=500, trials=2) for _ in range(2)]
    assert all(one.seed is None and "secret" in repr(one) for one in both)
    assert (both[0]["EXP3"].collected != both[1]["EXP3"].collected).any()


def test_the_algorithms_of_a_trial_share_gains_with_a_secret_seed_too():
    results = simulate("DPBandit-Stochastic-v0", {"one": Exp3, "other": Plain}, seed=None, horizon=300, trials=2)
    assert (results["one"].engine, results["other"].engine) == ("compiled", "play")
    best = [one.external_regret + one.collected for one in results.values()]
    np.testing.assert_array_equal(*best)


def test_a_secret_seed_is_in_no_result_text_or_error(monkeypatch, capfd):
    for module in (prepared_module, playing_module):
        monkeypatch.setattr(module, "draw_seed", lambda: SECRET)
    results = simulate(REPLAY, ["DP-EXP3-Lap", "DP-IMED"], seed=None, env_kwargs={"gains": TABLE}, trials=2)
    game = play(replay(), make_algorithm("DP-IMED"), seed=None)
    prepared = prepared_module.prepare(
        REPLAY, ["DP-IMED"], horizon=None, seed=None, checkpoints=1, env_kwargs={"gains": TABLE}
    )
    written = SECRET.to_bytes(16, "little")
    for part in (results, game):
        packed = pickle.dumps(part)
        assert str(SECRET).encode() not in packed and written not in packed and written[::-1] not in packed
        assert str(SECRET) not in repr(part)
    texts = [repr(prepared), *map(repr, prepared.engines), *map(repr, prepared.tasks(range(2))), *capfd.readouterr()]
    assert not [text for text in texts if str(SECRET) in text or f"{SECRET:x}" in text]
    assert written in pickle.dumps(prepared.seed)  # so that the checks above could find it


class Public(gym.Wrapper):
    """Keeps what it sees of a reset, above a boundary, where everything may be published."""

    def reset(self, *, seed=None, options=None):
        """Reset twice, as a wrapper may."""
        self.seen = [seed, options]
        super().reset(seed=seed, options=options)
        return super().reset(seed=seed, options=options)


def test_what_is_above_a_boundary_does_not_see_a_secret_seed(monkeypatch):
    """Not in `play` or `simulate`, nor after a known seed, nor in a second reset."""
    monkeypatch.setattr(playing_module, "draw_seed", lambda: SECRET)
    monkeypatch.setattr(prepared_module, "draw_seed", lambda: SECRET)
    tops, released = [], []

    def made(env=None):
        tops.append(Public(noisy(replay() if env is None else env)))
        return tops[-1]

    class Keeps(Plain):
        def update(self, arm, observation):
            released[-1].append(float(observation["gain"][arm]))
            super().update(arm, observation)

    again = made()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KnownSeedWarning)
        released.append([])
        play(again, Keeps(), seed=5)
    assert again.seen[0] == 5
    released.append([])
    play(again, Keeps(), seed=None)
    simulate(REPLAY, [Algorithm("plain", Plain, made)], trials=2, seed=None, env_kwargs={"gains": TABLE})
    simulate(made, [Algorithm("plain", Plain)], seed=None)
    assert len(tops) >= 4 and all(top.seen[0] is None for top in tops if hasattr(top, "seen"))
    assert all(top.unwrapped.np_random_seed != SECRET for top in tops)
    # Releases are on a grid of a few hundred numbers, so two games may share one, but hardly in the same round.
    alike = [one for one, other in zip(released[0], released[1], strict=True) if one == other and 0.0 < one < 1.0]
    assert len(released[0]) > 10 and len(alike) <= 1
    # It was used, and only once: a generator with it gives the noise of the first reset, and none of the second.
    assert again.unwrapped._streams._seed == again.env._streams._seed == SECRET
    assert set(again.env._streams._played.values()) == {2}


def test_trying_small_seeds_finds_a_given_one_and_no_secret_one():
    """The attack: noise of each small seed is subtracted from what was released, until gains of 0 and 1 are left."""

    def found(seed):
        env = LaplaceClipRescale(replay(), epsilon=0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KnownSeedWarning)
            env.reset(seed=seed)
        scale, label = env.noise.scale, noise_key(env.mechanism, env.inputs)
        seen = [env.step(0)[0] for _ in range(20)]
        values = [one["gain"][0] * (1 + 2 * env.noise.bound) - env.noise.bound for one in seen]
        shown = np.array([bool(one["observed"][0]) for one in seen])
        for guess in range(50):
            noise = stream(guess, role=FIRST_WRAPPER, noise_key=label).laplace(0, scale, 20)
            left = (np.array(values) - noise)[shown]
            if np.minimum(np.abs(left), np.abs(left - 1)).max() < scale / 100:
                return guess
        return None

    assert found(37) == 37
    assert found(None) is None


@pytest.mark.parametrize("seed", [-1, 2**128, 1.5, "7", True])
def test_a_seed_must_be_one(seed):
    with refused((ValueError, TypeError), "seed"):
        simulate("DPBandit-Stochastic-v0", ["EXP3"], seed=seed, horizon=5)

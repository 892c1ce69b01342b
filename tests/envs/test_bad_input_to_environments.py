"""Wrong calls get an error that says what went wrong and what the rule is, and the game goes on unharmed."""

import pickle

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs
from dp_bandit_envs import compare, register_adversary, simulate
from dp_bandit_envs.adversaries import Adversary, OneAxis, Stochastic, VectorTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.registration import GAMES, IDS
from dp_bandit_envs.errors import (
    GainRangeError,
    StepOutsideGameError,
    UnknownArgumentError,
    WrongGameError,
    WrongPointError,
    WrongTypeError,
)
from dp_bandit_envs.wrappers import HybridSums, LaplaceClipRescale, vector
from tests.tools.boundary_games import MARK, PLANTED, everything_in
from tests.tools.doors import one_each
from tests.tools.plays import ARM_IDS, POINT_IDS, play, wrong_points
from tests.tools.refusals import refused

WITH_ARMS = [id_ for id_ in ARM_IDS if "Trial" not in id_ and "Replay" not in id_]


def test_steps_outside_of_a_game_raise_and_a_reset_mends_it():
    for id_, block_length in one_each(IDS, [4, 1, 4096]):
        env = gym.make(id_, horizon=6, block_length=block_length).unwrapped
        with refused(StepOutsideGameError, "reset()"):
            env.step(play(env, 0))
        env.reset(seed=0)
        for _ in range(6):
            env.step(play(env, 0))
        for _ in range(2):
            with refused(StepOutsideGameError, 6, "reset()"):
                env.step(play(env, 0))
        env.reset()
        assert env.step(play(env, 0))[4] == {"round": 1}
    for env in (BanditEnv(Stochastic()), BanditVectorEnv(2, Stochastic())):
        for ask in (lambda env: env.cumulative_gains, lambda env: env.collected, lambda env: env.external_regret()):
            with refused(StepOutsideGameError, "reset()"):
                ask(env)
    with refused(StepOutsideGameError, "reset()"):
        env.step([0, 0])


@pytest.mark.parametrize(("id_", "arm"), one_each(ARM_IDS, [-1, 1000, 1.5, 2.0, np.nan, "a", None, [1]]), ids=repr)
def test_a_wrong_arm_is_refused_and_does_not_cost_a_round(id_, arm):
    def rewards(interrupt):
        env = gym.make(id_, horizon=8, block_length=2).unwrapped
        env.reset(seed=2)
        seen = []
        for t in range(8):
            if interrupt:
                with refused(ValueError, "arm", f"[0, {env.n_arms - 1}]", repr(arm)) as caught:
                    env.step(arm)
                assert isinstance(caught.value, TypeError) == (type(arm) is not int)
            seen.append(env.step(t // 2)[1])
        return seen, env.cumulative_gains.tolist()

    assert rewards(interrupt=True) == rewards(interrupt=False)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("id_", "num_envs", "feedback"),
    [
        *((id_, None, "full") for id_ in POINT_IDS),
        *(("DPBandit-Ball-v0", many, feedback) for many, feedback in ((None, "bandit"), (2, "full"), (2, "bandit"))),
    ],
)
def test_a_wrong_point_is_refused_without_a_gain_and_does_not_cost_a_round(id_, num_envs, feedback):
    # Noisy gain vectors with a planted number in every round, which no message may show.
    gains = np.random.default_rng(1).random((8, 4)) / 4
    gains[:, 1] = PLANTED

    def rewards(interrupt):
        options = {"gains": gains, "feedback": feedback}
        env = gym.make(id_, block_length=2, **options).unwrapped
        if num_envs is not None:
            env = gym.make_vec(id_, num_envs=num_envs, **options)
        env.reset(seed=2)
        seen = []
        for t in range(8):
            right = play(env, t)
            if interrupt:
                for name, wrong in wrong_points(env.decision_set).items():
                    if num_envs is not None:
                        if name == "bools":
                            continue  # beside real numbers they become numbers
                        wrong = [*right[:-1], wrong]  # that of the last game
                    with refused(WrongPointError) as caught:
                        env.step(wrong)
                    assert MARK not in everything_in(caught.value)
            seen.append(env.step(right)[1])
        return np.array(seen).tolist(), env.cumulative_gains.tolist()

    assert rewards(interrupt=True) == rewards(interrupt=False)


def test_sizes_must_be_whole_numbers():
    for ids, argument, least, values in (
        (IDS, "horizon", 1, [0, -1, 1.5, np.nan, "10", True]),
        (WITH_ARMS, "n_arms", 2, [1, 0, -4, 2.5, "4", True]),
        (POINT_IDS, "dimension", 2, [1, 0, -4, 2.5, "4", True]),
        (IDS, "block_length", 1, [0, 1.5]),
    ):
        for id_, value in one_each(ids, values):
            for make in (gym.make,) if argument == "block_length" else (gym.make, gym.make_vec):
                with refused(ValueError, argument, least, repr(value)):
                    make(id_, **{argument: value})


def test_wrong_adversaries_and_arguments_of_points_are_refused_by_name():
    for call, words in [
        (BanditEnv, ("BanditEnv(Stochastic",)),
        (lambda: BanditEnv("Stochastic"), ("adversary", "Adversary", "str")),
        (lambda: BanditEnv(Stochastic(), n_arms=5), ("n_arms", "adversary")),
    ]:
        with refused(TypeError, *words):
            call()
    for adversary in (OneAxis(3, 9), VectorTable([[-0.5, 0.5]])):
        for make in (BanditEnv, lambda one: BanditVectorEnv(2, one)):
            with refused(WrongGameError, "points"):
                make(adversary)
    for wrong, error, words in [
        ({"feedback": "graph"}, ValueError, ("feedback", "full", "bandit", "graph")),
        ({"gains": "Noisy"}, ValueError, ("gains", "Noisy")),
        ({"gains": 3}, TypeError, ("gains", "int")),
        ({"gains": np.full((3, 2), 0.9), "gap": 0.1}, ValueError, ("gap",)),
        ({"gap": 1.5}, ValueError, ("gap", 1.5)),
        ({"gains": np.zeros((3, 2)), "dimension": 3}, ValueError, ("dimension", 2, 3)),
        ({"gains": np.zeros((3, 2)), "horizon": 4}, ValueError, ("horizon", 3, 4)),
        ({"n_arms": 4}, TypeError, ("n_arms", "dimension")),
    ]:
        for make in [gym.make, gym.make_vec]:
            with refused(error, *words):
                make("DPBandit-Ball-v0", **wrong)


@pytest.mark.parametrize(
    ("id_", "vector"),
    [("Ball", [0.8, 0.8]), ("Cube", [0.6, -0.6]), ("Simplex", [0.5, -0.1]), ("Ball", [0.0, 1 + 1e-6])],
)
def test_gain_vectors_outside_of_their_set_are_refused_without_showing_them(id_, vector):
    adversary = Given(np.array([[0.1, 0.1], [0.1, 0.1], vector]))
    envs = (
        gym.make(f"DPBandit-{id_}-v0", gains=adversary).unwrapped,
        gym.make_vec(f"DPBandit-{id_}-v0", num_envs=2, gains=adversary),
    )
    for env in envs:
        env.reset(seed=0)
        with refused(GainRangeError, "Given") as caught:
            for t in range(3):
                env.step(play(env, t))
        assert "0.8" not in str(caught.value) and "0.6" not in str(caught.value)
        with refused(StepOutsideGameError, "reset()"):
            env.step(play(env, 0))


@pytest.mark.parametrize("many", [False, True])
def test_after_wrong_gains_there_is_no_game_to_go_on_with(many):
    """Two blocks were fetched: with the totals of the first counted twice, regret would be wrong ever after."""
    adversary = Given(np.array([[0.25, 1.0]] * 2 + [[0.5, 2.0]]))
    adversary.lowest = 0.0
    env = BanditVectorEnv(2, adversary) if many else BanditEnv(adversary, block_length=2)
    env.reset(seed=0)
    with refused(GainRangeError, "Given"):
        for _ in range(3):
            env.step(np.zeros(2, int) if many else 0)
    for read in (lambda: env.step(np.zeros(2, int) if many else 0), env.external_regret, lambda: env.collected):
        with refused(StepOutsideGameError, "reset()"):
            read()
    env.reset(seed=0)
    assert np.all(env.external_regret() == 0)


class Given(Adversary):
    """Plays a table that no one has checked."""

    lowest = -1.0

    def __init__(self, table):
        super().__init__(table.shape[1], len(table))
        self.table = table

    def begin(self, rng):
        self.round = 0

    def next_gains(self, rounds):
        self.round += rounds
        return self.table[self.round - rounds : self.round].copy()


class Fails(Adversary):
    """Its constructor fails with an error of Python's own."""

    def __init__(self, gains, horizon=9, wrong=None):
        super().__init__(2, horizon)
        self.length = len(wrong)

    def begin(self, rng):
        pass

    def next_gains(self, rounds):
        return np.zeros((rounds, 2))


PRIVATE = np.full((3, 2), 0.1234567891)
WRONG = [{"horizon": "ten"}, {"observe_charge": 3}, {"typo": 1}, {"arm_names": 3}, {"arm_names": PRIVATE}]
WRONG += [{name: PRIVATE} for name in ("horizon", "persons", "ledger")]
MAKE = {
    "make": lambda id_, given: gym.make(id_, **given),
    "make_vec": lambda id_, given: gym.make_vec(id_, num_envs=2, **given),
    "sync": lambda id_, given: gym.make_vec(id_, num_envs=2, vectorization_mode="sync", **given),
    "play": lambda id_, given: dp_bandit_envs.play((id_, given), "Uniform"),
    "simulate": lambda id_, given: simulate(id_, ["Uniform"], trials=1, env_kwargs=given),
    "compare": lambda id_, given: compare((id_, given), "Uniform", trials=1),
}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE.keys())
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: " ".join(wrong))
def test_gymnasium_does_not_show_private_gains_in_a_message(wrong, make):
    """It raises a TypeError anew with all arguments behind the message."""
    with pytest.raises((TypeError, ValueError)) as caught:
        make("DPBandit-Replay-v0", {"gains": PRIVATE, **wrong})
    assert "12345" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_an_error_of_a_constructor_shows_no_gains():
    for name in ("gains", "horizon"):
        with refused((TypeError, ValueError), name, "once") as caught:
            simulate(("Replay", {"gains": PRIVATE, "horizon": 2}), ["Uniform"], env_kwargs={name: PRIVATE})
        assert "12345" not in str(caught.value)
    id_ = register_adversary("Fails", Fails)
    try:
        for make in MAKE.values():
            with refused(WrongTypeError, "len()") as caught:
                make(id_, {"gains": PRIVATE})
            assert "12345" not in str(caught.value)
    finally:
        GAMES.pop(id_)
        gym.registry.pop(id_)


def test_an_unknown_argument_is_refused_in_pythons_own_words():
    """TorchRL and Stable-Baselines3 look for them, and then leave the argument out."""
    for id_, arguments in [
        *((id_, {}) for id_ in IDS),
        ("DPBandit-Replay-v0", {"gains": np.ones((2, 2))}),
        ("DPBandit-Graph-v0", {"graph": "erdos-renyi"}),
        ("DPBandit-Graph-v0", {"graph": np.zeros((3, 3))}),
    ]:
        for make in [gym.make, gym.make_vec]:
            with refused(UnknownArgumentError, "got an unexpected keyword argument 'frameskip'") as caught:
                make(id_, frameskip=1, **arguments)
            assert "gains" not in str(caught.value).partition("It takes")[0]
            assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_wrong_means_and_names_of_arguments_name_what_was_written():
    for id_ in ("DPBandit-Stochastic-v0", "DPBandit-Experts-v0", "DPBandit-Graph-v0"):
        for make in [gym.make, gym.make_vec]:
            with refused(ValueError, "means must be at least 2 numbers", "[0.5]"):
                make(id_, means=[0.5])
            # The arguments that a graph game does not know are options of its graph.
            with refused(UnknownArgumentError, "'mean'", "no options" if "Graph" in id_ else "Did you mean means"):
                make(id_, mean=[0.5, 0.6])
    with refused(UnknownArgumentError, "It takes n_arms, horizon, means, arm_order, observe_charge"):
        gym.make("DPBandit-Stochastic-v0", foo=3)


# ---- seeds and options of reset, under every wrapper

MAKERS = {
    **{id_: lambda id_=id_: gym.make(id_, horizon=9) for id_ in IDS},
    **{f"{id_}, vector": lambda id_=id_: gym.make_vec(id_, num_envs=2, horizon=9) for id_ in IDS},
    "Laplace": lambda: LaplaceClipRescale(gym.make("DPBandit-Deterministic-v0", horizon=9), epsilon=1.0),
    "Hybrid": lambda: HybridSums(gym.make("DPBandit-Deterministic-v0", horizon=9), epsilon=1.0),
    "Laplace, vector": lambda: vector.LaplaceClipRescale(
        gym.make_vec("DPBandit-Deterministic-v0", num_envs=2, horizon=9), epsilon=1.0
    ),
    "Hybrid, vector": lambda: vector.HybridSums(
        gym.make_vec("DPBandit-Deterministic-v0", num_envs=2, horizon=9), epsilon=1.0
    ),
}


def arms(env):
    return play(env, [0, 1] if isinstance(env, gym.vector.VectorEnv) else 1)


def goes_on_after(env, error, *words, **wrong):
    """Assert that a reset is refused, and that the game goes on, and the next one begins, as if it had not been."""
    twin = env()
    env = env()
    for each in (env, twin):
        each.reset(seed=1)
        each.step(arms(each))
    with refused(error, *words):
        env.reset(**wrong)
    for call in (lambda each: each.step(arms(each)), lambda each: each.reset(), lambda each: each.step(arms(each))):
        np.testing.assert_equal(call(env), call(twin))


@pytest.mark.thorough
def test_some_of_many_games_begin_again_one_by_one_or_not_at_all():
    """The native forms reset all games without a word, and so did Gymnasium's statistics above them."""
    mask = np.array([True, False, False])
    for id_ in IDS:
        for mode in ("sync", "vector_entry_point"):
            envs = gym.make_vec(id_, num_envs=3, horizon=50, vectorization_mode=mode)
            for one in (envs, gym.wrappers.vector.RecordEpisodeStatistics(envs)):
                one.reset(seed=1)
                one.step(one.action_space.sample())
                if mode == "sync" and one is envs:
                    one.reset(options={"reset_mask": mask})
                    assert one.step(one.action_space.sample())[4]["round"].tolist() == [1, 2, 2]
                elif mode != "sync":
                    with refused(ValueError, "reset_mask", "trial, player", "vectorization_mode='sync'"):
                        one.reset(options={"reset_mask": mask})
                    assert one.step(one.action_space.sample())[4]["round"].tolist() == [2, 2, 2]


@pytest.mark.parametrize("id_", MAKERS)
def test_an_option_of_reset_that_nobody_knows_is_refused(id_):
    env = MAKERS[id_]()
    env.reset(seed=1)
    for unknown in ("Trial", "seed", 3):
        with refused(ValueError, "trial, player", repr(unknown)):
            env.reset(options={unknown: 1})
    env.step(env.action_space.sample())


@pytest.mark.thorough
def test_seeds_trials_and_options_of_reset_are_checked():
    for error, name, values, wrong in (
        (TypeError, "options", [3, "trial", [3], (("trial", 1),), True], lambda value: {"options": value}),
        (ValueError, "trial", [-1, 2**32, None, "first", 1.5], lambda value: {"seed": 5, "options": {"trial": value}}),
        (ValueError, "seed", [-1, 2**128, "seven", 1.5, True, np.nan], lambda value: {"seed": value}),
    ):
        for maker, value in one_each(MAKERS, values):
            goes_on_after(MAKERS[maker], error, name, **wrong(value))


@pytest.mark.thorough
def test_seeds_of_many_games_must_be_one_for_each():
    """Two games with one seed would have one noise."""
    for name, seed in one_each(
        [name for name in MAKERS if "vector" in name],
        [[7, 7], [1], [1, 2, 3], [1, -1], [1, "two"], [], {1, 2}, 2**128 - 1],
    ):
        goes_on_after(MAKERS[name], ValueError, "seed", seed=seed)


def test_numpys_integers_and_arrays_are_seeds_too():
    env, again = MAKERS["DPBandit-Stochastic-v0"](), MAKERS["DPBandit-Stochastic-v0"]()
    env.reset(seed=np.int64(7))
    again.reset(seed=7)
    np.testing.assert_equal(env.step(0), again.step(0))
    games, others = MAKERS["DPBandit-Stochastic-v0, vector"](), MAKERS["DPBandit-Stochastic-v0, vector"]()
    games.reset(seed=np.array([7, 8]))
    others.reset(seed=7)
    np.testing.assert_equal(games.step([0, 0]), others.step([0, 0]))
    # Numbers of other types are arms and points too.
    points = ([1, 0], (0.0, -1.0), np.array([0, 1], np.int8), np.array([0.5, 0.25], np.float32))
    for made, given, plain in (
        *((BanditEnv, arm, 1) for arm in (np.int64(1), np.uint8(1), np.array(1))),
        *((None, each, np.array(each, np.float64)) for each in points),
    ):
        env, again = (
            BanditEnv(Stochastic()) if made else gym.make("DPBandit-Ball-v0", dimension=2, horizon=3).unwrapped
            for _ in range(2)
        )
        env.reset(seed=0)
        again.reset(seed=0)
        np.testing.assert_equal(env.step(given), again.step(plain))
    # A caller that fills the same array in every round changes no picture and no round.
    env, again = (gym.make("DPBandit-Cube-v0", horizon=2, render_mode="ansi").unwrapped for _ in range(2))
    for each, changes in ((env, True), (again, False)):
        each.reset(seed=0)
        right = play(each, 3)
        each.step(right)
        if changes:
            right[:] = 7.0
    assert env.render() == again.render()

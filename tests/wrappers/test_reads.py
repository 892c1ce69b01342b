"""A private number is planted below every wrapper and looked for in everything that can be seen or reached above it."""

import copy
import functools
import inspect
import json
import logging
import math
import pickle
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, LaplaceClipRescale, play, register_private, simulate, wrappers
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.rendering import Scoreboard
from dp_bandit_envs.errors import (
    NameTakenError,
    StepOutsideGameError,
    UnknownArgumentError,
    UnknownNameError,
    WrongTypeError,
)
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.counters import COUNTERS, BinaryCounter
from dp_bandit_envs.wrappers import CounterSums, ExactSums, MiniBatchAverage, RandomizedResponse, vector
from dp_bandit_envs.wrappers.boundary import Hidden
from tests.tools.boundary_games import (
    EVERY,
    EVERYWHERE,
    FORMS,
    MARK,
    NOISY,
    PLANTED,
    ROUNDS,
    SOME_IN_BOTH,
    SUMS,
    act,
    around,
    boundaries,
    error_of,
    everything_in,
    find_planted,
    frames_of,
    game,
    games,
    summed,
    wrapped,
)
from tests.tools.doors import one_each
from tests.tools.refusals import refused

DOORS = {"env", "unwrapped"}
"""What the evaluator uses, and documents."""
TITLE = "Seen through the privacy boundary"


def tables(name: str) -> list[Any]:
    """Return tables with the number in every round, and in one round: early, inside a batch, last.

    Averaging alone hands on an average that is exact, so there the number stands in one round of a batch only.
    """
    found = [EVERYWHERE] if name in NOISY else []
    for round_ in (0, 3, ROUNDS - 1):
        table = np.zeros((ROUNDS, 3))
        table[round_] = PLANTED
        found.append(table)
    return found


def begun(name: str, form: str = "scalar") -> Any:
    """Return a game of the number everywhere, after one step."""
    env = wrapped(FORMS[form](EVERYWHERE), name)
    env.reset(seed=1)
    env.step(act(env, 0))
    return env


def test_the_search_finds_the_number_where_there_is_no_boundary():
    env = game(EVERYWHERE, render_mode="ansi")
    env.reset(seed=1)
    observation, reward, *_ = env.step(0)
    assert list(find_planted(observation)) == ["it['gain']"]
    assert list(find_planted(reward)) and list(find_planted(env))
    assert list(find_planted(f"a log line with {observation}"))
    sums = ExactSums(game(EVERYWHERE, render_mode="ansi"))
    sums.reset(seed=1)
    assert list(find_planted(sums.step(0))) == ["it[0]['sum']", "it[1]"] and list(find_planted(vars(sums)))
    # What a boundary adds up would be found if it were kept openly.
    assert list(find_planted({"state": begun("Hybrid, hybrid")._run._state.value})) == ["it['state'][0]"]

    def fail() -> None:
        gain = reward
        raise ValueError(f"gain {gain}")

    error = error_of(fail)
    assert MARK in everything_in(error) and MARK in frames_of(error)


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name in EVERY if name != "Running"])
def test_nothing_above_a_boundary_shows_the_number(name, form, caplog, capfd, recwarn):
    """Vectors are played across the end of a game and into the next one, in two of the tables."""
    caplog.set_level(logging.DEBUG)
    cases = [(table, [0, 1, 2]) for table in tables(name)]
    cases = [*cases, (cases[0][0], [0])] if form == "scalar" else cases[::2]
    for seed, (table, arms) in enumerate(cases):
        env = wrapped(FORMS[form](table, render_mode="ansi"), name)
        seen: list[Any] = [env.reset(seed=seed), repr(env), str(env), env.render()]
        ended, t = False, 0
        while not ended if form == "scalar" else t < ROUNDS + 3:
            result = env.step(act(env, arms[t % len(arms)]))
            if form == "scalar":
                _, reward, terminated, truncated, info = result
                assert set(info) == {"round"} and type(info["round"]) is int
                assert type(reward) is float and type(terminated) is bool and type(truncated) is bool
            assert set(result[4]) <= {"round", "_round"}
            # What a boundary keeps is as public as what it says: someone will pickle or print it. Below `env` is the
            # door.
            seen += [result, repr(env), str(env), env.render(), repr(vars(env)), str(vars(env))]
            ended, t = bool(np.all(result[2])), t + 1
        assert not list(find_planted(seen)) and not list(find_planted(env))
        wrong = 0 if form == "scalar" else np.array([0, 3])
        error = error_of(lambda env=env, wrong=wrong: env.step(wrong))
        assert form == "vector" or isinstance(error, StepOutsideGameError)
        assert MARK not in everything_in(error) + frames_of(error)
    out, err = capfd.readouterr()
    assert MARK not in out + err + caplog.text
    assert not [str(w.message) for w in recwarn if MARK in str(w.message)]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "form"), SOME_IN_BOTH)
def test_attributes_of_what_is_below_cannot_be_asked_for(name, form):
    """Nor can the doors of an evaluator be, by a public name."""
    env = begun(name, form)
    core = env.unwrapped
    private = ["adversary", "adversaries", "collected", "cumulative_gains", "external_regret", "_block", "_rows"]
    underscored = ["_table", "_state", "_rng", "_tell", "_sums", "_streams"]
    for each in {*private, *underscored, "env", *dir(core), "set_wrapper_attr"}:
        if form == "scalar" and (each.startswith("_") or each in DOORS or not env.has_wrapper_attr(each)):
            assert not env.has_wrapper_attr(each)
            with refused(AttributeError, type(env).__name__, repr(each)) as error:
                env.get_wrapper_attr(each)
            assert MARK not in everything_in(error.value)
            if each in (*private, *underscored):
                with pytest.raises(AttributeError):
                    gym.wrappers.TimeLimit(env, 3).get_wrapper_attr(each)
        if not each.startswith("__") and each not in DOORS and name != "Running":
            assert not list(find_planted(getattr(env, each, None))), each
    assert not [each for each in (*private, "_table") if hasattr(env, each)]
    assert (env.spec, env.np_random_seed) == (None, -1)
    assert env.np_random is not core.np_random


def test_setting_an_attribute_does_not_reach_below():
    env = around(game(EVERYWHERE), "Laplace(MiniBatch)")
    assert env.set_wrapper_attr("observe_charge", False)
    assert env.unwrapped.observe_charge is True
    assert not env.set_wrapper_attr("adversary", None, force=False)
    assert env.unwrapped.adversary is not None
    env.np_random = np.random.default_rng(3)
    assert env.unwrapped.np_random is not env.np_random
    # Pickled state of the boundary itself holds no gain.
    env = begun("Laplace(MiniBatch)")
    own = {name: value for name, value in vars(env).items() if name != "env"}
    needle = np.float64(PLANTED).tobytes()
    assert needle in pickle.dumps(env.unwrapped)
    assert needle not in pickle.dumps(own)


@pytest.mark.parametrize("name", ["Running", "Hybrid, hybrid", "Interval, lemma", "Block"])
def test_what_is_added_up_is_withheld_from_prints_attributes_and_mechanisms(name):
    env, many = begun(name), begun(name, "vector")
    state = env._run._state
    assert isinstance(state, Hidden)
    assert repr(state) == str(state) == f"{state}" == "withheld"
    assert [repr(one._state) for one in many._runs] == ["withheld"] * 2
    assert type(env.get_wrapper_attr("mechanism")) is type(env.mechanism)
    env.step(1)
    assert not list(find_planted(env.mechanism))


# ---- pictures


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Laplace", "Laplace(MiniBatch)", "MiniBatch(Response)"])
def test_pictures_above_the_boundary_are_those_of_a_game_that_paid_what_was_released(name):
    """Drawn a second way: a scoreboard that is fed with rewards above the boundary only."""
    mode = "rgb_array" if name == "Laplace(MiniBatch)" else "ansi"
    env = around(game(EVERYWHERE, render_mode=mode), name)
    env.reset(seed=5)
    board, before = Scoreboard(3, ROUNDS), 0
    for arm in (0, 1):
        _, reward, *_, info = env.step(arm)
        board.add(info["round"], arm, reward, rounds=info["round"] - before)
        before = info["round"]
    np.testing.assert_array_equal(env.render(), board.render(mode, title=TITLE, total="released gain"))


def expected_board(sums, plays, mode, title):
    """Draw a scoreboard that is told released sums only."""
    board = Scoreboard(3, ROUNDS)
    for t, (arm, rounds) in enumerate(plays):
        board.add(sum(n for _, n in plays[: t + 1]), arm, 0.0, rounds=rounds)
    board.show_totals(sums)
    return board.render(mode, title=title, total="released sum")


@pytest.mark.parametrize("name", ["Running(Laplace)", "Hybrid, hybrid", "Hybrid(MiniBatch)", "Block"])
def test_pictures_show_released_sums(name):
    """The same picture drawn a second way, in both forms: it changes by releases, not by rewards.

    Nor does it by what is written into an observation.
    """
    per_step = 2 if "M" in SUMS[name][0] else 1
    scalar = summed(game(EVERYWHERE, render_mode="ansi"), name)
    many = summed(games(2, EVERYWHERE, render_mode="ansi"), name)
    scalar.reset(seed=5), many.reset(seed=5)
    plays = []
    for arm in (0, 1, 0, 0):
        plays.append((arm, per_step))
        observation = scalar.step(arm)[0]
        sums = observation["sum"].copy()
        observation["sum"][...], observation["count"][...] = 99.0, 9
        released = many.step(np.array([arm, 2]))[0]["sum"]
        assert scalar.render() == expected_board(sums, plays, "ansi", TITLE)
        first, second = many.render()
        assert first == expected_board(released[0], plays, "ansi", f"{TITLE}, game 0")
        assert second == expected_board(released[1], [(2, per_step)] * len(plays), "ansi", f"{TITLE}, game 1")
    # and a new game begins with an empty picture
    scalar.reset(seed=6)
    assert scalar.render() == expected_board(np.zeros(3), [], "ansi", TITLE)


@pytest.mark.thorough
def test_pictures_in_pixels_show_released_sums():
    env = summed(game(EVERYWHERE, render_mode="rgb_array"), "Hybrid, hybrid")
    env.reset(seed=5)
    sums = env.step(0)[0]["sum"]
    np.testing.assert_array_equal(env.render(), expected_board(sums, [(0, 1)], "rgb_array", TITLE))
    assert not np.array_equal(env.render(), expected_board(sums + 1, [(0, 1)], "rgb_array", TITLE))


GAINS = np.round(np.random.default_rng(3).random((20, 2)), 2)


# ---- what a boundary does and what it guarantees belong together


@pytest.mark.parametrize("form", FORMS)
def test_nothing_that_decides_on_the_noise_can_be_set_from_outside(form):
    without = mechanisms.LaplaceClipRescale(epsilon=math.inf)
    for env in boundaries(form):
        for name in ("mechanism", "sensitivity", "guarantee", "horizon", "_mechanism", "_rng", "env", "n_arms"):
            if form == "scalar":
                with refused(AttributeError, name, type(env).__name__):
                    env.set_wrapper_attr(name, without)
        for name in (
            "mechanism",
            "sensitivity",
            "guarantee",
            "horizon",
            "batch_size",
            "noise",
            "inputs",
            "releases_sums",
        ):
            with pytest.raises(AttributeError, match=r"read-only|no setter|can't set"):
                setattr(env, name, without)
        for name in inspect.signature(type(env.mechanism)).parameters:
            with pytest.raises(AttributeError, match=rf"{name} .*cannot be set|no setter|can't set"):
                setattr(env, name, 1e9)
        env.mechanism.epsilon = 1e9
        assert getattr(env.mechanism, "epsilon", None) != 1e9


# ---- a counter's noise is its own


class Tenfold(BinaryCounter):
    """Ten times the noise, so a tenth of epsilon."""

    def noise(self, state, arm, rng):
        noise, fresh = BinaryCounter.noise(state, arm, rng)
        return 10 * noise, fresh


binary_noise = BinaryCounter.noise


def tenfold_noise(state, arm, rng):
    noise, fresh = binary_noise(state, arm, rng)
    return 10.0 * noise, fresh


class TenfoldPlain(BinaryCounter):
    """The same as a plain function, declared on the class."""

    noise = staticmethod(tenfold_noise)


@pytest.mark.thorough
@pytest.mark.parametrize(("tenfold", "engine"), [(Tenfold, "play"), (TenfoldPlain, "compiled")])
def test_simulate_plays_a_counters_own_noise(monkeypatch, tenfold, engine):
    monkeypatch.setitem(COUNTERS, "binary", tenfold)
    player = Algorithm("mine", Ucb, lambda env: CounterSums(env, epsilon=20.0, counter="binary"))
    outcome = simulate("DPBandit-Stochastic-v0", [player], horizon=300, checkpoints=300, seed=3)["mine"]
    assert outcome.engine == engine
    game = play(BanditEnv(Stochastic(horizon=300)), player, seed=3)
    assert np.array_equal(outcome.external_regret[0], game.external_regret)
    monkeypatch.setitem(COUNTERS, "binary", BinaryCounter)
    assert not np.array_equal(play(BanditEnv(Stochastic(horizon=300)), player, seed=3).arms, game.arms)


# ---- nothing that is handed out is what the noise is made of


def everything_shown(env) -> list[Any]:
    """Return what the public attributes of a boundary hand out."""
    names = [name for name in dir(env) if not name.startswith("_") and name not in ("env", "unwrapped")]
    if isinstance(env, gym.Env):
        names = [name for name in names if env.has_wrapper_attr(name)]
    return [shown for shown in (getattr(env, name, None) for name in names) if not callable(shown)]


def meddle_with(env) -> None:
    """Change all that can be changed in it."""
    for shown in everything_shown(env):
        if isinstance(shown, dict):
            shown |= {"delta": 0.99, "budget": "paper"}
        elif isinstance(getattr(shown, "__dict__", None), dict):
            vars(shown).update(dict.fromkeys(vars(shown), 1e9))
    if hasattr(env.mechanism, "counter"):
        env.mechanism.counter(20).sigma = 0.0
    else:
        env.mechanism.ends(20)[:] = 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("form", "kind"),
    one_each(
        FORMS,
        [
            ("CounterSums", {"epsilon": 0.1, "counter": "square-root", "delta": 1e-6}),
            ("CounterSums", {"epsilon": 0.1, "counter": "hybrid", "budget": "split"}),
            ("IntervalSums", {"epsilon": 16.0, "intervals": "uniform"}),
        ],
    ),
    ids=str,
)
def test_who_changes_what_is_handed_out_changes_no_noise(kind, form):
    """A dictionary of options once was what the noise was made of; and so were ends that two wrappers shared."""
    name, options = kind

    def released(meddle):
        wrap = getattr(wrappers if form == "scalar" else vector, name)
        env, other = (wrap(FORMS[form](GAINS), **options) for _ in "ab")
        found = []
        for each in (env, other):
            each.reset(seed=1)
            if meddle:
                meddle_with(env)
            each.reset(seed=1)
            found.append([each.step(act(each, 0))[0]["sum"].tolist() for _ in range(8)])
        return found

    assert released(meddle=True) == released(meddle=False)
    assert np.any(released(meddle=False))


# ---- spaces


def test_spaces_are_copies():
    """`FlattenObservation` joins the parts of an observation in the order of the space below it."""
    below = gym.wrappers.FlattenObservation(BanditEnv(GainTable(GAINS)))
    private = RandomizedResponse(below, epsilon=0.01)
    pairs = [(private, below.unwrapped, ("observation_space", "action_space", "metadata"))]
    for mode in ("sync", "vector_entry_point"):
        games = gym.make_vec("DPBandit-Stochastic-v0", 3, vectorization_mode=mode, horizon=9)
        spaces = ("observation_space", "single_observation_space", "action_space", "single_action_space")
        pairs.append((vector.LaplaceClipRescale(games, epsilon=0.1), games, spaces))
        assert pairs[-1][0].single_observation_space["gain"] is not games.single_observation_space["gain"]
    for env, inside, names in pairs:
        for name in names:
            assert getattr(env, name) == getattr(inside, name)
            assert getattr(env, name) is not getattr(inside, name)
    parts = private.get_wrapper_attr("observation_space").spaces
    parts["gain"] = parts.pop("gain")
    private.reset(seed=0)
    for _ in range(20):
        assert set(private.step(0)[0]["observed"].tolist()) <= {0, 1}


# ---- arms in the compiled game


class State(NamedTuple):
    """A number."""

    number: np.ndarray


def select_beyond(state, rng):
    """Return a number that is no arm."""
    state.number[0] += 1
    return 2 if state.number[0] > 3 else 0


def select_first(state, rng):
    """Return arm 0."""
    return 0


def nothing(state, arm, seen):
    """Learn nothing."""
    return state


def read_beyond(state, arm, seen):
    """Read what lies behind the array."""
    state.number[0] += int(seen.gains[10_000])
    return state


class Strays(FunctionalAgent):
    """Plays what is no arm."""

    functions = Functions(select_beyond, nothing)

    def initial_state(self, n_arms, horizon):
        return State(np.zeros(1, np.int64))


class Pries(Strays):
    """Reads what is no part of an observation."""

    functions = Functions(select_first, read_beyond)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("agent", "message"), [(Strays, r"\bStrays\.select\b.*\[0, 1\].*\b2\b"), (Pries, "out of bounds|out of range")]
)
def test_compiled_agents_stay_within_the_arms(agent, message):
    player = Algorithm("mine", agent, lambda env: LaplaceClipRescale(env, epsilon=0.5))
    with pytest.raises(IndexError, match=message):
        simulate("DPBandit-Stochastic-v0", [player], horizon=50, env_kwargs={"n_arms": 2})


# ---- doors


def test_models_cannot_ask_for_them_either():
    pytest.importorskip("stable_baselines3")
    from dp_bandit_envs.agents.stable_baselines3 import Sb3VecEnv

    envs = Sb3VecEnv(vector.LaplaceClipRescale(gym.make_vec("DPBandit-Stochastic-v0", 2, horizon=5), epsilon=1.0))
    for ask in (envs.get_attr, envs.env_method):
        for name in ("env", "unwrapped", "_streams"):
            with refused(AttributeError, name):
                ask(name)
    assert envs.get_attr("n_arms") == [4, 4]


# ---- private games as ids: what `gym.make` returns is the boundary, and no spec holds a gain


PRIVATE = np.full((6, 3), PLANTED)
BATCHES = functools.partial(MiniBatchAverage, batch_size=2)


@pytest.fixture
def register():
    """Return `register_private` with gains of one number; ids are removed afterwards."""
    made = []

    def registered(id_="Mine-v0", wrappers=("LaplaceClipRescale",), **arguments):
        given = {"game": "DPBandit-Replay-v0", "epsilon": 1.0, "env_kwargs": {"gains": PRIVATE}, **arguments}
        made.append(register_private(id_, wrappers=wrappers, **given))
        return made[-1]

    yield registered
    for id_ in made:
        gym.registry.pop(id_)


def test_the_id_is_the_game_behind_its_wrappers(register):
    """Also where it is made again from its spec."""
    by_id = gym.make(register(wrappers=[BATCHES, "LaplaceClipRescale"]))
    by_hand = LaplaceClipRescale(
        MiniBatchAverage(gym.make("DPBandit-Replay-v0", gains=PRIVATE), batch_size=2), epsilon=1
    )
    envs = (by_id, by_hand, gym.make(by_id.spec))
    first, *others = [repr([env.reset(seed=2), *(env.step(arm) for arm in (0, 1, 2))]) for env in envs]
    assert others == [first, first]
    assert by_id.get_wrapper_attr("guarantee") == by_hand.guarantee


def test_each_argument_goes_to_every_wrapper_that_takes_it(register):
    env = gym.make(register(wrappers=["MiniBatchAverage", LaplaceClipRescale], batch_size=3, bound=7.0))
    assert env.get_wrapper_attr("mechanism").epsilon == 1.0
    assert env.get_wrapper_attr("horizon") == 2 and env.get_wrapper_attr("noise").bound == 7.0
    # Gymnasiums wrappers may stand above.
    env = gym.make(register("Flat-v0", wrappers=["LaplaceClipRescale", gym.wrappers.FlattenObservation]))
    assert env.reset(seed=1)[0].shape == (6,)
    assert gym.make(env.spec).reset(seed=1)[0].shape == (6,)
    # A game without a privacy wrapper is refused.
    with refused(WrongTypeError, "Bare-v0", "'LaplaceClipRescale'"):
        gym.make(register("Bare-v0", wrappers=[gym.wrappers.FlattenObservation, lambda env, epsilon: env]))


def test_no_spec_and_nothing_above_holds_a_gain(register):
    id_ = register()
    env = gym.wrappers.RecordEpisodeStatistics(gym.make(id_))
    out = [env.reset(seed=1), *(env.step(arm) for arm in (0, 1, 2, 0, 1, 2))]
    specs = [gym.spec(id_), env.spec, pickle.loads(pickle.dumps(env.spec)), json.loads(gym.make(id_).spec.to_json())]
    assert not list(find_planted([out, [vars(spec) if hasattr(spec, "id") else spec for spec in specs]]))
    assert MARK not in repr(specs) and env.spec.id == id_ and env.spec.kwargs == {}
    assert b"gains" not in pickle.dumps([gym.spec(id_), gym.make(id_).spec])
    for name in ("adversary", "cumulative_gains", "external_regret", "collected", "_block"):
        with pytest.raises(AttributeError):
            env.get_wrapper_attr(name)
    # Many games are played one after the other.
    envs = gym.make_vec(register("Many-v0"), num_envs=2)
    observation, _ = envs.reset(seed=5)
    result = envs.step(np.array([1, 1]))
    assert not list(find_planted([observation, result, vars(envs.spec)]))
    single = gym.make("Many-v0")
    single.reset(seed=6)
    assert single.step(1)[1] == result[1][1] != result[1][0]


def test_arguments_of_make_are_the_games_and_no_spec_shows_them(register):
    env = gym.make(register(env_kwargs={}), gains=PRIVATE, render_mode="ansi")
    assert env.render_mode == "ansi" and env.spec.kwargs == {}
    assert MARK not in repr(env.spec)
    with refused(WrongTypeError, "got an unexpected keyword argument 'frameskip'") as caught:
        gym.make("Mine-v0", gains=PRIVATE, frameskip=1)
    assert MARK not in str(caught.value)


def test_the_spec_of_a_boundary_made_by_hand_names_wrappers_without_arguments():
    below = gym.wrappers.TransformReward(gym.make("DPBandit-Replay-v0", gains=PRIVATE), lambda reward: PLANTED * reward)
    spec = LaplaceClipRescale(below, epsilon=1.0).spec
    assert (spec.id, spec.kwargs) == ("DPBandit-Replay-v0", {})
    assert [one.name for one in spec.additional_wrappers] == ["TransformReward", "LaplaceClipRescale"]
    assert [one.kwargs for one in spec.additional_wrappers] == [None, None]
    with refused(ValueError, "dp_bandit_envs.register_private"):
        gym.make(spec)  # it would be a game without its boundary
    # An entry point that may hold gains is left out.
    gains = copy.copy(PRIVATE)
    gym.register("Closure-v0", entry_point=lambda: gym.make("DPBandit-Replay-v0", gains=gains).unwrapped)
    spec = LaplaceClipRescale(gym.make("Closure-v0"), epsilon=1.0).spec
    assert spec.entry_point == "dp_bandit_envs.wrappers.boundary:refuse_to_make" and spec.vector_entry_point is None
    gym.registry.pop("Closure-v0")


def test_wrong_arguments_are_refused_when_the_id_is_registered(register):
    with refused(UnknownArgumentError, "register_private() got an unexpected keyword argument 'gamma'"):
        register(gamma=1)
    with refused(UnknownNameError, "'Laplace'", "LaplaceClipRescale"):
        register(wrappers=["Laplace"])
    for wrong in ("LaplaceClipRescale", [], None, LaplaceClipRescale, [3]):
        with refused(WrongTypeError):
            register(wrappers=wrong)
    with refused(WrongTypeError, "id"):
        register(3)
    with refused(ValueError, "id", "'a:Mine-v0'"):
        register("a:Mine-v0")
    register()
    with refused(NameTakenError, "'Mine-v0'"):
        register()

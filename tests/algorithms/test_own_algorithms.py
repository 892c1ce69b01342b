"""Algorithms of one's own, whose draws are their own and are not shared; and the wrapper of the design around ours."""

import math
import pickle
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TransformObservation

from dp_bandit_envs import Exp3, LaplaceClipRescale, PrivacyGuarantee, play, register_algorithm, simulate
from dp_bandit_envs.adversaries import Deterministic, GainTable, Replay, Stochastic
from dp_bandit_envs.agents import Hedge, Ucb
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.algorithms.standard_wrapper import (
    BASES,
    learns_from_sums,
    standard_batch_size,
    standard_wrapper,
    wrap_in_clipped_averages,
)
from dp_bandit_envs.audits import exact_loss
from dp_bandit_envs.conformance import check_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import NameTakenError, UnknownNameError, WrongTypeError
from dp_bandit_envs.experiments.arguments import experiment_from
from dp_bandit_envs.experiments.running import run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.privacy.facts import ValueRange
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.simulation.engines import always_compiled
from dp_bandit_envs.wrappers import ExactSums, MiniBatchAverage, PrivacyBoundary
from tests.tools.both_ways import assert_same
from tests.tools.one_noise import as_one_player, with_one_noise
from tests.tools.refusals import refused

GAME = "DPBandit-Stochastic-v0"


def mine(*, epsilon=1.0):
    """Play EXP3 behind Laplace noise."""
    return Algorithm("whatever", Exp3, lambda env: LaplaceClipRescale(env, epsilon=epsilon), parameters={})


@pytest.fixture(scope="module")
def registered():
    register_algorithm("My-EXP3", mine)


def test_it_plays_the_game_of_the_paper_under_its_own_name(registered):
    lap = as_one_player(make_algorithm("DP-EXP3-Lap", epsilon=1.0), player=make_algorithm("My-EXP3").player)
    with always_compiled():
        ours, theirs = (simulate(GAME, one, horizon=50, trials=2) for one in ("my-exp3", lap))
        assert_same(GAME, [make_algorithm("My-EXP3")], horizon=50)
    assert ours["My-EXP3"].guarantee == theirs["DP-EXP3-Lap"].guarantee
    np.testing.assert_array_equal(ours["My-EXP3"].external_regret, theirs["DP-EXP3-Lap"].external_regret)


def test_labels_parameters_and_pickles(registered):
    algorithm = make_algorithm("My-EXP3", epsilon=0.5, label="half")
    assert algorithm.name == "half" and make_algorithm("My-EXP3").name == "My-EXP3"
    sent = pickle.loads(pickle.dumps(algorithm))
    assert sent.guarantee(n_arms=2, horizon=9).epsilon == 0.5
    with refused(TypeError, "My-EXP3", "'rate'"):
        make_algorithm("My-EXP3", rate=1)


def test_the_command_line_runs_it_and_remembers_its_code(registered, tmp_path):
    texts = ["My-EXP3:epsilon=2", "EXP3"]
    experiment = experiment_from(["Stochastic"], texts, epsilon=None, trials=2, horizon=20, seed=0)
    configuration = experiment.configuration()
    assert f"{__name__}.mine" in configuration["made_by"]
    assert not [name for name in configuration["made_by"] if name.startswith("dp_bandit_envs.")]
    results = run(experiment, ResultsFolder(tmp_path / "out", configuration))
    assert results.names == ["My-EXP3 (epsilon=2)", "EXP3"]


def test_a_function_that_is_defined_again_takes_the_place_of_the_older_one():
    """As where a cell of a notebook is edited and run again."""
    names = {"__name__": "a_notebook", "Algorithm": Algorithm, "Exp3": Exp3}
    for rate in (0.5, 0.25):
        exec(f"def made(): return Algorithm('Cell', lambda: Exp3(exploration_rate={rate}))", names)
        register_algorithm("Cell", names["made"])
        assert make_algorithm("Cell").agent().exploration_rate == rate
    with refused(NameTakenError, "'cell'", "Cell"):
        register_algorithm("cell", names["made"])
    with refused(NameTakenError, "'Cell'"):
        register_algorithm("Cell", mine)


@pytest.mark.parametrize(
    ("name", "maker", "error", "words"),
    [
        ("EXP3", mine, NameTakenError, ("name", "EXP3")),
        ("exp3-TAU", mine, NameTakenError, ("name", "EXP3-tau")),
        ("two words", mine, ValueError, ("name", "'two words'")),
        ("A:b", mine, ValueError, ("name", "'A:b'")),
        (7, mine, WrongTypeError, ("name", "int")),
        ("Mine", Exp3, WrongTypeError, ("Algorithm",)),
        ("Mine", None, WrongTypeError, ("Algorithm",)),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_no_algorithm_is_refused(name, maker, error, words):
    with refused(error, *words):
        register_algorithm(name, maker)
    with pytest.raises(UnknownNameError):
        make_algorithm("Mine")


def test_a_wrapping_is_a_function_that_returns_an_environment():
    """Or a class that needs the environment alone."""
    env = gym.make(GAME, horizon=5)
    assert isinstance(Algorithm("mine", Exp3, ExactSums).wrap(env), ExactSums)
    with refused(TypeError, "wrapping", "lambda env", "a LaplaceClipRescale"):
        Algorithm("mine", Exp3, LaplaceClipRescale(env, epsilon=1.0))
    with refused(TypeError, "wrapping", "lambda env", "LaplaceClipRescale", "epsilon"):
        Algorithm("mine", Exp3, LaplaceClipRescale)
    for returned, word in ((None, "None"), (3, "int")):
        with refused(TypeError, "wrapping", "lambda env", word):
            play(env, Algorithm("mine", Exp3, lambda env, returned=returned: returned))


def test_a_repr_shows_no_function_without_a_name():
    assert repr(make_algorithm("DP-KLUCB")).startswith("Algorithm('DP-KLUCB', parameters={'epsilon': 1.0,")
    assert repr(Algorithm("mine", Exp3, lambda env: env)) == "Algorithm('mine', make_agent=Exp3)"


# ---- own coins
OWN_COINS = ["Hedge", "DP-Hedge", "Lazy-Hedge", "DP-Epochs"]


def last_probabilities(algorithm, first_row, rounds, batch_size):
    """Return Hedge's probabilities in the last step of a game in which round 1 is `first_row` and the others are 0."""
    table = np.zeros((rounds, 2))
    table[0] = first_row
    game = MiniBatchAverage(ExpertsEnv(gains=Replay(table)), batch_size=batch_size)
    env, agent = algorithm.wrap(game), algorithm.agent(game)
    env.reset(seed=1)
    agent.begin(n_arms=2, horizon=env.get_wrapper_attr("horizon"), rng=np.random.default_rng(1))
    while True:
        arm = agent.select_arm()
        chances = agent.probabilities()
        seen, _, terminated, _, _ = env.step(arm)
        if terminated:
            return chances
        agent.update(arm, seen)


@pytest.mark.parametrize("name", ["Hedge", "DP-Hedge"])
@pytest.mark.parametrize(("rounds", "batch_size"), [(3, 2), (7, 4), (5, 2), (8, 3)])
def test_the_draw_in_an_unfinished_last_batch_is_counted(name, rounds, batch_size):
    """With one whole batch the second step is beyond the horizon of 1, and its draw sees the first: not 0-DP."""
    algorithm = make_algorithm(name)
    declared = algorithm.guarantee_in(MiniBatchAverage(ExpertsEnv(2, rounds), batch_size=batch_size))
    one, other = (last_probabilities(algorithm, row, rounds, batch_size) for row in ([1, 0], [0, 1]))
    # All steps after the first have these two laws, so the KL divergences add up.
    steps = -(-rounds // batch_size) - 1
    divergence = steps * float((one * np.log(one / other)).sum())
    assert 0 < divergence <= declared.rho


class State(NamedTuple):
    """The sum of each arm's gains, `(n_arms,)`."""

    totals: np.ndarray


def keep(state, arm, gain, rng):
    """Release the largest gain so far, as each round after a changed one shows it again."""
    state.totals[arm] = max(state.totals[arm], gain)
    return float(state.totals[arm]), 1


class Remembers(Mechanism):
    """A foreign mechanism that says truly that one round changes all later releases."""

    release = staticmethod(keep)
    withholds = False

    def new_state(self, below):
        return State(np.zeros(below.n_values))

    def guarantee(self, below):
        return PrivacyGuarantee.none("it adds no noise")

    def gains_in_a_round(self, below):
        """Return those of all rounds."""
        return below.gains_in_a_round * below.horizon

    def sensitivity(self, below):
        """Return the sum over all rounds."""
        return below.sensitivity * below.horizon


class Losses(ExpertsEnv):
    """A foreign game whose values are in [-1, 1], so that a round moves scores twice as far."""

    values = ValueRange(-1.0, 1.0, 2 * math.sqrt(3), "sup", 2.0, True)
    sensitivity = 6.0

    def __init__(self, adversary):
        super().__init__(gains=adversary)
        self.sensitivity = 6.0


def tenfold(observation):
    """Return all gains times 10."""
    return {**observation, "gain": 10 * observation["gain"]}


def experts():
    return ExpertsEnv(gains=Deterministic(3, 9))


AMPLIFIED = {
    "observations": lambda: TransformObservation(experts(), tenfold, None),
    "mechanism": lambda: PrivacyBoundary(experts(), Remembers()),
    "batches of it": lambda: MiniBatchAverage(PrivacyBoundary(experts(), Remembers()), batch_size=9),
    "range": lambda: Losses(Deterministic(3, 9)),
}


def test_nothing_is_guaranteed_where_one_round_counts_for_more_than_the_proof_assumes():
    for how in AMPLIFIED:
        for name in [*OWN_COINS, "EXP3"]:
            found = make_algorithm(name).guarantee_in(AMPLIFIED[how]())
            assert found.model == "none" and found.theorem


@pytest.mark.parametrize("name", [*OWN_COINS, "EXP3"])
def test_batches_and_noise_below_leave_the_guarantee(name):
    algorithm = make_algorithm(name)
    nine = MiniBatchAverage(ExpertsEnv(gains=Deterministic(3, 20)), batch_size=2)
    for env in (experts(), LaplaceClipRescale(experts(), epsilon=math.inf), LaplaceClipRescale(nine, epsilon=100)):
        expected = algorithm.guarantee(n_arms=3, horizon=env.get_wrapper_attr("horizon"))
        assert algorithm.guarantee_in(env) == expected and expected.model == "central"


@pytest.mark.parametrize("name", [*OWN_COINS, "EXP3", "EXP3-tau"])
def test_inside_a_boundary_the_smaller_guarantee_counts(name):
    """The boundary's holds for any agent; EXP3 declared 22.3 and EXP3-tau 5.67 where one of .5 was below them."""
    algorithm = make_algorithm(name)
    for horizon in (20, 500):
        game = ExpertsEnv(gains=Deterministic(3, horizon))
        own = algorithm.guarantee_in(game)
        for below in (
            LaplaceClipRescale(game, epsilon=0.5),
            LaplaceClipRescale(MiniBatchAverage(game, batch_size=2), epsilon=0.05),
            LaplaceClipRescale(game, epsilon=50),
        ):
            found, stated = algorithm.guarantee_in(below), below.guarantee
            least = min(stated.epsilon_at(1e-6), own.epsilon_at(1e-6))
            assert found.epsilon_at(1e-6) <= (1 + 1e-6) * least
            assert found.covers == ("arms" if found.epsilon_at(1e-6) < stated.epsilon_at(1e-6) else stated.covers)


# ---- the wrapper of the design
def test_batch_sizes_by_hand():
    """4 s / epsilon rounds, rounded up, unless that leaves fewer than 64 batches."""
    assert standard_batch_size(1.0, 8192) == 4
    assert standard_batch_size(0.1, 8192) == 40
    assert standard_batch_size(0.3, 8192) == 14  # 13.3
    assert standard_batch_size(10.0, 8192) == 1
    assert standard_batch_size(0.1, 1024) == 16  # 40, but 1024 / 64 are the most
    assert standard_batch_size(0.1, 8192, sensitivity=3.0) == 120
    assert standard_batch_size(0.1, 8192, sensitivity=20.0) == 128
    assert [standard_batch_size(1.0, rounds) for rounds in (1, 63, 64, 128, 256)] == [1, 1, 1, 2, 4]
    assert standard_batch_size(math.inf, 8192) == 1
    assert standard_batch_size(1e-300, 8192) == 128


def tau_in(env, **options):
    wrapped = make_algorithm("Clipped-Lap", **options).wrap(env)
    return round(env.get_wrapper_attr("horizon") / wrapped.get_wrapper_attr("horizon"))


def test_batches_depend_on_public_facts_only():
    """Games of the same size have the same batches whatever they pay; graphs and experts by their sensitivity."""
    table = np.random.default_rng(0).random((2048, 3))
    taus = {tau_in(BanditEnv(one), epsilon=0.5) for one in (GainTable(table), GainTable(table[::-1] ** 3))}
    assert taus == {8}
    assert tau_in(gym.make("DPBandit-Graph-v0", graph="cycle", n_arms=5, horizon=6400), epsilon=0.5) == 24
    assert tau_in(gym.make("DPBandit-Experts-v0", n_arms=10, horizon=6400), epsilon=0.5) == 80
    assert tau_in(BanditEnv(Stochastic(horizon=6400)), epsilon=0.5, batch_size=5) == 5
    assert tau_in(BanditEnv(Stochastic(horizon=3)), epsilon=0.5, batch_size=50) == 3


def test_releases_are_clipped_averages_with_the_declared_noise():
    """Gains of 1/2: of 4,000 averages, P(|Lap(1/4)| >= 1/2) = e^-2 are at an end. False alarm: 6e-7 (five errors)."""
    env = wrap_in_clipped_averages(BanditEnv(GainTable(np.full((16_000, 2), 0.5))), epsilon=1.0)
    env.reset(seed=3)
    released = np.array([env.step(0)[1] for _ in range(4000)])
    assert released.min() == 0 and released.max() == 1
    ends, expected = np.mean((released == 0) | (released == 1)), math.exp(-2)
    assert abs(ends - expected) < 5 * math.sqrt(expected * (1 - expected) / 4000)
    inside = np.abs(released - 0.5)
    # E |N| of what is clipped at 1/2 is (1 - e^-2) / 4, with a standard deviation below 1/4.
    assert abs(inside.mean() - (1 - expected) / 4) < 5 * 0.25 / math.sqrt(4000)


def test_without_noise_nothing_changes():
    bare, wrapped = make_algorithm("EXP3"), make_algorithm("Clipped-Lap", epsilon=math.inf)
    games = [play("Stochastic", one, horizon=500, seed=2) for one in with_one_noise(bare, wrapped).values()]
    assert games[0].arms.tolist() == games[1].arms.tolist()
    assert wrapped.guarantee(n_arms=4, horizon=500).model == "none"


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_it_guarantees_its_epsilon_in_every_kind_of_game(epsilon):
    algorithm = make_algorithm("Clipped-Lap", epsilon=epsilon)
    for env in (
        BanditEnv(Stochastic(horizon=2000)),
        gym.make("DPBandit-Graph-v0", graph="star", n_arms=5, horizon=2000),
        gym.make("DPBandit-Experts-v0", horizon=2000),
        gym.make("DPBandit-Trial-v0"),
    ):
        guarantee = algorithm.guarantee_in(env)
        assert (guarantee.epsilon, guarantee.delta, guarantee.covers) == (epsilon, 0.0, "arms and releases")
    assert algorithm.guarantee(n_arms=4, horizon=63).model == "local"
    assert (algorithm.guarantee(n_arms=4, horizon=8192).model == "central") == (epsilon < 4)


@pytest.mark.thorough
@pytest.mark.parametrize(("base", "epsilon"), [("EXP3", 1.0), ("TS", 0.1)])
def test_it_loses_exactly_its_epsilon(base, epsilon):
    """In batches: 128 rounds in 64 batches of two."""
    loss = exact_loss(make_algorithm("Clipped-Lap", epsilon=epsilon, base=base), horizon=128)
    assert loss.holds and loss.ratio == pytest.approx(1.0, rel=1e-7)
    assert loss.declared.epsilon == epsilon


@pytest.mark.thorough
@pytest.mark.parametrize("base", ["EXP3", "TS"])
def test_it_keeps_the_rules_of_algorithms(base):
    """False alarm: 5e-7."""
    check_algorithm(make_algorithm("Clipped-Lap", base=base), games=100)


@pytest.mark.thorough
def test_every_base_by_name_and_any_agent_of_ones_own_plays_behind_it():
    made = {base: make_algorithm("Clipped-Lap", base=base, label=base) for base in BASES}
    made["class"] = make_algorithm("Clipped-Lap", base=Ucb, label="class")
    made["function"] = make_algorithm("Clipped-Lap", base=lambda: Ucb(), label="function")
    played = simulate("Stochastic", made, horizon=200, trials=2, seed=1)
    assert all(outcome.guarantee.epsilon == 1.0 for outcome in played.values())
    assert learns_from_sums(Ucb) and learns_from_sums(lambda: Ucb()) and not learns_from_sums(Exp3)
    hedge = make_algorithm("Clipped-Lap", base=Hedge)
    assert hedge.feedback == "full" and hedge.refusal(BanditEnv(Stochastic())) is not None


def test_the_wrapper_alone_can_be_pickled_and_plays_as_the_name_does():
    wrapping = pickle.loads(pickle.dumps(standard_wrapper(Ucb, epsilon=0.5)))
    mine, named = Algorithm("mine", Ucb, wrapping), make_algorithm("Clipped-Lap", epsilon=0.5, base=Ucb)
    games = [play("Stochastic", one, horizon=600, seed=4) for one in with_one_noise(mine, named).values()]
    assert games[0].arms.tolist() == games[1].arms.tolist()
    assert mine.guarantee(n_arms=4, horizon=600) == named.guarantee(n_arms=4, horizon=600)


def test_it_is_compiled():
    with always_compiled():
        outcome = simulate("Stochastic", ["Clipped-Lap"], horizon=700, trials=2, seed=6)["Clipped-Lap"]
    assert outcome.engine in ("compiled", "lanes")

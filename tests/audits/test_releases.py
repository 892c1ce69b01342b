"""The law of an agent's own draws, and drivers that release what the audit sees, bit for bit."""

import inspect
import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries.replay import GainTable, Replay
from dp_bandit_envs.agents import Exp3, Hedge, LazyHedge
from dp_bandit_envs.agents.exp3 import select
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.audits import exact_loss
from dp_bandit_envs.audits.draw_laws import _Laws, divergence_over_order, draw_losses, epsilon_of, select_law
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import BoundaryError, NotAuditedError
from dp_bandit_envs.privacy.mechanisms import BlockSums, CounterSums, LaplaceClipRescale, MiniBatchAverage
from dp_bandit_envs.wrappers import ExactSums, boundary, vector
from tests.audits.test_exact_loss import NO_NOISE, NOISY, ON_PAYOFFS, HalfTheNoise
from tests.tools.exact_laws import hedge_law, lazy_law
from tests.tools.refusals import refused

TABLE = np.array([[1, 0], [0, 0], [1, 1], [0, 1.0]])


def law(algorithm, table, game=BanditEnv):
    env = ExpertsEnv(gains=GainTable(table)) if game is ExpertsEnv else BanditEnv(GainTable(table))
    return _Laws(algorithm, env).arm_law(table)


def close(one, other):
    assert one.keys() == other.keys()
    for arms in one:
        assert one[arms] == pytest.approx(other[arms], abs=1e-12)


def test_hedges_law_is_that_of_its_definition():
    algorithm = Algorithm("mine", lambda: Hedge(learning_rate=0.7), wrapping=ExactSums)
    close(law(algorithm, TABLE, ExpertsEnv), hedge_law(TABLE, 0.7))
    # Lazy hedges law sums over what no sequence shows.
    settings = {"learning_rate": 0.7, "fresh_probability": 0.2, "most_draws": 2}
    close(law(Algorithm("mine", lambda: LazyHedge(**settings)), TABLE, ExpertsEnv), lazy_law(TABLE, 0.7, 0.2, 2))


def test_exp3_by_hand():
    """K = 2, gamma = .4: a gain of 1 in round 1 makes the score .2 / .5 = .4, and p = .6 sigma(.4) + .2."""
    found = law(Algorithm("mine", lambda: Exp3(exploration_rate=0.4)), np.array([[1, 0], [0, 0.0]]))
    p = 0.6 / (1 + math.exp(-0.4)) + 0.2
    close(found, {(0, 0): p / 2, (0, 1): (1 - p) / 2, (1, 0): 0.25, (1, 1): 0.25})
    loss = exact_loss(Algorithm("mine", lambda: Exp3(exploration_rate=0.4)), horizon=2)
    assert loss.by_round == pytest.approx([math.log(0.5 / (1 - p)), 0.0], abs=1e-12)
    assert loss.arms == (0, 1) or loss.arms == (1, 0)
    assert loss.declared.model == "none" and loss.holds


def test_the_draw_of_an_unfinished_batch_counts():
    """Five rounds in batches of two: three draws, of which the last one learns nothing but is seen."""
    found = law(make_algorithm("EXP3-tau", batch_size=2), np.zeros((5, 2)))
    assert {len(arms) for arms in found} == {3}
    assert math.fsum(found.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.thorough
def test_zcdp_alone_can_refute():
    """DP-Hedge at a third more than its rate: at delta = 1e-6 a game of four rounds is too short to show it."""
    honest = make_algorithm("DP-Hedge", epsilon=1.0)
    rate = make_algorithm("DP-Hedge", epsilon=1.35).make_agent().rate(2, 4)
    faster = Algorithm(
        "mine",
        lambda: Hedge(learning_rate=rate),
        feedback="full",
        wrapping=ExactSums,
        own_guarantee=honest.own_guarantee,
    )
    loss = exact_loss(faster)
    assert loss.epsilon < loss.declared.epsilon
    assert loss.rho > loss.declared.rho and not loss.holds
    # A false claim is refuted.
    honest = make_algorithm("DP-Epochs", epsilon=1.0)
    agent = make_algorithm("DP-Epochs", epsilon=4.0).make_agent
    louder = Algorithm("mine", agent, feedback="full", own_guarantee=honest.own_guarantee)
    assert not exact_loss(louder).holds
    assert exact_loss(honest).holds


def test_epsilon_at_a_delta_by_hand():
    """Randomised response with probabilities .75 and .25: ln 3 at delta 0; at delta .15, ln (.6 / .25)."""
    one, other = np.array([[0.75, 0.25]]), np.array([[0.25, 0.75]])
    assert epsilon_of(one, other, 0.15) == pytest.approx(math.log(0.6 / 0.25), rel=1e-12)
    assert epsilon_of(one, other, 0.5) == 0
    assert epsilon_of(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 0.5) == math.inf
    # KL of (.75, .25) from (.25, .75) is .5 ln 3, larger than every D_a / a; impossible outcomes make it infinite.
    one, other = np.array([[0.75, 0.25]]), np.array([[0.25, 0.75]])
    assert divergence_over_order(one, other) == pytest.approx(0.5 * math.log(3), rel=1e-12)
    assert divergence_over_order(np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])) == math.inf
    assert divergence_over_order(one, one) == pytest.approx(0, abs=1e-15)


def test_too_long_a_game_is_refused():
    with refused(NotAuditedError, "EXP3", 12, "sampled_loss"):
        draw_losses(make_algorithm("EXP3"), BanditEnv(GainTable(np.zeros((7, 2)))), 0.0)
    with refused(NotAuditedError, "EXP3", "charges"):
        import gymnasium

        exact_loss("EXP3", environment=gymnasium.make("DPBandit-Switching-v0", n_arms=2, horizon=4))


class Foreign:
    """An agent that is not made of functions."""

    def begin(self, *, n_arms, horizon, rng):
        """Forget."""

    def select_arm(self):
        return 0

    def update(self, arm, observation):
        """Learn nothing."""


def test_agents_that_are_not_made_of_functions_are_refused():
    """And so are other draws than uniform ones."""
    for agent, word in ((Foreign, "sampled_loss"), (Drawer, "integers")):
        with refused(NotAuditedError, word):
            exact_loss(Algorithm("mine", agent))


def test_draws_that_are_no_steps_or_not_uniform_are_refused():
    state = Exp3(exploration_rate=0.5).initial_state(2, 4)

    def keeps(state, rng):
        state.scores[0] = rng.random()
        return 0

    with refused(NotAuditedError, "state"):
        select_law(keeps, Exp3(exploration_rate=0.5).initial_state(2, 4))
    with refused(NotAuditedError, "normal"):
        select_law(lambda state, rng: int(rng.normal()), state)
    assert [branch[:2] for branch in select_law(lambda state, rng: 1, state)] == [(1.0, 1)]
    assert [branch.arm for branch in select_law(select, state)] == [0, 1]


class Drawer(Exp3):
    """EXP3 that draws its arm from an integer draw."""

    functions = Functions(lambda state, rng: int(rng.integers(2)), Exp3.functions.update)


# ---- drivers


ALL = ("scalar", "vector", "compiled")
FIRST_RELEASE = {"DP-UCB-INT": 64, "DP-SE": 2048, "DP-GOPE": 32, "AdaC-GOPE": 32, "GOPE": 32}
NOTHING_IN_NINE = (*FIRST_RELEASE, "DP-KLUCB", "DP-IMED", "DP-TT")


def algorithm(name):
    takes = inspect.signature(ALGORITHMS[name]).parameters
    return make_algorithm(name, **({"epsilon": 1.0} if "epsilon" in takes else {}))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["DP-EXP3-Lap", "DP-UCB"])
def test_compiled_releases_are_those_of_the_audit(name):
    assert exact_loss(algorithm(name), drivers=["compiled"]).differs == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NOISY, *NO_NOISE])
def test_compiled_releases_are_those_of_the_audit_for_every_algorithm(name):
    assert exact_loss(algorithm(name), horizon=FIRST_RELEASE.get(name), drivers=ALL).differs == ()
    if name in ON_PAYOFFS or name in NOTHING_IN_NINE:
        return
    if algorithm(name).feedback == "full":
        env = gym.make("DPBandit-Ball-v0", dimension=3, horizon=8)
        assert name == "Hedge" or exact_loss(algorithm(name), environment=env, drivers=ALL).differs == ()
    else:
        env = GraphEnv("star", n_arms=3, gains=GainTable(np.random.default_rng(0).random((9, 3))))
        assert exact_loss(algorithm(name), environment=env, drivers=ALL).differs == ()


@pytest.mark.parametrize(
    "mechanism",
    [
        LaplaceClipRescale(epsilon=1.0),
        MiniBatchAverage(batch_size=3),
        CounterSums(counter="hybrid", epsilon=1.0),
        HalfTheNoise(BlockSums(epsilon=1.0)),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_mechanisms_alone(mechanism):
    assert exact_loss(mechanism, drivers=("scalar", "vector")).differs == ()


def test_a_vector_form_with_half_the_noise_is_found(monkeypatch):
    """Its draws are its own code, so only a look at what it releases can find it."""
    whole = vector.LaplaceClipRescale._draw
    monkeypatch.setattr(vector.LaplaceClipRescale, "_draw", lambda self, seen: whole(self, seen) / 2)
    loss = exact_loss("DP-EXP3-Lap", drivers=("scalar", "vector"))
    assert loss.epsilon == pytest.approx(1.0, rel=1e-9)
    assert loss.differs == ("vector",) and not loss.holds
    # Clipped, nothing is withheld: then the values alone differ, and no count.
    assert exact_loss(LaplaceClipRescale(epsilon=1.0, outside="clip"), drivers=("vector",)).differs == ("vector",)


def test_a_driver_that_takes_a_gain_twice_is_found(monkeypatch):
    once = boundary.MechanismRun.feed

    def twice(self, gain, observed):
        once(self, gain, observed)
        once(self, gain, observed)

    monkeypatch.setattr(boundary.MechanismRun, "feed", twice)
    assert exact_loss(BlockSums(epsilon=1.0), drivers=("scalar",)).differs == ("scalar",)


class FailsAtAnEighth(LaplaceClipRescale):
    """Fails where a gain is .125, in words that show it."""

    @property
    def release(self):
        return release_unless_an_eighth


def release_unless_an_eighth(state, arm, gain, rng):
    """Fail at .125 alone, which no made-up table of an audit has."""
    if gain == 0.125:
        raise ValueError(f"gain {gain}")
    return gain + rng.laplace(0.0, 1.0), 1


@pytest.mark.filterwarnings("ignore")
def test_an_error_of_a_mechanism_shows_no_gain_of_the_environment():
    """Its own error was raised, with the gain in it."""
    env = BanditEnv(Replay(np.full((16, 2), 0.125)))
    assert exact_loss(FailsAtAnEighth(epsilon=1.0), environment=env).holds
    with refused(BoundaryError, "withheld", "drivers") as caught:
        exact_loss(FailsAtAnEighth(epsilon=1.0), environment=env, drivers=["scalar"])
    assert "0.125" not in str(caught.value) and caught.value.__context__ is caught.value.__cause__ is None


def test_unknown_drivers_are_refused():
    with refused(ValueError, "drivers", "threads"):
        exact_loss(BlockSums(epsilon=1.0), drivers=["threads"])

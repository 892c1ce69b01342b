"""SCRiBLe and OSMD on points: unbiased estimates by enumeration, plays inside the set, steps by hand, finite scores."""

import math

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Leaning, OneAxis
from dp_bandit_envs.agents import ball_osmd, scrible
from dp_bandit_envs.agents.ball_osmd import BallOsmd
from dp_bandit_envs.agents.scrible import Scrible
from dp_bandit_envs.decisions import Ball, Cube, Simplex
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.observations import Gains
from dp_bandit_envs.privacy.facts import Noise
from tests.tools.refusals import refused

SETS = {"ball": (Ball, scrible.select_in_ball), "cube": (Cube, scrible.select_in_cube)}


class Drawn:
    """A random stream that returns given numbers."""

    def __init__(self, *numbers):
        self.numbers = [*numbers]

    def random(self):
        """Return the next of them."""
        return self.numbers.pop(0)


def gain_vector(set_name, dimension, rng):
    """Return a gain vector that belongs to a set."""
    raw = rng.standard_normal(dimension)
    return raw / (np.linalg.norm(raw) if set_name == "ball" else np.abs(raw).sum())


def hessian(set_name, x):
    """Return the barrier's second derivative, from its formula."""
    if set_name == "cube":
        return np.diag(2 * (1 + x * x) / (1 - x * x) ** 2)
    rest = 1 - x @ x
    return 2 * np.eye(len(x)) / rest + 4 * np.outer(x, x) / rest**2


@pytest.mark.parametrize("length", [0.0, 1e-9, 0.7, 30.0, 1e4])
@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("set_name", SETS)
def test_scribles_estimate_is_unbiased_and_explores_the_dikin_ellipsoid(set_name, dimension, length):
    """Mean of d z sign sqrt(eigenvalue) eigenvector over all 2 d draws is the gain vector, relative to its size."""
    rng = np.random.default_rng(dimension)
    gains = gain_vector(set_name, dimension, rng)
    scores = rng.standard_normal(dimension)
    scores *= length / np.linalg.norm(scores)
    root = np.sqrt(1 + (scores @ scores if set_name == "ball" else scores * scores))
    centre = scores / (1 + root)
    mean_point, mean_estimate = np.zeros(dimension), np.zeros(dimension)
    sizes = []
    for draw in range(2 * dimension):
        state = scrible.start(dimension, 1.0, 0.0)
        state.scores[:] = scores
        point = np.zeros(dimension)
        SETS[set_name][1](state, point, Drawn((draw + 0.5) / (2 * dimension)))
        assert SETS[set_name][0](dimension).contains(point)
        step = point - centre
        if length < 100:
            # On the surface of the ellipsoid, and the direction is H times the step.
            assert step @ hessian(set_name, centre) @ step == pytest.approx(1, rel=1e-8)
            assert hessian(set_name, centre) @ step == pytest.approx(state.direction, rel=1e-7, abs=1e-7)
        estimate = dimension * (gains @ point) * state.direction
        sizes.append(np.abs(estimate).max())
        mean_estimate += estimate / (2 * dimension)
        mean_point += point / (2 * dimension)
    np.testing.assert_allclose(mean_point, centre, atol=1e-12)
    np.testing.assert_allclose(mean_estimate, gains, atol=1e-12 * max(1.0, *sizes))


@pytest.mark.parametrize("length", [0.0, 0.3, 1.0, 40.0])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_osmds_estimate_and_play_are_unbiased(dimension, length):
    """It plays scores / (1 + |scores|) on average, and the estimate's mean over all its plays is the gain vector."""
    rng = np.random.default_rng(dimension)
    gains = gain_vector("ball", dimension, rng)
    scores = rng.standard_normal(dimension)
    scores *= length / np.linalg.norm(scores)
    on_surface = length / (1 + length)
    plays = [(on_surface, (0.0,))] if length > 0 else []
    plays += [
        ((1 - on_surface) / (2 * dimension), (1 - 1e-12, (k + 0.5) / (2 * dimension))) for k in range(2 * dimension)
    ]
    mean_point, mean_estimate = np.zeros(dimension), np.zeros(dimension)
    for chance, draws in plays:
        state = ball_osmd.start(dimension, 10**8, 1.0, 0.0)
        state.scores[:] = scores
        point = np.zeros(dimension)
        ball_osmd.select(state, point, Drawn(*draws))
        ball_osmd.update(state, 0, Gains([float(gains @ point)], [1]))
        mean_point += chance * point
        mean_estimate += chance * (state.scores - scores)
    np.testing.assert_allclose(mean_point, scores / (1 + length), atol=1e-12)
    np.testing.assert_allclose(mean_estimate, gains, atol=1e-12 * (1 + length) * dimension)


def test_scribles_first_step_by_hand():
    """At 0 the Hessian is 2 I: the point is +-e_i / sqrt(2), and the estimate d z sqrt(2) (+-e_i).

    Draw 0.6 of 4 is number 2: axis 1, sign +. A released payoff of 0.25 with bound 1 stands for 0.5; at rate 0.1 the
    score becomes 0.1 * 2 * 0.5 * sqrt(2) on axis 1.
    """
    for select in (scrible.select_in_ball, scrible.select_in_cube):
        state = scrible.start(2, 0.1, 1.0)
        point = [0.0, 0.0]
        select(state, point, Drawn(0.6))
        assert point == pytest.approx([0.0, math.sqrt(0.5)])
        scrible.update(state, 0, Gains([0.25], [1]))
        assert state.scores.tolist() == pytest.approx([0.0, 0.1 * math.sqrt(2)])
        scrible.update(state, 0, Gains([0.9], [0]))
        assert state.scores.tolist() == pytest.approx([0.0, 0.1 * math.sqrt(2)])


def test_osmds_steps_by_hand():
    """Scores of 0 explore always. T = 4 keeps their length at most sqrt(4) - 1 = 1.

    Draw 0.9 of 4 is number 3: axis 1, sign -. Rate 0.1, d = 2, payoff 0.5: the score of axis 1 falls by 0.1. A second
    such round, at length 0.1, takes 0.11 more; a payoff of 1 at rate 10 would take it far beyond -1, and is drawn back.
    """
    state = ball_osmd.start(2, 4, 0.1, 0.0)
    point = [0.0, 0.0]
    for expected in (-0.1, -0.21):
        ball_osmd.select(state, point, Drawn(0.99, 0.9))
        assert point == [0.0, -1.0]
        ball_osmd.update(state, 0, Gains([0.5], [1]))
        assert state.scores.tolist() == pytest.approx([0.0, expected])
    ball_osmd.select(state, point, Drawn(0.0))
    assert point == pytest.approx([0.0, -1.0]) and state.drawn[0] == 0
    ball_osmd.update(state, 0, Gains([0.5], [1]))
    assert state.scores.tolist() == pytest.approx([0.0, -0.21])
    ball_osmd.select(state, point, Drawn(0.99, 0.9))
    ball_osmd.update(state._replace(push=20.0), 0, Gains([1.0], [1]))
    assert state.scores.tolist() == pytest.approx([0.0, -1.0])


@pytest.mark.parametrize("agent", [Scrible, BallOsmd])
def test_noise_that_was_rescaled_is_undone(agent):
    """A payoff released with bound b moves the scores as much as one that is 1 + b times larger without."""
    ends = []
    for bound, payoff in ((0.0, 0.6), (2.0, 0.2)):
        player = agent(learning_rate=0.05)
        player.see_noise(Noise(2.0, 1.0, bound))
        player.see_set(Ball(3))
        player.begin(dimension=3, horizon=10_000, rng=np.random.default_rng(1))
        for _ in range(30):
            player.update(player.select_point(), {"gain": np.array([payoff]), "observed": np.ones(1, np.int8)})
        ends.append(np.array(player._state.scores))
    np.testing.assert_allclose(*ends, rtol=1e-12)
    assert np.abs(ends[0]).max() > 0.1


def worst_case(set_name, dimension, rounds, rate, seed):
    """Play SCRiBLe on payoffs of 1 or -1 whatever it plays, which no gain vector gives; return the largest excess."""
    select, rng = SETS[set_name][1], np.random.default_rng(seed)
    state, point, farthest = scrible.start(dimension, rate, 0.0), [0.0] * dimension, 0.0
    for payoff in rng.choice([-1.0, 1.0], rounds):
        select(state, point, rng)
        size = math.sqrt(sum(x * x for x in point)) if set_name == "ball" else max(map(abs, point))
        farthest = max(farthest, size)
        scrible.update(state, 0, Gains([payoff], [1]))
        assert all(math.isfinite(score) for score in state.scores)
    return farthest


@pytest.mark.parametrize("rate", [0.01, 0.05, 3.0])
@pytest.mark.parametrize("set_name", SETS)
def test_no_play_leaves_the_set_and_scores_stay_finite(set_name, rate):
    """A rate of 3 is far beyond every rule, and drives the scores to where they are cut."""
    farthest = worst_case(set_name, 3, 5000, rate, 4)
    assert 0.9 < farthest <= 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SCRiBLe", "AS-SCRiBLe", "OSMD", "AS-OSMD"])
@pytest.mark.parametrize("env_id", ["DPBandit-Ball-v0", "DPBandit-Cube-v0"])
def test_ten_million_rounds_stay_inside(env_id, name):
    """The loop raises where a point is more than 1e-9 outside of the set, or NaN."""
    algorithm = make_algorithm(name)
    if env_id == "DPBandit-Cube-v0" and "OSMD" in name:
        return
    options = {"dimension": 3, "feedback": "bandit", "gap": 1.0, "gains": "OneAxis"}
    outcome = simulate(env_id, [algorithm], horizon=10**7, trials=1, seed=2, checkpoints=3, env_kwargs=options)[name]
    assert outcome.engine == "compiled" and np.isfinite(outcome.external_regret).all()


@pytest.mark.parametrize("agent", [Scrible, BallOsmd])
def test_other_sets_are_refused(agent):
    player = agent()
    player.see_set(Simplex(3))
    with refused(WrongGameError, agent.__name__, "simplex", "ball"):
        player.begin(dimension=3, horizon=10, rng=np.random.default_rng(0))
    with refused(ValueError, "learning_rate", 0):
        agent(learning_rate=0)


@pytest.mark.parametrize(("adversary", "kind"), [(Leaning, Ball), (OneAxis, Cube)])
def test_scrible_is_the_leader_of_its_barrier(adversary, kind):
    """The point in the middle of both signs of an axis maximises <x, scores> - R(x), by its gradient."""
    dimension = 4
    env = PointEnv(adversary(dimension, 50, gap=0.5), kind(dimension), feedback="bandit")
    agent = Scrible(learning_rate=0.2)
    play(env, agent, seed=3)
    scores, point, middle = agent._state.scores, [0.0] * dimension, np.zeros(dimension)
    for draw in (0.01, 0.13):
        agent.functions.select(agent._state, point, Drawn(draw))
        middle += np.array(point) / 2
    gradient = 2 * middle / (1 - (middle @ middle if kind is Ball else middle * middle))
    np.testing.assert_allclose(gradient, scores, rtol=1e-9)

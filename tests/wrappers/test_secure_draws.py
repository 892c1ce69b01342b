"""`draws="secure"`: exact noise on a grid, from a source without a seed (the extra `secure`)."""

import copy
import functools
import math
import sys
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, play, simulate
from dp_bandit_envs.adversaries import Deterministic, GainTable
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.audits.floats import float_loss
from dp_bandit_envs.conformance import check_wrapper
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import BoundaryError, NotAuditedError, SeedRefusedError, WrongGameError
from dp_bandit_envs.privacy import secure_draws
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.privacy.secure_draws import SecureStream, distance_on_grid, normal_distance, on_grid, secure_grid
from dp_bandit_envs.seeding import ADVERSARY, EpisodeStreams
from dp_bandit_envs.wrappers import (
    BlockSums,
    CounterSums,
    ExactSums,
    HybridSums,
    IntervalSums,
    LaplaceClipRescale,
    MiniBatchAverage,
    PrivacyBoundary,
    RandomizedResponse,
    vector,
)
from tests.tools.refusals import refused
from tests.tools.secure_stand_in import Seeded, accept_seeds

pytest.importorskip("opendp")

COUNTERS = ["logarithmic", "binary", "hybrid", "segment-trees", "padded-binary", "smooth-binary", "k-ary"]
OF_GAINS = {
    "gains": functools.partial(LaplaceClipRescale, epsilon=1.0, draws="secure"),
    "clipped": functools.partial(LaplaceClipRescale, epsilon=0.5, outside="clip", bound=3.0, draws="secure"),
    "bits": functools.partial(RandomizedResponse, epsilon=1.0, draws="secure"),
}
OF_SUMS = {
    "blocks": functools.partial(BlockSums, epsilon=1.0, draws="secure"),
    "intervals": functools.partial(IntervalSums, epsilon=16.0, intervals="uniform", draws="secure"),
    "padded": functools.partial(HybridSums, epsilon=1.0, pad_unplayed=True, draws="secure"),
    **{name: functools.partial(CounterSums, counter=name, epsilon=1.0, draws="secure") for name in COUNTERS},
    "normal": functools.partial(CounterSums, counter="binary", epsilon=1.0, noise="gaussian", draws="secure"),
}
WRAPS = OF_GAINS | OF_SUMS
TABLE = np.random.default_rng(8).random((40, 3))


def game(table=TABLE):
    return BanditEnv(GainTable(table))


def full(table=TABLE):
    return ExpertsEnv(gains=GainTable(table))


def stepped(env, rounds=16):
    """Return the last observation of a game without a seed."""
    env.reset()
    for t in range(rounds):
        observation = env.step(t % 3)[0]
    return observation


@pytest.mark.thorough
def test_games_are_played_without_a_seed_and_differ():
    for name in WRAPS:
        for make in [game, full]:
            env = WRAPS[name](make())
            one, other = ([np.concatenate(list(stepped(env).values())) for _ in range(2)] for _ in range(2))
            assert np.isfinite(one).all()
            if name != "bits":
                assert not np.array_equal(one, other)


@pytest.mark.parametrize("name", ["gains", "bits", "blocks", "hybrid", "normal"])
def test_a_seed_is_refused_by_name_and_a_copy_of_a_begun_game_too(name):
    env = WRAPS[name](game())
    assert not env.takes_seed
    with refused(SeedRefusedError, type(env).__name__, 3):
        env.reset(seed=3)
    copy.deepcopy(env).reset()
    above = (ExactSums if name in OF_GAINS else lambda env: env)(env)
    with refused(SeedRefusedError, 0):
        play(above, Ucb())
    assert len(play(above, Ucb(), seed=None).arms) == 40
    with refused(TypeError, type(env).__name__):  # as it has begun
        copy.deepcopy(env)


def test_a_fast_boundary_above_takes_no_seed_either_and_one_below_gets_a_new_one():
    inside = LaplaceClipRescale(game(), epsilon=1.0)
    inside.reset(seed=7)
    known = [inside.step(0)[0]["gain"][0] for _ in range(5)]
    env = LaplaceClipRescale(inside, epsilon=1.0, outside="clip", draws="secure")
    env.reset()
    # The seed that was given below before goes no further.
    assert [inside.step(0)[0]["gain"][0] for _ in range(5)] != known
    above = LaplaceClipRescale(env, epsilon=1.0)
    with refused(SeedRefusedError, "LaplaceClipRescale"):
        above.reset(seed=1)


@pytest.mark.parametrize("name", ["LaplaceClipRescale", "HybridSums", "BlockSums"])
def test_vector_boundaries_play_and_refuse_seeds(name):
    envs = gym.make_vec("DPBandit-Stochastic-v0", num_envs=3, horizon=12)
    env = getattr(vector, name)(envs, epsilon=1.0, draws="secure")
    observation, _ = env.reset()
    for _ in range(30):  # two games and a half
        observation = env.step(np.zeros(3, int))[0]
    values = observation["gain" if name == "LaplaceClipRescale" else "sum"][:, 0]
    assert len(set(values.tolist())) > 1
    for seed in (5, [5, 6, 7], [None, 6, None]):
        with refused(SeedRefusedError, name):
            env.reset(seed=seed)


def test_simulate_refuses_and_says_why():
    algorithm = Algorithm("EXP3", Exp3, OF_GAINS["gains"])
    with refused(SeedRefusedError, "LaplaceClipRescale", "simulate", "play(env, agent, seed=None)"):
        simulate(game, [algorithm])
    with refused(SeedRefusedError, "BlockSums"):
        simulate(game, [Algorithm("UCB", Ucb, OF_SUMS["blocks"])])

    class Mine(Exp3):
        def select_arm(self):
            return 0

    # Neither where an agent is not compiled, nor where the environment comes with the wrapper.
    with refused(SeedRefusedError, "simulate"):
        simulate(game, [Algorithm("mine", Mine, OF_GAINS["gains"])])
    with refused(SeedRefusedError, "simulate"):
        simulate(lambda: OF_GAINS["gains"](game()), ["EXP3"])


@pytest.mark.parametrize("name", ["blocks", "intervals"])
def test_sums_of_long_games_are_refused_as_they_would_be_rounded(name):
    with refused(WrongGameError, "draws='secure'", "4,194,304"):
        WRAPS[name](BanditEnv(Deterministic(2, 2**22 + 1)))
    OF_SUMS["binary"](BanditEnv(Deterministic(2, 2**22 + 1)))


def test_the_source_is_not_numpy(monkeypatch):
    """No seeded stream begins for the noise, and a secure stream has no NumPy method and no state to copy."""
    env = OF_SUMS["hybrid"](game())
    asked = []
    begin = EpisodeStreams.next
    monkeypatch.setattr(EpisodeStreams, "next", lambda self, *args: asked.append(self._role) or begin(self, *args))
    env.reset()
    assert asked == [ADVERSARY]
    rng = env._rng
    assert type(rng) is SecureStream and not vars(rng)
    assert not [name for name in dir(np.random.Generator) if hasattr(rng, name) and name[0] != "_" and name != "random"]


def test_a_mechanism_that_was_not_made_for_it_draws_nothing():
    """A counter's fast function asks for `laplace`, which a secure stream has not, and the game ends."""

    class Mine(MECHANISMS["LaplaceClipRescale"]):
        def release_for(self, inputs):
            return self.release

    env = PrivacyBoundary(game(), Mine(epsilon=1.0, draws="secure"))
    env.reset()
    with refused(BoundaryError, "PrivacyBoundary"):
        env.step(0)


def test_laplace_noise_has_delta_0():
    for name in ["blocks", "hybrid", "gains", "k-ary"]:
        for epsilon in [0.001, 100.0]:
            wrap = functools.partial(WRAPS[name].func, **{**WRAPS[name].keywords, "epsilon": epsilon})
            guarantee = wrap(game()).guarantee
            assert guarantee.epsilon == epsilon and guarantee.delta_at(epsilon) == 0.0 == guarantee.draw_distance
            assert guarantee.epsilon_at(1e-300) == epsilon and "fast" not in str(guarantee)
            assert guarantee == wrap(game()).guarantee
    # Standard deviation 12.3 sqrt(6) on a grid of 2^-30 or so: less than 1e-15 in all.
    guarantee = OF_SUMS["normal"](game()).guarantee
    assert 0 < guarantee.draw_distance < 1e-15 and guarantee.delta == 1e-6
    fast = CounterSums(game(), counter="binary", epsilon=1.0, noise="gaussian").guarantee
    assert (guarantee.rho, guarantee.noise_law.gaussian) == pytest.approx((fast.rho, fast.noise_law.gaussian), rel=1e-6)
    assert guarantee.noise_law.gaussian > fast.noise_law.gaussian  # which leaves some delta to its draws


@pytest.mark.parametrize("deviation", [1.5, 10.0, 40.0])
def test_the_distance_of_discrete_normal_draws_is_counted(deviation):
    points = np.arange(-600, 601)
    law = np.exp(-(points**2) / (2 * deviation**2))
    edges = np.array([math.erfc(-edge / deviation / math.sqrt(2)) / 2 for edge in (*(points - 0.5), 600.5)])
    counted = np.abs(law / law.sum() - np.diff(edges)).sum() / 2
    assert counted <= normal_distance(deviation, 1) <= 3 * counted
    assert normal_distance(deviation, 7) == pytest.approx(7 * normal_distance(deviation, 1))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["laplace_steps", "normal_steps"])
@pytest.mark.parametrize("scale", [0.7, 3.0, 2.0**30])
def test_draws_have_their_law(kind, scale):
    """The distribution function is sqrt(ln(2 / 1e-6) / (2 N)) off somewhere with probability 1e-6 at most (DKW).

    False alarm: 1e-6.
    """
    n = 1500
    found = np.sort([getattr(SecureStream(), kind)(scale) for _ in range(n)])
    assert (found == np.round(found)).all()
    if scale > 100:
        z = found / scale
        tail = np.exp(-np.abs(z)) / 2
        normal = np.array([math.erfc(-each / math.sqrt(2)) / 2 for each in z])
        expected = normal if kind == "normal_steps" else np.where(z < 0, tail, 1 - tail)
        seen, last = np.arange(1, n + 1) / n, 1 / n
    else:
        points = np.arange(-60, 61)
        law = np.exp(-np.abs(points) / scale if kind == "laplace_steps" else -(points**2) / (2 * scale**2))
        expected, last = np.cumsum(law / law.sum()), 0.0
        seen = np.searchsorted(found, points, side="right") / n
    assert np.abs(expected - seen).max() <= math.sqrt(math.log(2 / 1e-6) / (2 * n)) + last


def test_a_value_is_rounded_to_the_grid_before_noise_is_added(monkeypatch):
    """With draws of 3 steps, releases of two gains in one step are equal, and exact."""
    accept_seeds(monkeypatch)
    monkeypatch.setattr(Seeded, "laplace_steps", lambda self, scale: 3.0)
    env = LaplaceClipRescale(game(), epsilon=1.0, bound=0.0, outside="clip", draws="secure")
    grid = secure_grid(1.0, 1.0)
    assert grid == 2.0**-30
    for gain in (0.0, 0.3, 0.9, 0.5 + grid * 0.999):
        env = LaplaceClipRescale(game(np.full((2, 3), gain)), epsilon=1.0, bound=0.0, outside="clip", draws="secure")
        env.reset(seed=1)
        assert env.step(0)[0]["gain"][0] == math.floor(gain / grid) * grid + 3 * grid


EXACT = [(name, make, 1.0) for name in OF_SUMS for make in (game, full)]
EXACT += [(name, game, epsilon) for name in ("blocks", "intervals", "binary", "normal") for epsilon in (1e-4, 50.0)]


@pytest.mark.parametrize(("name", "make", "epsilon"), EXACT)
def test_sums_are_exact(name, make, epsilon, monkeypatch):
    """Every release less the rounded gains is a whole number of steps, and as in whole numbers of any size."""
    accept_seeds(monkeypatch)
    wrap = functools.partial(OF_SUMS[name].func, **{**OF_SUMS[name].keywords, "epsilon": epsilon})
    env = wrap(make())
    env.reset(seed=2)
    state = env._run._state.value
    grids = state.grids if name == "intervals" else [state.grid]
    for t in range(40):
        sums = env.step(t % 3)[0]["sum"]
        if name == "intervals" and epsilon < 50:
            assert not len(grids) and not sums.any()  # its first interval is longer than the game
            continue
        for total in sums:
            steps = Fraction(float(total)) / Fraction(float(min(grids)))
            assert steps.denominator == 1 and abs(steps) < 2**53
    assert (env._rng.drawn or not len(grids)) and all(abs(each) < 2**40 for each in env._rng.drawn)
    if name == "binary" and make is game:
        # Arm 0 after 14 items (1110 in base 2): the nodes drawn at its items 8, 12 and 14.
        items = [on_grid(float(gain), state.grid) for gain in TABLE[::3, 0]]
        drawn = env._rng.drawn[::3]
        exact = sum(map(Fraction, items)) + Fraction(state.grid) * (drawn[7] + drawn[11] + drawn[13])
        assert Fraction(float(sums[0])) == exact


def test_the_distance_on_a_grid_by_hand():
    inputs = LaplaceClipRescale(full(), epsilon=1.0).inputs  # three gains in [0, 1]
    assert distance_on_grid(3.0, 2.0**-10, inputs) == 3.0  # never more than the widths
    assert distance_on_grid(1.0, 2.0**-10, inputs) == 1 + 3 * 2.0**-10
    assert distance_on_grid(1.0, 4.0, inputs) == 13.0  # a step of 4 does not divide the range
    assert distance_on_grid(1.0, 0.25, inputs, l2=True) == pytest.approx(1 + math.sqrt(3) / 4)
    assert [on_grid(each, 0.25) for each in (0.3, -0.3, 0.25, -0.1)] == [0.25, -0.25, 0.25, 0.0]
    # Random bits are multiples of a 53rd power.
    found = np.array([SecureStream().random() for _ in range(100)])
    assert ((found >= 0) & (found < 1)).all() and (found * 2**53 == np.round(found * 2**53)).all()
    assert (found * 2**52 != np.round(found * 2**52)).any()
    # In exact numbers: |rounded - rounded'| / scale is at most epsilon for averages that are 1 / tau apart.
    for batch in [1, 3, 7]:
        for epsilon in [1e-6, 0.01, 1.0, 1000.0]:
            env = LaplaceClipRescale(MiniBatchAverage(game(), batch_size=batch), epsilon=epsilon, draws="secure")
            state = env.mechanism.new_state(env.inputs)
            rng, worst = np.random.default_rng(batch), Fraction(0)
            for low in [*(rng.random(200) * (1 - 1 / batch)), *(np.arange(1, 5) * state.grid * (1 - 2**-52))]:
                high = min(1.0, low + 1 / batch)
                apart = Fraction(on_grid(high, state.grid)) - Fraction(on_grid(low, state.grid))
                worst = max(worst, abs(apart) / Fraction(state.scale))
            assert worst <= Fraction(epsilon)
            assert state.scale <= 1.01 / (batch * epsilon) + 2 * state.grid / epsilon


def test_what_has_no_exact_form_is_refused_by_name():
    with refused(ValueError, "own-norm"):
        CounterSums(full(), counter="k-ary", epsilon=1.0, noise="own-norm", draws="secure")
    for counter, noise in (("honaker", "laplace"), ("honaker", "gaussian"), ("square-root", None)):
        with refused(ValueError, "draws='secure'", repr(counter), "fractions", "'k-ary'"):
            CounterSums(game(), counter=counter, epsilon=1.0, noise=noise, draws="secure")
    with refused(ValueError, "redraw"):
        IntervalSums(game(), epsilon=1.0, release="redraw", draws="secure")
    with refused(ValueError, "draws", "safe"):
        LaplaceClipRescale(game(), epsilon=1.0, draws="safe")
    # The audit of floats says that there is nothing to find.
    with refused(NotAuditedError, "LaplaceClipRescale"):
        float_loss(OF_GAINS["gains"](game()).mechanism)


def test_without_opendp_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with refused(ImportError, "opendp", "dp-bandit-envs[secure]"):
        LaplaceClipRescale(game(), epsilon=1.0, draws="secure")
    LaplaceClipRescale(game(), epsilon=1.0)


def test_without_noise_nothing_is_drawn(monkeypatch):
    monkeypatch.setattr(secure_draws, "_measurement", None)
    for wrap in (LaplaceClipRescale, BlockSums, HybridSums, IntervalSums):
        env = wrap(game(), epsilon=math.inf, draws="secure")
        assert env.guarantee.model == "none"
        stepped(env)


LIKE_OTHERS = ("segment-trees", "padded-binary", "logarithmic")
SCALAR = {name: wrap for name, wrap in WRAPS.items() if name not in LIKE_OTHERS}


FEW = ("gains", "blocks", "hybrid", "normal")


@pytest.mark.thorough
@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in FEW else pytest.mark.slow) for n in SCALAR])
def test_wrappers_conform(name, monkeypatch):
    """With a stand-in for the source, which takes seeds. False alarm: 1e-6 each, for fixed seeds none."""
    accept_seeds(monkeypatch)
    wrap = SCALAR[name]
    form = getattr(vector, wrap.func.__name__)
    check_wrapper(wrap, vector=functools.partial(form, **wrap.keywords), games=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCALAR)
def test_wrappers_keep_their_epsilon_on_samples(name, monkeypatch):
    """False alarm: 1e-6 each, for fixed seeds none."""
    accept_seeds(monkeypatch)
    check_wrapper(SCALAR[name], games=1000)

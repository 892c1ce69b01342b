"""Parameters from guarantees, the numbers of the papers, and what a secured algorithm draws."""

import dataclasses
import math

import gymnasium as gym
import pytest

from dp_bandit_envs import Algorithm, Exp3, PrivacyGuarantee, algorithm_names, calibrate, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents.exp3 import default_exploration_rate
from dp_bandit_envs.algorithms import ALGORITHMS, paper_epsilon, secured
from dp_bandit_envs.algorithms.exp3_family import batches_guarantee, private_batch_size
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import SeedRefusedError, UnknownNameError, UnreachableGuaranteeError, WrongTypeError
from dp_bandit_envs.privacy import Mechanism
from dp_bandit_envs.theory.adversarial_bounds import (
    exp3_regret_bound,
    htinf_regret_bound,
    laplace_batch_size,
    switching_batch_size,
    tsallis_regret_bound,
)
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.tools.refusals import missing, refused

SIZE = {"n_arms": 4, "horizon": 2**12}
FREE = {name for name in ALGORITHMS if make_algorithm(name).guarantee(**SIZE).model == "none"}
NOT_PURE = {"DP-Hedge", "Lazy-Hedge", "AS-FTPL", "DP-FTRL", "AdaC-GOPE", "AdaC-UCB", "Tuned-TS"}
"""Their guarantees have a delta, whatever epsilon is."""


def test_private_ucb_gets_k_times_epsilon():
    """Arms compose in parallel, and the paper divides by K: K = 4, 5 times the target, within a millionth."""
    for k in (4, 5):
        found = calibrate("Private-UCB", epsilon=1.0, n_arms=k, horizon=1000)
        assert found.parameters["epsilon"] == pytest.approx(k, rel=1e-6)
        assert 1 - 1e-6 <= found.guarantee(n_arms=k, horizon=1000).epsilon <= 1.0


def test_an_algorithm_that_already_meets_it_is_unchanged():
    """The same parameters, hence the same noise for a seed; also where they change nothing.

    AS-FTPL at T = 2^18 keeps the noise that its regret needs, which is worth .101.
    """
    for name in ("DP-EXP3-Lap", "DP-UCB-BOUND", "AdaP-UCB", "LDP-UCB-B", "DP-Epochs", "Noisy-Hedge"):
        assert calibrate(name, epsilon=0.7, **SIZE).player == make_algorithm(name, epsilon=0.7).player
    size = {"n_arms": 4, "horizon": 2**18}
    found = calibrate("AS-FTPL", epsilon=1.0, delta=1e-6, **size)
    assert found.parameters["epsilon"] == 1.0
    assert found.guarantee(**size).epsilon == pytest.approx(0.101, abs=5e-4)


@pytest.mark.parametrize("name", ["DP-KLUCB", "DP-UCB", "LDP-UCB-L", make_algorithm("DP-SE", epsilon=30)], ids=str)
def test_an_epsilon_alone_is_refused_where_fast_draws_add_a_delta_that_is_not_small(name):
    """At epsilon = 30 they add .4 and more, from 35 on 1, beside which an epsilon says nothing."""
    size = {"n_arms": 3, "horizon": 100}
    for epsilon in (30, 40, 1000):
        with refused(UnreachableGuaranteeError, "fast draws add a delta of", "dp_bandit_envs.algorithms.secured"):
            calibrate(name, epsilon=epsilon, **size)
    with refused(UnreachableGuaranteeError, "draws='secure'"):
        simulate("Stochastic", name, epsilon=30, at_guarantee=True, horizon=100, trials=1)


def test_exact_noise_and_a_delta_reach_a_large_epsilon():
    size = {"n_arms": 3, "horizon": 100}
    pytest.importorskip("opendp")
    exact = calibrate(lambda epsilon: secured(make_algorithm("DP-SE", epsilon=epsilon)), epsilon=40, **size)
    assert exact.guarantee(**size).numbers() == "epsilon = 40"
    with_delta = calibrate("DP-SE", epsilon=40, delta=1e-6, **size).guarantee(**size)
    assert with_delta.epsilon_at(1e-6) <= 40
    assert calibrate("DP-SE", epsilon=16, **size).guarantee(**size).epsilon == 16


@pytest.mark.thorough
def test_an_algorithm_with_a_delta_gets_that_of_the_target():
    for name in sorted(NOT_PURE):
        assert calibrate(name, epsilon=0.5, delta=1e-3, n_arms=4, horizon=100).parameters["delta"] == 1e-3


def test_a_target_for_a_person_is_shared_by_their_rounds():
    found = calibrate("DP-EXP3-Lap", epsilon=2.0, rounds_per_person=4, **SIZE)
    assert found.parameters["epsilon"] == pytest.approx(0.5, rel=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(set(algorithm_names()) - FREE))
def test_every_private_algorithm_meets_a_target_with_a_delta(name):
    if name == "EXP3":
        return refuses(name, 0.5, 1e-6)
    found = calibrate(name, epsilon=0.5, delta=1e-6, **SIZE)
    reached = found.guarantee(**SIZE).epsilon_at(1e-6)
    assert reached <= 0.5
    if name == "Uniform":
        assert reached == 0
    elif name == "EXP3-tau":  # whole numbers: one less is too small
        size = found.parameters["batch_size"]
        assert make_algorithm(name, batch_size=size - 1).guarantee(**SIZE).epsilon_at(1e-6) > 0.5
    else:
        # The numbers of DP-UCB-INT's releases and of Lazy-Hedge's draws are whole, so their guarantees have steps.
        assert reached > 0.5 * {"DP-UCB-INT": 0.97, "Lazy-Hedge": 0.998}.get(name, 1 - 2e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(set(algorithm_names()) - FREE - {"EXP3", "EXP3-tau"}))
def test_pure_targets_are_met_without_a_delta_or_refused(name):
    if name in NOT_PURE:
        return refuses(name, 0.5, 0.0)
    guarantee = calibrate(name, epsilon=0.5, **SIZE).guarantee(**SIZE)
    reached = guarantee.pure_epsilon
    assert reached <= 0.5
    if name == "DP-UCB-INT":  # the number of its releases is whole; what it states first has a delta
        assert reached > 0.97 * 0.5 and guarantee.delta > 0 and guarantee.epsilon < reached
    else:
        assert guarantee.epsilon == reached and (reached >= 0.5 * (1 - 2e-6) or name == "Uniform")


def test_algorithms_without_privacy_are_refused():
    for name in sorted(FREE):
        with refused(UnreachableGuaranteeError, name, "must be private"):
            calibrate(name, epsilon=3.0, delta=1e-3, **SIZE)


def refuses(name, epsilon, delta):
    with refused(UnreachableGuaranteeError, name, f"epsilon = {epsilon:g}", f"delta = {delta:g}"):
        calibrate(name, epsilon=epsilon, delta=delta, **SIZE)


@pytest.mark.thorough
def test_other_parameters_are_kept_and_a_given_epsilon_is_only_checked():
    found = calibrate("DP-UCB-INT", epsilon=0.5, delta=1e-5, v=1.3, **SIZE)
    assert found.parameters["v"] == 1.3
    # A little of delta is left for fast draws.
    assert found.parameters["delta"] == 1e-5 and found.guarantee(**SIZE).epsilon_at(1e-5) <= 0.5
    assert calibrate("EXP3-tau", epsilon=5.0, delta=1e-6, batch_size=100, **SIZE).parameters["batch_size"] == 100
    with refused(UnreachableGuaranteeError, "EXP3-tau"):
        calibrate("EXP3-tau", epsilon=0.1, delta=1e-6, batch_size=2, **SIZE)


def test_wrong_targets_are_refused():
    for epsilon in (0.0, -1.0, math.nan, math.inf):
        with refused(ValueError, "epsilon", epsilon):
            calibrate("DP-SE", epsilon=epsilon, **SIZE)
    with refused(ValueError, "delta", 1.0):
        calibrate("DP-SE", epsilon=1.0, delta=1.0, **SIZE)
    with refused(UnknownNameError, "DP-SE"):
        calibrate("DP-SF", epsilon=1.0, **SIZE)
    for rounds in (0, 4097):
        with refused(ValueError, "rounds_per_person", rounds):
            calibrate("DP-SE", epsilon=1.0, rounds_per_person=rounds, **SIZE)


@pytest.mark.thorough
def test_simulate_compares_algorithms_at_equal_guarantees():
    """Also on a cycle, where a round reveals 3 gains; Private-UCB by itself adds more noise than it needs."""
    for game, more in (
        ("DPBandit-Stochastic-v0", {"means": [0.9, 0.6, 0.5]}),
        ("DPBandit-Graph-v0", {"graph": "cycle"}),
    ):
        options = {"horizon": 300, "trials": 2, "env_kwargs": more}
        equal = simulate(game, ["Private-UCB", "DP-SE"], epsilon=0.5, at_guarantee=True, **options)
        for outcome in equal.values():
            assert 0.5 * (1 - 2e-6) < outcome.guarantee.epsilon <= 0.5
        assert simulate(game, ["Private-UCB"], **options)["Private-UCB"].guarantee.epsilon < 0.5
    one = simulate("DPBandit-Stochastic-v0", "DP-EXP3-Lap", epsilon=1, at_guarantee=True, horizon=50)
    plain = simulate("DPBandit-Stochastic-v0", "DP-EXP3-Lap", horizon=50)
    assert (one["DP-EXP3-Lap"].external_regret == plain["DP-EXP3-Lap"].external_regret).all()


@pytest.mark.thorough
def test_simulate_at_a_guarantee_refuses_what_is_above_it_and_plays_what_guarantees_nothing():
    game, target = "DPBandit-Stochastic-v0", {"epsilon": 0.5, "at_guarantee": True, "horizon": 50}
    with refused(UnreachableGuaranteeError, "DP-SE", 1, 0.5):
        simulate(game, [make_algorithm("DP-SE", epsilon=1)], **target)
    assert simulate(game, ["UCB", "DP-SE"], **target)["UCB"].guarantee.model == "none"


@pytest.mark.thorough
def test_an_algorithm_and_a_function_are_calibrated_as_names_are():
    def half(epsilon):
        return make_algorithm("DP-SE", epsilon=2 * epsilon)

    assert calibrate(half, epsilon=1.0, **SIZE).parameters["epsilon"] == pytest.approx(1.0, rel=1e-5)
    fixed = make_algorithm("DP-SE", epsilon=0.7)
    assert calibrate(fixed, epsilon=1.0, **SIZE) is fixed
    with refused(UnreachableGuaranteeError, "DP-SE", 0.7, 0.5):
        calibrate(fixed, epsilon=0.5, **SIZE)
    named = calibrate("DP-UCB-INT:v=1.3", epsilon=1.0, delta=1e-6, **SIZE)
    assert named.parameters["v"] == 1.3


@pytest.mark.parametrize("epsilon", [1500.0, 1e9])
def test_a_huge_target_for_a_group_is_met_too(epsilon):
    """e^(epsilon / 2) is more than any double; next to nothing is left of delta, and the target is met without it."""
    found = calibrate("DP-UCB-INT", epsilon=epsilon, delta=0.1, n_arms=2, horizon=50, rounds_per_person=2)
    assert found.guarantee(n_arms=2, horizon=50).for_group(2).epsilon_at(0.1) <= epsilon


K, T = 4, 2**18


def wrapped(name, n_arms=K, horizon=T, **parameters):
    return make_algorithm(name, **parameters).wrap(gym.make("DPBandit-Stochastic-v0", n_arms=n_arms, horizon=horizon))


def first_state(env):
    """Return what the outermost mechanism begins a game with, and see that agents are told the same noise."""
    state = env.mechanism.new_state(env.inputs)
    assert (env.noise.scale, env.noise.bound) == (state.scale, state.bound)
    return state


def agent_above(algorithm, env):
    """Return its agent, told of the noise as `play` and `simulate` do."""
    agent = algorithm.agent()
    agent.see_noise(env.noise)
    return agent


# ---- numbers of the papers
def test_the_papers_epsilon():
    # Corollary 3.2: 28 K ln K + sqrt(112 K ln K ln T) = 155.26 + 88.02 at K = 4, T = 2^18.
    assert paper_epsilon(K, T) == pytest.approx(243.29, abs=0.005)
    assert 28 * 4 * math.log(4) == pytest.approx(155.26, abs=0.01)


def test_the_papers_batch_size():
    # Corollary 3.2: (7 K ln K)^(-1/3) T^(1/3) = 18.90, so tau = 19 and 13,797 batches.
    assert math.cbrt(T / (7 * K * math.log(K))) == pytest.approx(18.90, abs=0.005)
    assert switching_batch_size(K, T) == 19
    # Rounded up: 24^3 * 7 K ln K = 536,595.7, so a round more needs another unit.
    assert [switching_batch_size(K, horizon) for horizon in (536_595, 536_596)] == [24, 25]
    env = wrapped("EXP3-tau")
    assert (env.batch_size, env.horizon, env.sensitivity) == (19, 13797, pytest.approx(1 / 19))
    # Algorithm 1 with J = T // tau rounds: gamma = sqrt(K ln K / ((e - 1) J)). Batches never outlast the game.
    state = make_algorithm("EXP3-tau").agent().initial_state(K, env.horizon)
    assert state.exploration_rate == pytest.approx(math.sqrt(K * math.log(K) / ((math.e - 1) * 13797)))
    assert wrapped("EXP3-tau", horizon=3).horizon >= 1 and wrapped("Batched-Lap-EXP3", horizon=3, epsilon=0.01).horizon


def test_what_exp3_tau_really_guarantees_and_what_its_paper_claims():
    guarantee = make_algorithm("EXP3-tau").guarantee(n_arms=K, horizon=T)
    # 13,797 draws, each moved by at most .3417 / 19; the bound 1 / 19 alone gave 26.6 at delta = T^-2.
    assert guarantee.epsilon == pytest.approx(13797 * 0.3417 / 19, rel=1e-4)
    assert guarantee.epsilon_at(T**-2) == pytest.approx(1.436, abs=0.001)
    claimed = make_algorithm("EXP3-tau").paper_guarantee(n_arms=K, horizon=T)
    # 4 T / tau^3 + sqrt(16 ln T T / tau^3) with T / tau^3 = 38.219: 152.9 + 87.3 (its rounding of tau gives 243.3).
    assert claimed.epsilon == pytest.approx(240.2, abs=0.1)
    assert claimed.delta == pytest.approx(T**-2)


def test_what_exp3_guarantees_by_itself():
    guarantee = make_algorithm("EXP3").guarantee(n_arms=K, horizon=T)
    assert guarantee.epsilon == pytest.approx(0.34106 * T, rel=1e-4)
    assert guarantee.epsilon_at(T**-2) == pytest.approx(109.4, abs=0.1)
    # With exploration rate .9 the mixture's ratio, ln((4 * .1 + .9) / .9) = 0.3677, is the smaller one.
    explorer = make_algorithm("EXP3", exploration_rate=0.9).guarantee(n_arms=4, horizon=10)
    assert explorer.epsilon == pytest.approx(10 * math.log(1.3 / 0.9))
    assert make_algorithm("EXP3", exploration_rate=1).guarantee(n_arms=4, horizon=10).epsilon == 0


def test_algorithm_1_keeps_what_is_within_ln_T_over_epsilon():
    state = first_state(wrapped("DP-EXP3-Lap", epsilon=2.0))
    assert (state.scale, state.bound, state.reject) == pytest.approx((0.5, math.log(T) / 2, True))


def test_batches_of_one_over_epsilon():
    for name in ["Batched-Lap-EXP3", "Batched-Lap-HTINF"]:
        for epsilon, expected in [
            (1.0, 1),
            (20.0, 1),
            (math.inf, 1),
            (0.5, 2),
            (0.3, 4),
            (0.1, 10),
            (0.01, 100),
            (0.003, 334),
        ]:
            assert laplace_batch_size(epsilon) == expected
            env = wrapped(name, epsilon=epsilon)
            assert env.horizon == T // expected
            state = first_state(env)
            assert state.scale <= 1 + 2e-9
            if expected > 1:
                assert state.scale == pytest.approx(1 / (expected * epsilon))
                # b = scale * ln of the number of releases.
                assert state.bound == pytest.approx(state.scale * math.log(T // expected))


def test_batched_htinf_uses_the_papers_second_moment_and_undoes_the_rescaling():
    algorithm = make_algorithm("Batched-Lap-HTINF", epsilon=0.3)
    env = wrapped("Batched-Lap-HTINF", epsilon=0.3)
    state = agent_above(algorithm, env).initial_state(K, env.horizon)
    assert state.sigma == pytest.approx(math.sqrt(6))
    assert state.bound == pytest.approx(first_state(env).bound, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 7.0])
def test_lambda_htinf_learns_behind_its_own_noise(epsilon):
    algorithm = make_algorithm("DP-Lambda-Lap", epsilon=epsilon, base="HTINF")
    env = wrapped("DP-Lambda-Lap", epsilon=epsilon, base="HTINF")
    state = agent_above(algorithm, env).initial_state(K, env.horizon)
    # E[(1 - g - N)^2] <= 1 + 2 / epsilon^2.
    assert state.sigma == pytest.approx(math.sqrt(1 + 2 / epsilon**2))
    assert state.bound == pytest.approx(first_state(env).bound, rel=1e-12)
    given = {"epsilon": epsilon, "base": "HTINF", "bound": 0.7}
    agent = agent_above(make_algorithm("DP-Lambda-Lap", **given), wrapped("DP-Lambda-Lap", **given))
    assert agent.initial_state(K, 100).bound == 0.7


def test_bounds_by_hand():
    # 2 sqrt((e - 1) T K ln K) = 2 sqrt(1.718282 * 262144 * 5.545177).
    assert exp3_regret_bound(K, T) == pytest.approx(3160.9, abs=0.1)
    assert tsallis_regret_bound(4, 10_000) == 801.0
    # sigma sqrt(T) (2 (sqrt K - 1) + 4 sqrt K + 2 sqrt K / Theta) with K = 4, T = 100, sigma = 2: 20 (2 + 8 + 19.39).
    assert htinf_regret_bound(4, 100, 2.0) == pytest.approx(587.8, abs=0.1)
    # DP-EXP3-Lap: (2 ln T / epsilon + 1) times EXP3's, and a bias of (ln T + 1) / epsilon + 1/2.
    found = make_algorithm("DP-EXP3-Lap", epsilon=2.0).regret_bound(n_arms=K, horizon=T)
    log = math.log(T)
    assert found == pytest.approx((log + 1) * exp3_regret_bound(K, T) + (log + 1) / 2 + 0.5)
    # Batched at epsilon = 0.1: 10 times that of T / 10 steps with noise of scale 1, plus the 4 rounds left over.
    steps, log = T // 10, math.log(T // 10)
    expected = 10 * ((2 * log + 1) * exp3_regret_bound(K, steps) + log + 1.5) + T % 10
    assert make_algorithm("Batched-Lap-EXP3", epsilon=0.1).regret_bound(n_arms=K, horizon=T) == pytest.approx(expected)


@pytest.mark.thorough
def test_private_batch_size_is_the_inverse_of_the_guarantee():
    """Enough at this size; and at no smaller one, by trying them all."""
    assert private_batch_size(4, 1000, math.inf, 0.1) == private_batch_size(4, 2, math.inf, 0.1) == 1
    for delta in [1e-2, 2.0**-36]:
        for epsilon in [0.1, 1.0, 243.29]:
            for horizon in [300, 2139, 2**14]:
                try:
                    size = private_batch_size(4, horizon, epsilon, delta)
                except ValueError as error:
                    assert missing(str(error), "horizon", horizon) == []
                    size = horizon + 1
                else:
                    algorithm = make_algorithm("EXP3-tau", epsilon=epsilon, delta=delta)
                    guarantee = algorithm.guarantee(n_arms=4, horizon=horizon)
                    assert guarantee.epsilon_at(delta) <= epsilon and guarantee.delta == delta
                    assert guarantee.epsilon_at(delta) == batches_guarantee(4, horizon, size).epsilon_at(delta)
                for smaller in range(1, size):
                    # Batches so large that EXP3 plays uniformly are no answer.
                    if default_exploration_rate(4, horizon // smaller) < 1:
                        assert batches_guarantee(4, horizon, smaller).epsilon_at(delta) > epsilon


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("horizon", "epsilon", "expected", "before"), [(2**18, 1.0, 26, 150), (2**22, 1.0, 47, 403), (2**14, 0.1, 92, 252)]
)
def test_private_batch_sizes_at_delta_t_to_the_minus_two(horizon, epsilon, expected, before):
    """Before: T / (8 tau^3) <= rho with rho + 2 sqrt(rho ln(1 / delta)) = epsilon."""
    log = 2 * math.log(horizon)
    assert math.ceil(math.cbrt(horizon / (8 * (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2))) == before
    assert private_batch_size(4, horizon, epsilon, horizon**-2.0) == expected


@pytest.mark.thorough
def test_where_the_theorem_ends_batches_are_not_lost():
    """K = 10, T = 2^14, epsilon = .1: between batches for which the theorem, and the older bound, is enough, a gap.

    K = 20, T = 132: at 16 rounds a batch, 8 steps, the exploration rate is 1 and nothing is lost.
    """
    size = private_batch_size(10, 2**14, 0.1, 2.0**-28)
    assert size == 110
    holds = [batches_guarantee(10, 2**14, tau).epsilon_at(2.0**-28) <= 0.1 for tau in range(size - 1, 253, 13)]
    assert not holds[0] and holds[1] and holds[-1] and not all(holds[1:])
    assert default_exploration_rate(20, 132 // 16) == 1
    assert private_batch_size(20, 132, 0.39, 2.9e-6) == 16
    assert batches_guarantee(20, 132, 18).epsilon == 0
    with refused(ValueError, "horizon", 132):
        private_batch_size(20, 132, 0.01, 2.9e-6)


pytest.importorskip("opendp")


def game_for(algorithm):
    if algorithm.make_agent is None:
        feedback = "bandit" if algorithm.feedback == "payoff" else "full"
        return gym.make("DPBandit-Ball-v0", dimension=2, horizon=30, feedback=feedback)
    coins = Stochastic(means=[0.2, 0.8, 0.5], horizon=30)
    return ExpertsEnv(gains=coins) if algorithm.feedback == "full" else BanditEnv(coins)


WEIGHED = ["AS-FTPL", "DP-FTRL"]
"""Their square-root counter weighs its draws, so it has no secure form."""
KINDS = [*((name, {}) for name in algorithm_names() if name not in WEIGHED), ("DP-FTRL", {"counter": "k-ary"})]


@pytest.mark.thorough
def test_every_algorithm_plays_with_secure_draws():
    for name, options in KINDS:
        fast = make_algorithm(name, **options)
        exact, env = secured(fast), game_for(fast)
        before, after = fast.guarantee_in(env), exact.guarantee_in(env)
        # What fast draws need of a delta makes noise larger, by far less than a thousandth.
        laws = [
            (0.0 if each.noise_law is None else each.noise_law.gaussian, each.rho or 0.0) for each in (before, after)
        ]
        assert laws[0] == pytest.approx(laws[1], rel=1e-3)
        alike = {"draw_distance": 0.0, "noise_law": None, "rho": None}
        assert dataclasses.replace(before, **alike) == dataclasses.replace(after, **alike)
        assert after.draw_distance <= (1e-15 if before.rho is not None else 0.0)
        assert exact.player == fast.player
        wrapped = exact.wrap(env)
        if before.draw_distance > 0:
            assert not wrapped.takes_seed
            with refused(SeedRefusedError, type(wrapped).__name__):
                play(env, exact)
        assert len(play(env, exact, seed=None).arms) == 30


def test_names_of_wrappers_stay_and_the_algorithm_is_not_changed():
    env, fast = BanditEnv(Stochastic(3, 30)), make_algorithm("Batched-Lap-EXP3", epsilon=0.5)
    wrapped = secured(fast).wrap(env)
    assert str(wrapped) == str(fast.wrap(env)) and wrapped.unwrapped is env
    assert wrapped.mechanism.draws == "secure" and fast.wrap(env).mechanism.draws == "fast"


def coin(state, arm, gain, rng):
    return float(rng.random() < 0.25 + gain / 2), 1


class Coin(Mechanism):
    release, withholds = staticmethod(coin), False

    def new_state(self, below):
        return ()

    def guarantee(self, below):
        return PrivacyGuarantee(1.0986122886681098, model="local")


def test_what_has_no_secure_form_is_refused():
    mine = Algorithm("mine", Exp3, lambda env: PrivacyBoundary(env, Coin()))
    limited = Algorithm("limited", Exp3, lambda env: gym.wrappers.TimeLimit(env, 30))
    own_norm = make_algorithm("AS-FTRL", counter="k-ary", noise="own-norm")
    for algorithm, error, words in [
        (mine, WrongTypeError, ("PrivacyBoundary",)),
        (limited, WrongTypeError, ("TimeLimit",)),
        (own_norm, ValueError, ("own-norm",)),
        *((make_algorithm(name), ValueError, ("draws='secure'", "'square-root'", "fractions")) for name in WEIGHED),
    ]:
        with refused(error, *words):
            secured(algorithm).wrap(game_for(algorithm))
    with refused(WrongTypeError, "make_algorithm", "'DP-IMED'"):
        secured("DP-IMED")

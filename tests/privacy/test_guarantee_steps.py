"""What a guarantee covers, and its steps: stacks of wrappers composed by hand, and every row of the table."""

import math

import pytest

from dp_bandit_envs import (
    Algorithm,
    BanditEnv,
    Exp3,
    LaplaceClipRescale,
    PrivacyGuarantee,
    algorithm_names,
    make_algorithm,
)
from dp_bandit_envs.adversaries import Deterministic
from dp_bandit_envs.privacy.accounting import one_laplace
from dp_bandit_envs.privacy.counters import make_counter
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from dp_bandit_envs.wrappers import (
    BlockSums,
    CounterSums,
    ExactSums,
    HybridSums,
    IntervalSums,
    MiniBatchAverage,
    RandomizedResponse,
)

ALL = "arms and releases"


def game():
    return BanditEnv(Deterministic(3, 100))


def laplace(env, epsilon):
    return LaplaceClipRescale(env, epsilon=epsilon)


def batches(env, size=5):
    return MiniBatchAverage(env, batch_size=size)


def gaussian(env):
    return CounterSums(env, counter="binary", epsilon=1.0, noise="gaussian", delta=1e-6)


# Each stack: its wrappers, then epsilon, delta and model, then what each step says, from the inside out, by hand.
STACKS = {
    "noise on each gain": (
        lambda: laplace(game(), 1.0),
        1.0,
        0.0,
        "local",
        ["epsilon = 1, delta = 1.43e-13 from fast"],
    ),
    # Averages of 5 gains move by 1/5; the averages are stored without noise, so the model is central.
    "noise on averages": (
        lambda: laplace(batches(game()), 0.5),
        0.5,
        0.0,
        "central",
        ["no guarantee", "epsilon = 0.5"],
    ),
    "averages of noisy gains": (
        lambda: batches(laplace(game(), 0.7)),
        0.7,
        0.0,
        "local",
        ["epsilon = 0.7", "post-proc"],
    ),
    "sums of noisy bits": (
        lambda: ExactSums(RandomizedResponse(game(), epsilon=1.5)),
        *(1.5, 0.0, "local", ["epsilon = 1.5: randomized response", "post-proc"]),
    ),
    "a counter": (lambda: HybridSums(game(), epsilon=1.0), 1.0, 0.0, "central", ["epsilon = 1, delta"]),
    "a counter on averages": (
        lambda: HybridSums(batches(game(), 4), epsilon=0.25),
        *(0.25, 0.0, "central", ["no guarantee", "epsilon = 0.25"]),
    ),
    "a counter on noisy gains": (
        lambda: HybridSums(laplace(game(), 0.3), epsilon=2.0),
        *(0.3, 0.0, "local", ["epsilon = 0.3", "post-proc"]),
    ),
    "a Gaussian counter": (
        lambda: gaussian(game()),
        *(1.0, 1e-6, "central", ["epsilon = 1, delta = 1e-06, zCDP rho = 0.02801: "]),
    ),
    "blocks of averages": (
        lambda: BlockSums(batches(batches(game(), 2)), epsilon=0.1),
        *(0.1, 0.0, "central", ["no guarantee", "no guarantee", "epsilon = 0.1, delta = 8.08e-14"]),
    ),
    "no noise": (lambda: ExactSums(batches(game())), math.inf, 0.0, "none", ["no guarantee", "no guarantee"]),
    "a counter without noise": (
        lambda: HybridSums(game(), epsilon=math.inf),
        *(math.inf, 0.0, "none", ["no guarantee: epsilon is inf"]),
    ),
}


@pytest.mark.parametrize(("stack", "epsilon", "delta", "model", "steps"), STACKS.values(), ids=STACKS.keys())
def test_stacks_compose_as_by_hand(stack, epsilon, delta, model, steps):
    guarantee = stack().guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.model) == (epsilon, delta, model)
    assert guarantee.covers == ("nothing" if model == "none" else ALL)
    assert len(guarantee.steps) == len(steps)
    for found, says in zip(guarantee.steps, steps, strict=True):
        assert found.partition(": ")[2].startswith(says)
    outside = Algorithm("mine", Exp3, lambda env: stack()).guarantee_in(game())
    assert outside == guarantee  # an agent without a guarantee of its own adds nothing


ABOVE = [LaplaceClipRescale, RandomizedResponse, HybridSums, BlockSums, IntervalSums]


@pytest.mark.parametrize(
    "inner",
    [
        lambda: laplace(game(), 0.5),
        lambda: RandomizedResponse(game(), epsilon=0.5),
        lambda: batches(laplace(game(), 0.5), 2),
        lambda: laplace(laplace(game(), 0.5), 9.0),
    ],
)
def test_around_a_guarantee_it_stays_whatever_stands_above(inner):
    """Not the smaller one: what the wrapper below withheld, or told as a coin, is protected by its epsilon only."""
    inner = inner()
    assert ExactSums(inner).guarantee == batches(inner, 2).guarantee == inner.guarantee
    for wrap in ABOVE:
        for epsilon in (0.01, 30.0, math.inf):
            found = wrap(inner, epsilon=epsilon).guarantee
            assert (found.epsilon, found.model) == (0.5, "local")
            assert found.theorem.endswith("; the noise added above it is post-processing") or epsilon == math.inf


def test_no_noise_is_no_guarantee_in_any_order_and_noise_above_it_counts_in_full():
    bare = laplace(game(), math.inf)
    stacks = [batches(game(), 2), batches(bare, 2), laplace(bare, math.inf), ExactSums(game())]
    stacks += [laplace(stacks[0], math.inf), batches(stacks[0], 2)]
    stacks += [wrap(game(), epsilon=math.inf) for wrap in ABOVE]
    for env in stacks:
        assert (env.guarantee.model, env.guarantee.epsilon) == ("none", math.inf)
    assert ExactSums(game()).sensitivity == math.inf
    again = laplace(bare, 0.3)
    assert again.guarantee.epsilon == 0.3 and again.noise.scale == pytest.approx(1 / 0.3, rel=2e-9)
    averaged = laplace(batches(bare, 4), 0.5)
    assert (averaged.guarantee.epsilon, averaged.guarantee.model) == (0.5, "central")
    assert averaged.noise.scale == pytest.approx(0.5, rel=2e-9)


@pytest.mark.parametrize(
    ("wrap", "model"),
    [
        (lambda env: RandomizedResponse(env, epsilon=0.7), "local"),
        (lambda env: laplace(env, 0.7), "local"),
        (lambda env: BlockSums(env, epsilon=0.7, ratio=1), "local"),
        (lambda env: BlockSums(env, epsilon=0.7, ratio=2), "central"),
        (lambda env: HybridSums(env, epsilon=0.7), "central"),
    ],
)
def test_single_gains_are_local_only_where_no_batch_keeps_them(wrap, model):
    found, averaged = wrap(game()), wrap(batches(game(), 4))
    assert (found.guarantee.epsilon, found.guarantee.delta, found.guarantee.model) == (0.7, 0.0, model)
    assert (averaged.guarantee.epsilon, averaged.guarantee.model, averaged.horizon) == (0.7, "central", 25)
    assert found.guarantee.neighbours == "replace the gains of all arms in one round"
    assert ("arms compose in parallel" in found.guarantee.theorem) == found.releases_sums


def test_sigma_of_a_gaussian_counter_reaches_the_boundary():
    guarantee = gaussian(game()).guarantee
    assert guarantee.noise_law.gaussian == pytest.approx(gaussian_sigma(1.0, 1e-6) ** -2, rel=1e-6)
    assert guarantee.rho == pytest.approx(guarantee.noise_law.gaussian / 2)
    assert laplace(game(), 1.0).guarantee.noise_law == one_laplace(1.0)
    alone = make_counter("hybrid", epsilon=1.0, delta=1e-6, horizon=64).guarantee
    assert alone.covers == "releases" and alone.noise_law.gaussian == pytest.approx(
        guarantee.noise_law.gaussian, rel=1e-6
    )


AGENTS_OWN = ["EXP3", "EXP3-tau", "Hedge", "DP-Hedge", "Lazy-Hedge", "DP-Epochs", "Uniform", "Tuned-TS"]


@pytest.mark.thorough
def test_every_row_says_what_it_covers_and_why():
    assert PrivacyGuarantee(1.0).covers == "arms" and PrivacyGuarantee.none("no noise").covers == "nothing"
    for name in algorithm_names():
        guarantee = make_algorithm(name).guarantee(n_arms=4, horizon=2**12)
        nothing, own = guarantee.model == "none", name in AGENTS_OWN
        assert guarantee.covers == ("nothing" if nothing else "arms" if own else ALL)
        assert all(": " in step and "\n" not in step for step in guarantee.steps)
        # What the theorem says is in the steps, and the last step is the agent's where the agent is what hides gains.
        assert guarantee.theorem.split(";")[0] in " ".join(guarantee.steps)
        assert guarantee.steps[-1].startswith("the agent's own randomness") == (own and not nothing)


def test_the_layers_below_an_agents_own_randomness_are_steps_too():
    tau = make_algorithm("EXP3-tau", batch_size=8).guarantee(n_arms=4, horizon=800)
    below, agent = tau.steps
    assert below.startswith("MiniBatchAverage: no guarantee") and below.endswith("from 1 to 0.125")
    assert "100 draws, each with a privacy loss of at most 0.0443" in agent

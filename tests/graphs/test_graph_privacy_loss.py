"""The exact privacy loss of a whole row of gains on small graphs, against what the wrappers declare.

On a graph one round's gains enter several sums at once, so arms do not compose in parallel: the noise must know how
many. `tests.tools.graph_games` finds what comes out as a linear map of draws and gains, and the cheapest way in which
other draws hide a change of a row. The arms are given: whatever chooses them sees only what comes out.
"""

import functools
import math

import numpy as np
import pytest

from dp_bandit_envs import BanditEnv, LaplaceClipRescale, make_algorithm
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.facts import gains_of_arms
from dp_bandit_envs.wrappers import (
    BlockSums,
    CounterSums,
    ExactSums,
    HybridSums,
    IntervalSums,
    MiniBatchAverage,
    RandomizedResponse,
)
from tests.tools.fake_draws import Numbers
from tests.tools.graph_games import (
    DIRECTED,
    SIZE,
    Draws,
    all_signs,
    cheapest,
    linear_map,
    released,
    row_losses,
    table_game,
)
from tests.tools.vector_sums import factor_of

EPSILON = 0.7
LAPLACE = [name for name in COUNTERS if name != "square-root"]
ARMS = [0, 2, 1, 1, 0, 3, 2, 0]
"""Eight steps that play every arm of four."""
SMALL_SIZE, BOUND = 1024.0, 4096.0
"""A draw, and a bound that it does not reach, both far below where doubles lose the gains."""

GRAPHS = {
    "directed": (4, 2, DIRECTED, {}),
    "complete": (3, 3, "complete", {"n_arms": 3}),
    "changing": (4, 4, "erdos-renyi", {"n_arms": 4, "degree": 1.5, "redraw_every": 2}),
    "capped": (5, 2, "complete", {"n_arms": 5, "max_revealed": 2}),
    "changing and capped": (5, 2, "erdos-renyi", {"n_arms": 5, "degree": 3, "redraw_every": 3, "max_revealed": 2}),
    "without self-loops": (4, 2, "cycle", {"n_arms": 4, "self_loops": False}),
}
"""Number of arms, sensitivity, graph, options."""

every_graph = pytest.mark.parametrize(
    "graph", [pytest.param(one, marks=() if one in ("directed", "changing") else pytest.mark.slow) for one in GRAPHS]
)

SUMS = {
    **{f"hybrid, {name}": functools.partial(CounterSums, epsilon=EPSILON, counter=name) for name in LAPLACE},
    "hybrid, padded": functools.partial(HybridSums, epsilon=EPSILON, pad_unplayed=True),
    "k-ary, padded": functools.partial(CounterSums, epsilon=EPSILON, counter="k-ary", pad_unplayed=True),
    "blocks, kept": functools.partial(BlockSums, epsilon=EPSILON, keep=True),
    "blocks, forgotten": functools.partial(BlockSums, epsilon=EPSILON),
    "blocks of 1": functools.partial(BlockSums, epsilon=EPSILON, ratio=1, keep=True),
    "intervals": functools.partial(IntervalSums, epsilon=16.0, intervals="uniform"),
}
SOME_SUMS = ["hybrid, hybrid", "hybrid, k-ary", "hybrid, padded", "blocks, kept", "blocks, forgotten", "intervals"]


def batches(env):
    return MiniBatchAverage(env, batch_size=2)


def around_batches(wrap):
    return lambda env: wrap(batches(env))


def noisy(env, epsilon=EPSILON):
    return LaplaceClipRescale(env, epsilon=epsilon, bound=BOUND, outside="clip")


def without_the_graphs_sensitivity(wrap):
    """Return the broken copy: noise as if every round entered one sum."""

    def broken(env):
        env.sensitivity = 1.0
        # A boundary refuses facts that contradict each other, so these must lie as well.
        env.__class__ = type("Lying", (type(env),), {"values": gains_of_arms(1.0)})
        return wrap(env)

    return broken


def graph_map(graph, wrap, *, rounds_a_step=1, gains=False, arms=ARMS):
    """Return the linear map of a game on a graph."""
    n_arms, sensitivity, kind, options = GRAPHS[graph]
    rounds = rounds_a_step * len(arms)
    make = functools.partial(table_game, graph=kind, **options)
    assert make(np.zeros((rounds, n_arms))).sensitivity == sensitivity
    more = {"size": SMALL_SIZE, "unit": 1 + 2 * BOUND} if gains else {}
    return linear_map(wrap, make, (rounds, n_arms), [arm % n_arms for arm in arms], **more)


def game_on(graph, rounds_a_step=1):
    n_arms, _, kind, options = GRAPHS[graph]
    return table_game(np.zeros((rounds_a_step * len(ARMS), n_arms)), kind, **options)


def declared(graph, wrap, rounds_a_step=1):
    """Return the pure epsilon that a wrapper declares."""
    env = wrap(game_on(graph, rounds_a_step))
    if isinstance(env, IntervalSums):
        # Its guarantee may be a smaller one with a delta; what the releases of one arm cost adds up to this.
        return sum(float(end) ** -0.55 for end in env.mechanism.ends(env.inputs.horizon))
    return env.guarantee.epsilon


# ---- sums ----------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("kind", SUMS)
@every_graph
def test_no_row_loses_more_than_epsilon(graph, kind):
    found = graph_map(graph, SUMS[kind])
    most, least = row_losses(found)
    # Not because nothing comes out: some row enters as many sums as the graph may reveal, or nearly.
    assert most.max() <= declared(graph, SUMS[kind]) * (1 + 1e-9) and least.max() > 0
    assert 1 < found.revealed.sum(axis=1).max() <= GRAPHS[graph][1]


@pytest.mark.thorough
@pytest.mark.slow_cases(*(f"{graph}-{kind}" for graph in GRAPHS if graph != "directed" for kind in SOME_SUMS))
@pytest.mark.parametrize("kind", SOME_SUMS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_around_batches_no_row_loses_more_than_epsilon(graph, kind):
    wrap = around_batches(SUMS[kind])
    found = graph_map(graph, wrap, rounds_a_step=2)
    most, least = row_losses(found)
    assert most.max() <= declared(graph, wrap, 2) * (1 + 1e-9) and least.max() > 0
    assert set(np.unique(found.moves)) <= {0.0, 0.5}


@pytest.mark.thorough
@pytest.mark.usefixtures("lies_are_believed")
@pytest.mark.parametrize("kind", ["hybrid, hybrid", "hybrid, k-ary", "blocks, kept", "blocks, forgotten", "intervals"])
@pytest.mark.parametrize("rounds_a_step", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_noise_for_one_arm_is_seen_to_be_too_little(kind, rounds_a_step):
    """The copy in which sensitivity is 1 fails the test above, by the factor of the graph; the true one attains it.

    On the complete graph of three every round enters three sums.
    """
    wrap = SUMS[kind] if rounds_a_step == 1 else around_batches(SUMS[kind])
    true, broken = (
        row_losses(graph_map("complete", copy, rounds_a_step=rounds_a_step))
        for copy in (wrap, without_the_graphs_sensitivity(wrap))
    )
    assert broken[1].max() == pytest.approx(3 * true[1].max(), rel=1e-6)
    assert broken[1].max() > declared("complete", wrap, rounds_a_step) * 1.5


@pytest.mark.thorough
@pytest.mark.usefixtures("lies_are_believed")
@pytest.mark.parametrize("graph", ["directed", "capped", "changing and capped"])
def test_a_counter_for_each_arm_is_not_enough_on_any_graph(graph):
    """All these have sensitivity 2: blocks of one gain lose exactly epsilon, and twice that in the broken copy."""
    wrap = SUMS["blocks of 1"]
    assert row_losses(graph_map(graph, wrap))[1].max() == pytest.approx(EPSILON, rel=2e-9)
    broken = row_losses(graph_map(graph, without_the_graphs_sensitivity(wrap)))
    assert broken[1].max() == pytest.approx(2 * EPSILON, rel=2e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["logarithmic", "binary", "honaker", "hybrid", "segment-trees", "smooth-binary"])
def test_full_information_loses_exactly_epsilon_in_some_round(name):
    """No more noise than needed either: each of three sums loses a third. Twelve rounds are what attains it."""
    found = graph_map("complete", SUMS[f"hybrid, {name}"], arms=[0] * 12)
    most, least = row_losses(found)
    assert most == pytest.approx(least, rel=1e-7)
    assert most.max() == pytest.approx(EPSILON, rel=2e-9)


@pytest.mark.thorough_cases("hybrid, hybrid")
@pytest.mark.parametrize("kind", ["hybrid, hybrid", "blocks, kept", "intervals"])
def test_trying_all_rows_of_minus_one_zero_and_one_finds_no_worse(kind):
    """The second route: the sum over single gains is the maximum over rows, at the row of ones among others."""
    found = graph_map("changing", SUMS[kind])
    most, least = row_losses(found)
    for changed in (0, 2, 5):
        worst = all_signs(found, changed)
        assert worst == pytest.approx(most[changed], rel=1e-7, abs=1e-8)
        assert worst == pytest.approx(least[changed], rel=1e-7, abs=1e-8)


def test_losses_of_blocks_by_hand():
    """Blocks of 1, 1, 2, ...; the directed graph, arms 0, 2, 1, 1, 0, 3, 2, 0 and epsilon for one round of two sums.

    Seen: 0 in rounds 1, 5, 6, 8; 1 in 3, 4; 2 in all but round 6; 3 in 2, 6, 7. Each gain in a full block costs
    epsilon / 2. Full are: all four of arm 0 (1, 1, 2), both of arm 1, of arm 2 the first four (1, 1, 2) but not the
    three that follow in a block of four, and of arm 3 the first two.
    """
    losses = row_losses(graph_map("directed", SUMS["blocks, forgotten"]))[0] / (EPSILON / 2)
    assert losses == pytest.approx([2, 2, 2, 2, 1, 2, 0, 1], abs=1e-8)


def test_the_empty_graph_loses_what_bandit_feedback_loses():
    shape = (len(ARMS), 4)
    with_graph = linear_map(SUMS["hybrid, hybrid"], functools.partial(table_game, graph="empty"), shape, ARMS)
    without = linear_map(SUMS["hybrid, hybrid"], lambda table: BanditEnv(GainTable(table)), shape, ARMS)
    for one, other in zip(with_graph, without, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("graph", ["directed", "complete", "capped"])
def test_concentrated_loss_of_intervals_is_below_the_declared_rho(graph):
    """Half the sum of the squares of what single draws lose (Bun and Steinke 2016), for the row of ones."""
    rho = SUMS["intervals"](game_on(graph)).guarantee.rho
    assert 0 < rho_of(graph_map(graph, SUMS["intervals"])) <= rho * (1 + 1e-9)


def test_exact_sums_hide_nothing():
    found = graph_map("directed", ExactSums)
    assert np.isinf(row_losses(found)[1]).all()


@pytest.mark.thorough
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_row_moves_exact_sums_by_no_more_than_the_sensitivity(graph):
    """In L1, right after its round; around batches of 2 by half of that."""
    for wrap, step in ((ExactSums, 1), (around_batches(ExactSums), 2)):
        found = graph_map(graph, wrap, rounds_a_step=step)
        n_arms, sensitivity, *_ = GRAPHS[graph]
        totals = found.moves.reshape(len(ARMS), n_arms, step * len(ARMS), n_arms)[-1].sum(axis=(0, 2))
        assert totals.max() <= sensitivity / step
        if not (graph.startswith("changing") and step == 2):
            # A graph that changes within a batch, or a random one, may reveal less.
            assert totals.max() == sensitivity or graph == "changing" or step == 2


# ---- gains ---------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("step", [1, 2], ids=["gains", "averages"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_noise_on_gains_loses_epsilon_for_all_that_a_round_reveals(graph, step):
    """Every gain revealed gets one draw, of scale sensitivity / epsilon; averages of two half of that."""
    found = graph_map(graph, noisy if step == 1 else around_batches(noisy), rounds_a_step=step, gains=True)
    most, least = row_losses(found)
    assert 0 < most.max() <= EPSILON * (1 + 1e-6)
    assert found.scales == pytest.approx(GRAPHS[graph][1] / step / EPSILON, rel=2e-9)
    if step == 1:
        seen = found.revealed.sum(axis=1)
        assert most == pytest.approx(seen * EPSILON / GRAPHS[graph][1], rel=1e-6)
        assert least == pytest.approx(most, rel=1e-6)
        assert len(found.scales) == seen.sum()
    else:  # an average needs both rounds of its batch: where graphs change in between, an arm may be in one only
        pairs = found.revealed.reshape(-1, 2, GRAPHS[graph][0])
        assert np.array_equal(pairs[:, 0], pairs[:, 1])


@pytest.mark.thorough_cases("2")
@pytest.mark.usefixtures("lies_are_believed")
@pytest.mark.parametrize("step", [1, 2])
def test_noise_on_gains_for_one_arm_is_seen_to_be_too_little(step):
    wrap = without_the_graphs_sensitivity(noisy if step == 1 else around_batches(noisy))
    most, least = row_losses(graph_map("complete", wrap, rounds_a_step=step, gains=True))
    assert least.max() == pytest.approx(3 * EPSILON, rel=1e-6)
    assert most == pytest.approx(least, rel=1e-6)


def test_a_graph_that_changes_within_a_batch_releases_common_arms_only():
    """Otherwise an average of one gain would move by 1, and not by a half."""
    table = np.ones((16, 4))
    env, other = (table_game(table, "erdos-renyi", n_arms=4, degree=1.5, redraw_every=1) for _ in range(2))
    batched, rows = batches(env), []
    batched.reset(seed=0)
    other.reset(seed=0)
    for arm in np.repeat(ARMS, 2):
        rows.append(set(other.graph.revealed_by(arm).tolist()))
        other.step(arm)
    both = [one & next_one for one, next_one in zip(rows[::2], rows[1::2], strict=True)]
    for arm, common in zip(ARMS, both, strict=True):
        observation = batched.step(arm)[0]
        assert set(np.flatnonzero(observation["observed"]).tolist()) == common
        assert observation["gain"].tolist() == observation["observed"].tolist()
    assert env.sensitivity == 4.0 and both != rows[1::2]


# ---- coins ---------------------------------------------------------------------------------------------------------


def chances_of_one(wrap, graph, table, arms):
    """Return the chance of a 1 in every answer of a game, `(answers,)`, by bisecting the numbers that decide it."""
    _, _, kind, options = GRAPHS[graph]
    game = wrap(table_game(table, kind, **options))
    low, high = np.zeros(len(table) * 5), np.ones(len(table) * 5)
    for _ in range(42):
        middle = (low + high) / 2
        rng = Numbers(*middle)
        answers, observed = released(game, arms, rng)
        ones = answers[observed == 1] == 1
        assert rng.asked == len(ones)
        low[: len(ones)] = np.where(ones, middle[: len(ones)], low[: len(ones)])
        high[: len(ones)] = np.where(ones, high[: len(ones)], middle[: len(ones)])
    return high[: len(ones)]


def coin_losses(wrap, graph, rounds_a_step):
    """Return what a change of each row between zeros and ones loses, on games that are 0 or 1 elsewhere."""
    n_arms = GRAPHS[graph][0]
    arms = [arm % n_arms for arm in ARMS]
    rounds = rounds_a_step * len(arms)
    losses = []
    for elsewhere in (0.0, 1.0):
        table = np.full((rounds, n_arms), elsewhere)
        before = chances_of_one(wrap, graph, table, arms)
        for changed in range(rounds):
            table[changed] = 1 - elsewhere
            after = chances_of_one(wrap, graph, table, arms)
            table[changed] = elsewhere
            # Answers are independent, so each may be the one that tells most.
            each = np.maximum(np.abs(np.log(after / before)), np.abs(np.log((1 - after) / (1 - before))))
            losses.append(each.sum())
    return np.array(losses)


def coins(env):
    return RandomizedResponse(env, epsilon=EPSILON)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("graph", "rounds_a_step"),
    [
        ("directed", 1),
        ("changing", 1),
        ("directed", 2),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in (("capped", 1), ("capped", 2), ("changing", 2))),
    ],
)
def test_coins_lose_no_more_than_epsilon(graph, rounds_a_step):
    losses = coin_losses(coins if rounds_a_step == 1 else around_batches(coins), graph, rounds_a_step)
    assert 0 < losses.max() <= EPSILON * (1 + 1e-9)
    if rounds_a_step == 1 and graph != "changing":
        assert losses == pytest.approx(EPSILON, rel=2e-9)


@pytest.mark.thorough
@pytest.mark.usefixtures("lies_are_believed")
def test_coins_for_one_arm_are_seen_to_tell_too_much():
    losses = coin_losses(without_the_graphs_sensitivity(coins), "directed", 1)
    assert losses == pytest.approx(2 * EPSILON, rel=2e-9)


# ---- the tools -----------------------------------------------------------------------------------------------------


def test_the_cheapest_change_of_draws_by_hand():
    """One arm played twice with fresh Laplace noise of scale 2 on each of its two blocks: 1/2 for either gain."""
    wrap = functools.partial(BlockSums, epsilon=0.5, ratio=1, keep=True)
    found = linear_map(wrap, functools.partial(table_game, graph="empty"), (2, 2), [0, 0])
    assert found.scales == pytest.approx([2.0, 2.0], rel=2e-9)
    assert found.noise.tolist() == [[1, 0], [0, 0], [1, 1], [0, 0]]
    assert found.moves[:, 0, 0].tolist() == [1, 0, 1, 0]
    assert found.moves[:, 1, 0].tolist() == [0, 0, 1, 0]
    assert not found.moves[:, :, 1].any()
    assert cheapest(found, found.moves[:, 0, 0]) == pytest.approx(0.5)
    assert cheapest(found, 2 * found.moves[:, 1, 0]) == pytest.approx(1.0)
    assert math.isinf(cheapest(found, np.array([0.0, 1.0, 0.0, 0.0])))
    assert Draws(0).laplace(0.0, 1.0) == SIZE and Draws(1).laplace(0.0, 1.0) == 0.0


# ---- gaussian counters on graphs -----------------------------------------------------------------------------------


EVERY_COUNTER = ["k-ary", "square-root", *(pytest.param(name, marks=pytest.mark.slow) for name in ("binary", "hybrid"))]


def gaussian(name):
    """Return a wrapper with so little noise that a gain of 1 is on the grid, as the map is made of such gains."""
    return functools.partial(CounterSums, epsilon=8.0, counter=name, noise="gaussian", delta=1e-6)


def as_in_l1(wrap):
    """Return the copy whose noise grows with s, as that of Laplace noise must."""

    def louder(env):
        values = gains_of_arms(env.sensitivity)._replace(l2=env.sensitivity)
        env.__class__ = type("Louder", (type(env),), {"values": values})
        return wrap(env)

    return louder


def rho_of(found):
    """Return the largest rho of a row. Each arm has its own draws, so none in [-1, 1] is farther than that of ones."""
    noise = found.noise * found.scales
    moves = found.moves.sum(axis=2)
    shares = np.linalg.lstsq(noise, moves, rcond=None)[0]
    assert np.abs(noise @ shares - moves).max() < 1e-6
    return float((shares**2).sum(axis=0).max() / 2)


@pytest.mark.thorough
@pytest.mark.parametrize("name", EVERY_COUNTER)
@every_graph
def test_no_row_loses_more_than_the_declared_rho(graph, name):
    declared = gaussian(name)(game_on(graph)).guarantee
    assert (declared.epsilon, declared.delta) == (8.0, 1e-6)
    assert 0 < rho_of(graph_map(graph, gaussian(name))) <= declared.rho * (1 + 1e-6)


@pytest.mark.thorough
@pytest.mark.usefixtures("lies_are_believed")
@pytest.mark.parametrize("name", EVERY_COUNTER)
@pytest.mark.parametrize("graph", ["complete", pytest.param("directed", marks=pytest.mark.slow)])
def test_noise_for_one_gain_is_too_little_and_noise_times_s_more_than_needed(graph, name):
    """On the map itself: rho is proportional to the inverse square of the noise's factor, 1, sqrt(s) or s."""
    s = GRAPHS[graph][1]
    true, quiet, loud = (
        rho_of(graph_map(graph, wrap(gaussian(name))))
        for wrap in (lambda one: one, without_the_graphs_sensitivity, as_in_l1)
    )
    declared = gaussian(name)(game_on(graph)).guarantee.rho
    assert true > 0.7 * declared and quiet > 1.2 * declared and loud < 0.6 * declared
    assert quiet == pytest.approx(s * true, rel=3e-4) and loud == pytest.approx(true / s, rel=3e-4)


@pytest.mark.parametrize("graph", GRAPHS)
def test_noise_is_multiplied_by_the_root_of_the_most_gains(graph):
    """As DP-UCB has them; an agent is told the same factor."""
    s = GRAPHS[graph][1]
    env = make_algorithm("DP-UCB", counter="square-root").wrap(game_on(graph))
    assert factor_of(env.mechanism, env.inputs) == pytest.approx(math.sqrt(s), rel=1e-6)
    assert env.noise.sensitivity == pytest.approx(math.sqrt(s), rel=1e-12)
    assert (env.guarantee.epsilon, env.guarantee.delta) == (1.0, 1e-6)

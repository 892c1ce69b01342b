"""Agents that find the best arm: Top-Two stops by hand, in exact laws and rarely wrong; eliminations by hand."""

import collections
import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, BanditEnv, compare, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import GainTable, Stochastic
from dp_bandit_envs.agents import SuccessiveElimination, TopTwo
from dp_bandit_envs.agents.successive_elimination import EPOCH, epoch_lengths
from dp_bandit_envs.agents.top_two import ROUND, State
from dp_bandit_envs.audits.draw_laws import as_tuples, copy_with_lists, select_law
from dp_bandit_envs.errors import StepOutsideGameError
from dp_bandit_envs.protocols import Sums
from dp_bandit_envs.wrappers import BlockSums, ExactSums, MiniBatchAverage
from tests.tools.both_ways import assert_same
from tests.tools.fake_draws import InOrder
from tests.tools.invented_releases import begun, told
from tests.tools.one_noise import with_one_noise
from tests.tools.refusals import refused
from tests.tools.toys import Script

NAMES = ["Top-Two", "AdaP-TT", "DP-TT", "CTB-TT"]
PRIVATE = NAMES[1:]


def told_sums(agent, arm, sums, counts, releases):
    """Tell an agent the sums after a round."""
    agent.update(arm, {"sum": np.array(sums), "count": np.array(counts), "release": np.array(releases)})


def test_two_arms_by_hand():
    """After n ones and n zeros W = 2 n ln 2, and the threshold for beta = 0.1 is ln 10 + ln n + ln 4.

    That is 5.5 > 4.8 for 4 gains each, and 4.2 < 4.8 for 3.
    """
    agent = TopTwo(failure_probability=0.1)
    with pytest.raises(StepOutsideGameError):
        agent.recommend()
    with pytest.raises(StepOutsideGameError):
        _ = agent.done
    agent.begin(n_arms=2, horizon=20, rng=np.random.default_rng(0))
    first = agent.select_arm()
    told_sums(agent, first, [float(first), 0.0], [1 - first, first], [1 - first, first])
    assert agent.select_arm() == 1 - first  # each arm once
    for n in (1, 2, 3, 4):
        assert not agent.done
        told_sums(agent, 1, [0.0, float(n)], [n, n], [n, n])
        assert agent.recommend() == 1
        assert agent.done == (n == 4)
    for _ in range(5):
        assert agent.select_arm() == 1
        # What comes later changes nothing.
        told_sums(agent, 1, [9.0, 4.0], [9, 9], [9, 9])
        assert agent.recommend() == 1


def test_the_rival_is_the_arm_that_is_hardest_to_tell_apart():
    """Leader and rival share the rounds like a fair coin. False alarm: 6e-7 (five standard errors)."""
    agent = TopTwo(failure_probability=0.01, leader_share=0.5)
    agent.begin(n_arms=4, horizon=100, rng=np.random.default_rng(1))
    for arm in {agent.select_arm() for _ in range(3)}:
        told_sums(agent, arm, [9.0, 2.0, 8.0, 1.0], [10, 10, 10, 10], [10, 10, 10, 10])
    assert {agent.select_arm() for _ in range(100)} == {0, 2}
    shares = collections.Counter(agent.select_arm() for _ in range(2000))
    assert abs(shares[0] - 1000) < 5 * math.sqrt(500)


def test_without_noise_each_is_top_two():
    algorithms = [make_algorithm("Top-Two"), *(make_algorithm(name, epsilon=math.inf) for name in PRIVATE)]
    outcomes = simulate(
        "Stochastic:means=[0.2,0.8,0.4]", with_one_noise(*algorithms), horizon=600, trials=20, checkpoints=600
    ).outcomes
    first = outcomes["0"]
    assert (first.last("rounds_until_stop") < 600).any()
    for other in outcomes.values():
        for measure in ("rounds_until_stop", "error", "switches", "collected"):
            assert np.array_equal(first.samples(measure), other.samples(measure))


@pytest.mark.parametrize("name", NAMES)
def test_play_and_simulate_stop_alike(name):
    """Compiled, and in ordinary Python, round by round; with a stop in some games and none in others."""
    algorithm = make_algorithm(name, failure_probability=0.4, **({} if name == "Top-Two" else {"epsilon": 4.0}))
    assert_same("DPBandit-Stochastic-v0", [algorithm], trials=3, horizon=400, seed=3, means=[0.1, 0.9, 0.2])
    for trial in range(3):
        played = play("Stochastic:means=[0.1,0.9,0.2]", algorithm, horizon=400, seed=3, trial=trial)
        stop = int(played.rounds_until_stop[-1])
        assert np.array_equal(played.rounds_until_stop, np.minimum(np.arange(1, 401), stop))
        if stop < 400:
            assert set(played.arms[stop:].tolist()) == {played.arms[-1]}
            assert (played.error[stop - 1 :] == (played.arms[-1] != 1)).all()


def test_rounds_are_counted_above_batches_too():
    """Batches of 3 rounds: the stop is at the end of one, alike in both engines."""

    def in_batches(env):
        return ExactSums(MiniBatchAverage(env, batch_size=3))

    algorithm = Algorithm("batches", lambda: TopTwo(failure_probability=0.3), in_batches)
    assert_same("DPBandit-Stochastic-v0", [algorithm], horizon=301, seed=0, means=[0.1, 0.9])
    for trial in range(2):
        stop = play("Stochastic:means=[0.1,0.9]", algorithm, horizon=301, seed=0, trial=trial).rounds_until_stop[-1]
        assert stop % 3 == 0 and stop < 301


class Impatient(Script):
    """Somebody's own agent: it stops after five rounds and recommends arm 0."""

    def select_arm(self):
        return len(self.seen) % 2

    def recommend(self):
        return 0

    @property
    def done(self):
        return len(self.seen) >= 5


def test_an_agent_of_ones_own_may_stop():
    played = play("Stochastic:means=[0.4,0.6]", Impatient(), horizon=8)
    assert played.rounds_until_stop.tolist() == [1, 2, 3, 4, 5, 5, 5, 5]
    assert played.error.tolist() == [1.0] * 8
    outcome = simulate("Stochastic:means=[0.6,0.4]", {"own": Impatient}, horizon=8, trials=2)["own"]
    assert outcome.last("rounds_until_stop").tolist() == [5, 5] and outcome.last("error").tolist() == [0, 0]
    assert play("Stochastic", "UCB", horizon=20).rounds_until_stop is None
    # Without means nobody knows which arm is best.
    unknown = play(BanditEnv(GainTable(np.eye(2)[np.zeros(9, int)])), Impatient())
    assert unknown.error is None and unknown.rounds_until_stop[-1] == 5


class ChangesItsMind(Impatient):
    """Recommends arm 0 when it stops, and arm 1 from then on."""

    def recommend(self):
        return int(len(self.seen) > 5)


def recommend_by_round(state):
    """Recommend an arm by the parity of the round, also after the stop."""
    return int(state.status[ROUND] % 2)


class Wavering(TopTwo):
    """Top-Two with another recommendation in every round."""

    functions = TopTwo.functions._replace(recommend=recommend_by_round)


@pytest.mark.thorough
def test_what_is_recommended_at_the_stop_is_final():
    played = play("Stochastic:means=[0.4,0.6]", ChangesItsMind(), horizon=8)
    assert played.error.tolist() == [1.0] * 8
    outcome = simulate("Stochastic:means=[0.4,0.6]", {"own": ChangesItsMind}, horizon=8, trials=2)["own"]
    assert outcome.last("error").tolist() == [1, 1]
    algorithm = Algorithm("wavering", Wavering, ExactSums)
    settings = {"horizon": 900, "trials": 4, "seed": 4, "checkpoints": [1, 2, 40, 300, 301, 900]}
    outcome = simulate("Stochastic:means=[0.2,0.8]", [algorithm], **settings)["wavering"]
    assert outcome.engine == "compiled"
    for trial in range(4):
        game = play("Stochastic:means=[0.2,0.8]", algorithm, horizon=900, seed=4, trial=trial)
        assert np.array_equal(game.error[np.array(settings["checkpoints"]) - 1], outcome.error[trial])
        stop = int(game.rounds_until_stop[-1])
        assert stop < 300 and (game.error[stop - 1 :] == 1 - stop % 2).all() and game.error[0] != game.error[1]


def test_two_best_arms_are_both_right():
    outcome = simulate("Stochastic:means=[0.7,0.2,0.7]", ["Top-Two"], horizon=300, trials=20)["Top-Two"]
    recommended_best = outcome.last("error") == 0
    assert recommended_best.all() and (outcome.last("rounds_until_stop") == 300).any()


@pytest.mark.thorough
def test_compare_ranks_by_both_measures():
    names = ["Top-Two", "CTB-TT:epsilon=4", "DP-TT:epsilon=4"]
    comparison = compare("Stochastic:means=[0.2,0.8]", names, horizon=2000, trials=20, seed=2)
    rows = comparison.ranking(measure="rounds_until_stop").standings
    assert rows[0].name == "Top-Two"
    assert max(row.mean for row in comparison.ranking(measure="error").standings) <= 0.05
    mixed = compare("Stochastic:means=[0.2,0.8]", ["Top-Two", "UCB"], horizon=50, trials=6)
    with refused(ValueError, "rounds_until_stop", "UCB"):
        mixed.ranking(measure="rounds_until_stop")


# The law of the stop, exactly.


def stopping_law(means, beta, horizon):
    """Return P(stop in round t, recommend arm a) of Top-Two with two arms, by the counts and sums of both.

    Each arm is played once, in either order, and from then on both are the top two: a fair coin decides. Ties go to
    the first arm of an order drawn at random, but a tie never stops.
    """
    law = np.zeros((horizon + 1, 2))
    states = {}
    for gains in itertools.product((0, 1), repeat=2):
        chance = math.prod(mean if gain else 1 - mean for mean, gain in zip(means, gains, strict=True))
        states[1, gains[0], 1, gains[1]] = chance

    def divergence(x, y):
        return sum(p * math.log(p / q) for p, q in ((x, y), (1 - x, 1 - y)) if p > 0)

    for t in range(2, horizon + 1):
        following = collections.defaultdict(float)
        for (n, s, m, r), chance in states.items():
            middle = (s + r) / t
            cost = n * divergence(s / n, middle) + m * divergence(r / m, middle)
            if s / n != r / m and cost > math.log(1 / beta) + 0.5 * math.log(n * m) + math.log(4):
                law[t, int(s / n < r / m)] += chance
                continue
            for gain in (0, 1):
                one, other = (abs(1 - gain - mean) for mean in means)
                following[n + 1, s + gain, m, r] += chance * one / 2
                following[n, s, m + 1, r + gain] += chance * other / 2
        states = following
    return law


@pytest.mark.slow_cases("CTB-TT-2.0")
@pytest.mark.thorough
@pytest.mark.parametrize(("name", "epsilon"), [("Top-Two", math.inf), ("CTB-TT", 2.0)])
def test_the_law_of_the_stop_with_two_arms(name, epsilon):
    """Exact against 20,000 games: 76 probabilities and the mean.

    False alarm: below 1e-4 (five standard errors, and five games more where few are expected, 77 times).
    """
    means, beta, horizon, trials = (0.15, 0.9), 0.2, 40, 20_000
    kept = math.tanh(epsilon / 2)
    law = stopping_law([0.5 + kept * (mean - 0.5) for mean in means], beta, horizon)
    algorithm = make_algorithm(name, failure_probability=beta, **({} if name == "Top-Two" else {"epsilon": epsilon}))
    game = f"Stochastic:means=[{means[0]},{means[1]}]"
    outcome = simulate(game, [algorithm], horizon=horizon, trials=trials, seed=5, checkpoints=horizon)[name]
    stops, wrong = outcome.last("rounds_until_stop"), outcome.last("error") == 1
    for t in range(2, horizon):  # the horizon itself stands for games that did not stop, too
        for arm in (0, 1):
            share = np.mean((stops == t) & (wrong == (arm == 0)))
            error = math.sqrt(law[t, arm] * (1 - law[t, arm]) / trials)
            assert abs(share - law[t, arm]) <= 5 * error + 5 / trials, (t, arm)
    rounds = np.arange(horizon + 1)
    mean = float(law.sum(axis=1) @ rounds) + (1 - law.sum()) * horizon
    assert abs(stops.mean() - mean) <= 5 * stops.std() / math.sqrt(trials)
    # Most games stop, and fewer than beta of them with the wrong arm.
    assert law[:, 0].sum() <= beta
    assert law.sum() > (0.9 if name == "Top-Two" else 0.6)


# What is published keeps the guarantee, exactly.


def published_law(table, epsilon, beta, *, with_arms):
    """Return the law of (arms, stopping round, recommendation) of CTB-TT for a table of gains of 0 and 1.

    Every order, every coin of the agent and every answer is followed through the agent's own functions; without the
    arms, equal states are one.
    """
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    agent = TopTwo(failure_probability=beta)
    states = {(as_tuples(copy_with_lists(agent.initial_state(2, len(table)))), (0.0, 0.0), (0, 0), (), 0): 1.0}
    for t, gains in enumerate(table, start=1):
        following = collections.defaultdict(float)
        for (state, sums, counts, arms, stop), chance in states.items():
            for branch in select_law(agent.functions.select, as_lists(state)):
                for answer in (0, 1):
                    heard, count = list(sums), list(counts)
                    heard[branch.arm] += answer
                    count[branch.arm] += 1
                    after = agent.functions.update(copy_with_lists(branch.state), branch.arm, Sums(heard, count, count))
                    ended = stop or (t if agent.functions.is_done(after) else 0)
                    played = (*arms, branch.arm) if with_arms else ()
                    p = chance * branch.probability * (truth if gains[branch.arm] == answer else 1 - truth)
                    following[as_tuples(after), tuple(heard), tuple(count), played, ended] += p
        states = following
    law = collections.defaultdict(float)
    for (state, _, _, arms, stop), chance in states.items():
        law[arms, stop, agent.functions.recommend(State(*state))] += chance
    return law


def as_lists(state):
    return State(*(list(part) if isinstance(part, tuple) else part for part in state))


@pytest.mark.slow_cases("1.5-False-8-stops2")
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("epsilon", "with_arms", "rounds", "stops"),
    [
        (0.5, True, 5, {0, 3}),
        (1.5, True, 5, {0, 3}),
        (1.5, False, 8, {0, 3, 8}),
        pytest.param(0.5, False, 9, {0, 3, 8, 9}, marks=pytest.mark.slow),
    ],
)
def test_arms_stop_and_recommendation_keep_epsilon_in_the_local_model(epsilon, with_arms, rounds, stops):
    """All neighbours of a table, exactly: of arms, stop and recommendation, and of the last two in a longer game."""
    worst = 0.0
    table = [(1, 0), (1, 1), (0, 1), (1, 0), (0, 0), (1, 0), (1, 0), (0, 1), (1, 0)][:rounds]
    law = published_law(table, epsilon, 0.9, with_arms=with_arms)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    assert {stop for _, stop, _ in law} == stops
    for changed in range(rounds):
        for row in set(itertools.product((0, 1), repeat=2)) - {table[changed]}:
            other = published_law([*table[:changed], row, *table[changed + 1 :]], epsilon, 0.9, with_arms=with_arms)
            assert set(law) == set(other)
            worst = max(worst, *(abs(math.log(law[key] / other[key])) for key in law))
    # The arms of a game tell most of it; the stop alone tells less, but something.
    assert (0.9 if with_arms else 0.2) * epsilon < worst <= epsilon * (1 + 1e-12)


def laplace_cdf(x):
    return np.where(x < 0, 0.5 * np.exp(-np.abs(x)), 1 - 0.5 * np.exp(-np.abs(x)))


def episode_law(table, epsilon, beta):
    """Return P(stop after release 2 or 3, recommend arm) of AdaP-TT for the arms 0, 1, 0, by quadrature.

    Each of these releases is one gain with a Laplace draw, and an arm wins if it is ahead by more than h, where W = h^2
    is the threshold for two gains. The third release replaces arm 0's first one.
    """
    gains = [table[0][0], table[1][1], table[2][0]]

    def width(j, i):
        chance = math.log(2 * j * (j + 1) * i * (i + 1) / beta)
        return math.sqrt(chance) + (chance + 0.003) / epsilon * 2

    ahead, later = width(1, 1), width(2, 1)
    middle = np.linspace(-60 / epsilon, 60 / epsilon, 400_001) + gains[1]
    density = 0.5 * epsilon * np.exp(-epsilon * np.abs(middle - gains[1]))

    def integral(values):
        return float(np.trapezoid(values * density, middle))

    def wins(gain, h):
        """P(arm 0 wins) and P(arm 1 wins), given arm 1's release."""
        return 1 - laplace_cdf((middle + h - gain) * epsilon), laplace_cdf((middle - h - gain) * epsilon)

    first, second = wins(gains[0], ahead), wins(gains[2], later)
    goes_on = 1 - first[0] - first[1]
    return np.array([[integral(one) for one in first], [integral(goes_on * one) for one in second]])


@pytest.mark.slow
def test_the_stop_of_noisy_episodes_keeps_epsilon_in_the_central_model():
    """By quadrature for all gains of three rounds and all changes of one round; four numbers beside games.

    False alarm: below 1e-5 (five standard errors, and five games more where few are expected, four times).
    """
    epsilon, beta = 3.0, 0.9
    tables = list(itertools.product(itertools.product((0.0, 1.0), repeat=2), repeat=3))
    laws = {table: episode_law(table, epsilon, beta) for table in tables}
    worst = 0.0
    for one, other in itertools.permutations(tables, 2):
        if sum(row != changed for row, changed in zip(one, other, strict=True)) == 1:
            rest = [1 - laws[table].sum() for table in (one, other)]
            ratios = np.append((laws[one] / laws[other]).ravel(), rest[0] / rest[1])
            worst = max(worst, float(np.log(ratios).max()))
    assert 0.5 * epsilon < worst <= epsilon

    # Where arm 0 pays 1 and arm 1 pays 0 in every round, any order of the arms has this law, by symmetry.
    algorithm = make_algorithm("AdaP-TT", epsilon=epsilon, failure_probability=beta)
    trials = 40_000
    outcome = simulate("Stochastic:means=[1,0]", [algorithm], horizon=4, trials=trials, seed=1, checkpoints=4)
    stops, errors = outcome["AdaP-TT"].last("rounds_until_stop"), outcome["AdaP-TT"].last("error")
    for stop, chances in zip((2, 3), laws[((1.0, 0.0),) * 3], strict=True):
        for error, chance in enumerate(chances):
            share = np.mean((stops == stop) & (errors == error))
            assert abs(share - chance) <= 5 * math.sqrt(chance / trials) + 5 / trials


def test_a_rule_for_noise_needs_noise():
    for name, parameters in (("DP-TT", {"ratio": 1}), ("DP-TT", {"epsilon": 5e-324})):
        with refused(ValueError, *parameters, *parameters.values()):
            make_algorithm(name, **parameters)
    for name in NAMES:
        for beta, words in ((0.0, "(0, 1)"), (1.0, "(0, 1)"), (math.nan, "(0, 1)"), ("1", "number")):
            with refused((ValueError, TypeError), "failure_probability", words):
                make_algorithm(name, failure_probability=beta)


# ---- successive elimination
def threshold(n_arms, horizon, epsilon, epoch, samples):
    """2 h + 2 c with h = sqrt(ln(8 K e^2 T) / (2 R)) and c = ln(4 K e^2 T) / (R epsilon)."""
    h = math.sqrt(math.log(8 * n_arms * epoch**2 * horizon) / (2 * samples))
    c = math.log(4 * n_arms * epoch**2 * horizon) / (samples * epsilon)
    return 2 * h + 2 * c


def alive(agent):
    return list(agent._state.alive)


def test_lengths_of_epochs_by_hand():
    """K = 2, T = 10^6, no noise: 128 ln(16 10^6) = 2123.3 and 512 ln(64 10^6) = 9202.8, rounded up, plus 1.

    Then 2048 ln(8 * 2 * 9 * 10^6) = 38472.3, and so on, each about four times as long, until 10^6 is reached.
    """
    lengths = epoch_lengths(2, 10**6, math.inf)
    assert lengths[:3] == [2125, 9204, 38474]
    assert sum(lengths[:-1]) < 10**6 <= sum(lengths)
    assert all(3 < longer / length < 5 for length, longer in itertools.pairwise(lengths[:-1]))


def test_little_epsilon_rules_the_lengths_of_epochs():
    """K = 2, T = 10^6, epsilon = 1/100: 1600 ln(8 10^6) = 25431.9 is more than 2123.3; then 3200 ln(32 10^6)."""
    lengths = epoch_lengths(2, 10**6, 0.01)
    assert lengths[:2] == [25433, math.ceil(3200 * math.log(32e6)) + 1]
    # In epoch e the one grows like 4^e and the other like 2^e, so gains rule in the end.
    assert epoch_lengths(2, 10**9, 0.01)[6] == epoch_lengths(2, 10**9, math.inf)[6]


def test_an_epoch_is_no_longer_than_the_game():
    """128 ln(8 * 2 * 100) = 944.3 is more than there is: one block of the whole game, which is never released."""
    assert epoch_lengths(2, 100, 1.0) == [101]
    assert epoch_lengths(3, 1, 1e-300) == [2]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, math.inf])
@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_an_arm_goes_once_it_is_behind_by_more_than_the_threshold(epsilon, epoch):
    """A hair less and it stays, in any epoch; K = 3, T = 1000, R = 100 e. Arm 1 is ahead, arm 2 in question."""
    if epsilon == 1.0 and epoch == 1:
        # 2 sqrt(ln 24000 / 200) + 2 ln 12000 / 100 = 0.4491 + 0.1879.
        assert threshold(3, 1000, 1.0, 1, 100) == pytest.approx(0.6370, abs=1e-4)
    for hair in (1e-9, -1e-9):
        agent = begun(SuccessiveElimination(epsilon=epsilon), 3, 1000, rng=InOrder())
        sums, counts = np.zeros(3), np.zeros(3, np.int64)
        for e in range(1, epoch + 1):
            samples = 100 * e
            behind = threshold(3, 1000, epsilon, e, samples) + hair if e == epoch else 0.0
            for arm, mean in enumerate([0.8, 0.9, 0.9 - behind]):
                assert agent.select_arm() == arm
                # Released only when the block is full; until then the arm is played on.
                told(agent, sums, counts, arm=arm, rounds=3)
                assert agent.select_arm() == arm
                sums[arm], counts[arm] = mean * samples, samples
                told(agent, sums, counts, arm=arm)
        assert alive(agent) == [1, 1, 0 if hair > 0 else 1]


def test_blocks_with_one_sum_are_told_apart_by_their_number():
    """The same sums and counts again and again, as without noise: a turn ends with a release, and only then."""
    agent = begun(SuccessiveElimination(), 3, 1000, rng=InOrder())
    releases = np.zeros(3, int)
    for turn in range(9):
        arm = turn % 3
        told(agent, [10, 10, 10], [20, 20, 20], arm=arm, releases=releases, rounds=2)
        assert agent.select_arm() == arm
        releases[arm] += 1
        told(agent, [10, 10, 10], [20, 20, 20], arm=arm, releases=releases)
        assert agent.select_arm() == (arm + 1) % 3
    assert agent._state.status[EPOCH] == 4
    env = BlockSums(BanditEnv(GainTable(np.full((60, 3), 0.5))), epsilon=math.inf, ratio=1, first=5)
    turns = play(env, SuccessiveElimination()).arms.reshape(4, 3, 5)
    assert (turns == turns[:, :, :1]).all()
    orders = turns[:, :, 0].tolist()
    assert all(sorted(order) == [0, 1, 2] for order in orders) and len(set(map(tuple, orders))) > 1


def test_arms_that_are_gone_are_skipped_and_the_rest_take_turns():
    """A naive version beside it: epochs over the arms left, each played until its release, in order of number."""
    rng = np.random.default_rng(3)
    n_arms, horizon, epsilon = 5, 10_000, 2.0
    means = np.array([0.9, 0.2, 0.87, 0.5, 0.7])
    agent = begun(SuccessiveElimination(epsilon=epsilon), n_arms, horizon, rng=InOrder())
    left, sums, counts, gone = list(range(n_arms)), np.zeros(n_arms), np.zeros(n_arms, np.int64), []
    for epoch in range(1, 12):
        samples = 60 * 2**epoch
        for arm in left:
            for _ in range(2):
                assert agent.select_arm() == arm
                told(agent, sums, counts, arm=arm)
            assert agent.select_arm() == arm
            sums[arm], counts[arm] = samples * (means[arm] + rng.normal(0, 0.01)), samples
            told(agent, sums, counts, arm=arm)
        released = {arm: sums[arm] / samples for arm in left}
        limit = max(released.values()) - threshold(n_arms, horizon, epsilon, epoch, samples)
        gone += [(epoch, arm) for arm in left if released[arm] < limit]
        left = [arm for arm in left if released[arm] >= limit]
        assert [arm for arm in range(n_arms) if alive(agent)[arm]] == left
    # All but two went, in different epochs, so that skipping first, middle and last arms was seen.
    assert [arm for _, arm in gone] == [1, 3, 4, 2]
    assert len({epoch for epoch, _ in gone}) == 4


def test_the_last_arm_is_played_whatever_is_released():
    agent = begun(SuccessiveElimination(), 2, 1000, rng=InOrder())
    told(agent, [0, 0], [1000, 0], arm=agent.select_arm())
    told(agent, [0, 1000], [1000, 1000], arm=agent.select_arm())
    assert alive(agent) == [0, 1]
    for count in range(2000, 6000, 1000):
        assert agent.select_arm() == 1
        told(agent, [9e9, -9e9], [count, count], arm=1)
    assert alive(agent) == [0, 1]


@pytest.mark.thorough
def test_equal_arms_all_stay():
    """A game of fair coins: it loses an arm with probability at most pi^2 / 12 / T, below 0.00002.

    T = 50,000 with three arms are three epochs; pulls differ by no more than the epoch in which the game ends.

    False alarm: 2e-5 at most (as above, which is a loose bound).
    """
    algorithm = make_algorithm("DP-SE", epsilon=1.0)
    horizon, agent = 50_000, algorithm.agent()
    game = play(algorithm.wrap(BanditEnv(Stochastic(means=[0.5] * 3, horizon=horizon))), agent)
    assert alive(agent) == [1, 1, 1]
    assert agent._state.status[EPOCH] >= 2
    lengths = epoch_lengths(3, horizon, 1.0)
    pulls = np.bincount(game.arms, minlength=3)
    assert pulls.max() - pulls.min() <= lengths[agent._state.status[EPOCH] - 1]

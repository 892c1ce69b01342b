"""Low bits of any draw, Laplace noise at a delta, clipped noise, and gains that show beside their noise."""

import math
import warnings
from typing import NamedTuple

import numpy as np
import pytest

from dp_bandit_envs import Algorithm
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.audits import exact_loss, float_loss
from dp_bandit_envs.audits.floats import chosen_numbers
from dp_bandit_envs.audits.linear_noise import draw_cdf, epsilon_of_moves, loss_between
from dp_bandit_envs.cli import audit_commands
from dp_bandit_envs.conformance import ConformanceError, check_wrapper
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy import Mechanism, PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import to_grid
from dp_bandit_envs.privacy.mechanisms import CounterSums, IntervalSums
from dp_bandit_envs.wrappers import LaplaceClipRescale, PrivacyBoundary
from tests.tools.refusals import refused

SHOW_ARMS = ["EXP3", "Tsallis-INF", "EXP3-SET", "Lazy-Hedge", "EXP3-tau", "Hedge"]
SLOW = ("DP-UCB", "DP-SE", "AS-FTRL", "AS-FTPL", "DP-FTRL")
NOISY = [
    name
    for name in ALGORITHMS
    if make_algorithm(name).own_guarantee is None
    and make_algorithm(name).guarantee(n_arms=2, horizon=64).model != "none"
]
STEP = 2.0**-20


class State(NamedTuple):
    """Sum and number of the gains of each arm, and the grid."""

    total: np.ndarray
    number: np.ndarray
    grid: float


class Blocks(Mechanism):
    """Releases sums of blocks of gains with noise; `leak` of a block's last gain is added after rounding."""

    releases_sums = True

    def __init__(self, *, draw, block=1, leak=0.0, grid=STEP):
        def release(state, arm, gain, rng):
            state.total[arm] += gain
            state.number[arm] += 1
            if state.number[arm] % block:
                return 0.0, 0
            total, state.total[arm] = float(state.total[arm]), 0.0
            return to_grid(total + draw(rng), state.grid) + leak * gain, int(state.number[arm])

        self.release, self._grid = release, grid

    def new_state(self, below):
        return State(np.zeros(below.n_values), np.zeros(below.n_values, np.int64), self._grid)

    def guarantee(self, below):
        """Claim 1 for each gain of a round, with a delta for what draws are."""
        return PrivacyGuarantee(epsilon=below.sensitivity, delta=1e-6)


DRAWS = {
    "laplace": lambda rng: rng.laplace(0.0, 1.0),
    "downwards": lambda rng: -rng.laplace(0.0, 1.0),
    "about a place": lambda rng: rng.laplace(2.0, 1.0),
    "normal": lambda rng: rng.normal(0.0, 4.0),
    "standard normal": lambda rng: 4.0 * rng.standard_normal(),
    "by the quantile": lambda rng: -math.log(1.0 - rng.random()),
    "two draws": lambda rng: rng.laplace(0.0, 1.0) + rng.laplace(0.0, 1.0),
    "two exponentials": lambda rng: rng.exponential(1.0) - rng.exponential(1.0),
}


SIZES = [
    *((kind, 1) for kind in DRAWS),
    *(("laplace", block) for block in (7, 40)),
    *(pytest.param(kind, block, marks=pytest.mark.slow) for kind in DRAWS for block in (7, 40) if kind != "laplace"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "block"), SIZES)
def test_a_leak_in_low_bits_is_seen_and_honest_noise_is_not_accused(kind, block):
    """The noise has steps of 2^-20, and a gain of 1 adds 2^-25; a block of 40 is first full in a game of 64 rounds."""
    if kind == "by the quantile":
        # One-sided noise: a sum below the changed gain is impossible from the other end, which is a true finding.
        assert float_loss(Blocks(draw=DRAWS[kind], block=block), games=40).impossible > 0
        return
    honest = float_loss(Blocks(draw=DRAWS[kind], block=block), games=40)
    assert (honest.impossible, honest.games) == (0, 40) and honest.holds
    leaky = Blocks(draw=DRAWS[kind], block=block, leak=2.0**-25)
    if kind.startswith("two"):
        with refused(NotAuditedError, "several"):
            float_loss(leaky, games=40)
        return
    loss = float_loss(leaky, games=40)
    assert loss.impossible == 40 and loss.delta > 0.8 and not loss.holds
    if kind == "laplace":
        assert exact_loss(leaky, horizon=80).epsilon < 1.000001


@pytest.mark.thorough
def test_no_algorithm_shows_a_gain_in_low_bits():
    for name in [name for name in NOISY if name not in SLOW]:
        loss = float_loss(name, games=20)
        assert loss.impossible == 0 and loss.games == 20 and loss.holds


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_no_algorithm_shows_a_gain_in_low_bits_at_a_late_first_release(name):
    assert name in NOISY
    assert float_loss(name, games=20).impossible == 0


def test_arms_have_no_low_bits():
    for name in SHOW_ARMS:
        with refused(NotAuditedError, name, "arms"):
            float_loss(name)
    # A release that rises and falls with its draw is not judged.
    mechanism = Blocks(draw=lambda rng: abs(rng.laplace(0.0, 1.0)), leak=2.0**-25)
    with refused(NotAuditedError, "rises and falls"):
        float_loss(mechanism, games=20)


@pytest.mark.thorough
def test_a_wrapper_that_leaks_in_low_bits_breaks_a_rule():
    def wrap(leak):
        return lambda env: PrivacyBoundary(env, Blocks(draw=DRAWS["laplace"], leak=leak))

    check_wrapper(wrap(0.0), games=0)
    with refused(ConformanceError, "possible for every gain", "200 of 200"):
        check_wrapper(wrap(2.0**-25), games=0)


@pytest.mark.thorough
def test_a_wrapper_whose_low_bits_cannot_be_looked_at_is_passed_with_a_warning():
    with pytest.warns(UserWarning, match="low bits not looked at: .*triangular") as warned:
        check_wrapper(
            lambda env: PrivacyBoundary(env, Blocks(draw=lambda rng: rng.triangular(-1, 0, 1))), games=0, horizon=8
        )
    assert [one.filename for one in warned] == [__file__]  # the line of whoever called it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_wrapper(lambda env: LaplaceClipRescale(env, epsilon=1.0), games=0, horizon=8)


def test_all_releases_of_a_short_game_are_looked_at_and_no_more_are_said_to_be():
    """Of a longer one the first four, the last and others that the seed draws; each is looked at about as often."""
    loss = float_loss(Blocks(draw=DRAWS["laplace"]), games=40)
    assert loss.numbers == tuple(range(1, 17)) and (loss.releases, loss.games) == (16, 40)
    few = float_loss(Blocks(draw=DRAWS["laplace"]), games=3)
    assert (few.numbers, few.games) == ((1, 2, 3), 3)
    longer = [float_loss(Blocks(draw=DRAWS["laplace"]), games=20, horizon=40, seed=seed) for seed in (0, 1)]
    for loss in longer:
        assert len(loss.numbers) == 16 and loss.releases == 40 and loss.games == 20
        assert loss.numbers[:4] == (1, 2, 3, 4) and loss.numbers[-1] == 40
    assert longer[0].numbers != longer[1].numbers
    assert set().union(*(chosen_numbers(40, seed) for seed in range(40))) == set(range(1, 41))


def rows_of(mechanism):
    algorithm = Algorithm("mine", Ucb, lambda env: PrivacyBoundary(env, mechanism))
    rows, _, _, code = audit_commands._audited(algorithm, confidence=0.99, horizon=8, games=0, seed=0)
    return {row.bar.label: row.verdict for row in rows}, code


@pytest.mark.thorough
def test_the_command_says_what_low_bits_show():
    """The three verdicts: fine, refuted, and not looked at, which is then said beside the exact loss, too."""
    rows, code = rows_of(Blocks(draw=DRAWS["laplace"]))
    assert rows["low bits"].startswith("show no gain") and code == 0
    assert rows["exact, of the noise"] == "within the claim"
    rows, code = rows_of(Blocks(draw=DRAWS["laplace"], grid=0.0))
    assert rows["low bits"].startswith("refuted") and code == audit_commands.REFUTED_CODE
    assert rows["exact, of the noise"] == "within the claim"
    rows, code = rows_of(Blocks(draw=DRAWS["two draws"], grid=0.0, leak=-(2.0**-25)))
    assert rows["low bits"].startswith("low bits not looked at: ") and code == 0
    assert rows["exact, of the noise"] == "within the claim; low bits not looked at"


# ---- linear noise


class Plain(Mechanism):
    """A mechanism of a function of its state, the arm, the gain and the stream."""

    withholds = False

    def __init__(self, release, *, epsilon, delta=0.0, state=lambda: ()):
        self.release, self._state = release, state
        self._claim = PrivacyGuarantee(epsilon=epsilon, delta=delta)

    def new_state(self, draw_cdf):
        return self._state()

    def guarantee(self, draw_cdf):
        return self._claim


def clipped(kind, scale, *, low=0.0, high=1.0, standard=False):
    """Return a release that clips the gain plus noise; `standard` draws are multiplied by the scale afterwards."""

    def release(state, arm, gain, rng):
        draw = getattr(rng, kind)
        noise = scale * draw(0.0, 1.0) if standard else draw(0.0, scale)
        return min(max(gain + noise, low), high), 1

    return release


SIGMAS = (0.3, 1.0, 5.3)


def true_loss(sigma):
    """Return the loss of clip(gain + normal draw, 0, 1): a 0 comes from gain 0 with chance 1/2, from 1 with Phi(-1/s).

    Inside, the log ratio of the densities is at most 1 / (2 s^2), which is less.
    """
    return math.log(0.5 / (math.erfc(1 / sigma / math.sqrt(2)) / 2))


@pytest.mark.thorough
@pytest.mark.parametrize(("sigma", "standard"), [(1.0, False), (0.3, True)])
def test_clipped_normal_noise_loses_what_the_ends_show(sigma, standard):
    truth = true_loss(sigma)
    honest = exact_loss(Plain(clipped("normal", sigma, standard=standard), epsilon=1.001 * truth))
    assert honest.epsilon == pytest.approx(truth, rel=1e-9)
    assert honest.holds and honest.attained and "exact" in str(honest) and "within" in str(honest)
    liar = exact_loss(Plain(clipped("normal", sigma, standard=standard), epsilon=0.999 * truth))
    assert liar.refuted and "refuted" in str(liar)


@pytest.mark.thorough
@pytest.mark.parametrize("sigma", SIGMAS)
def test_an_honest_delta_does_not_refute_clipped_noise(sigma):
    """As above, with a delta besides, which makes the loss smaller."""
    loss = exact_loss(Plain(clipped("normal", sigma), epsilon=1.05 * true_loss(sigma), delta=1e-6))
    assert loss.holds and 0.99 * true_loss(sigma) < loss.epsilon < true_loss(sigma)


@pytest.mark.parametrize(("epsilon", "standard"), [(0.1, False), (1.0, True), (10.0, False)])
def test_clipped_laplace_noise_loses_epsilon(epsilon, standard):
    release = clipped("laplace", 1 / epsilon, standard=standard)
    loss = exact_loss(Plain(release, epsilon=epsilon))
    assert loss.epsilon == pytest.approx(epsilon, rel=1e-9) and loss.holds and loss.attained
    assert exact_loss(Plain(release, epsilon=0.99 * epsilon)).refuted


def test_two_gains_of_a_round_lose_twice_as_much_clipped_too():
    game = ExpertsEnv(gains=GainTable(np.zeros((4, 2))))
    loss = exact_loss(Plain(clipped("normal", 1.0), epsilon=2.3), environment=game)
    assert loss.epsilon == pytest.approx(2 * true_loss(1.0), rel=1e-9) and loss.holds


ENDS = [(0.0, 1.3), (-0.4, 0.9), (-3.0, 5.0), (0.3, 0.5)]


def test_the_loss_between_two_ends_is_that_of_all_events():
    """The smallest epsilon by the definition: the sum over cells of (p - e^epsilon q)+ is at most delta."""
    for delta, ends in [*((delta, ENDS[1]) for delta in (0.0, 1e-6, 0.2)), *((0.01, ends) for ends in ENDS)]:
        for kind in ["laplace", "normal"]:
            distance = 1.3
            edges = np.array([-np.inf, *np.linspace(*ends, 4001), np.inf])
            worlds = [np.diff([draw_cdf(kind, edge - shift) for edge in edges]) for shift in (0.0, distance)]
            found = loss_between(kind, distance, *ends, delta)
            over = []
            for epsilon in (found - 1e-3, found + 1e-3):
                pairs = (worlds, worlds[::-1])
                over.append(max(np.maximum(one - math.exp(epsilon) * other, 0).sum() for one, other in pairs) - delta)
            assert found == 0 or over[0] > 0
            assert over[1] <= 1e-12


def tells_the_second_zero(state, arm, gain, rng):
    """Release the second of two gains of 0 without noise."""
    noise = rng.laplace(0.0, 1.0)
    alone = gain > 0 or state[arm] > 0
    state[arm] = gain
    return gain + noise if alone else 0.0, 1


def tells_one_gain(state, arm, gain, rng):
    """Move the release of a gain of 1/4 or less by a little."""
    return gain + rng.laplace(0.0, 1.0) + (0.1 if gain <= 0.25 else 0.0), 1


@pytest.mark.parametrize(("release", "state"), [(tells_the_second_zero, lambda: np.ones(2)), (tells_one_gain, tuple)])
def test_a_gain_that_shows_beside_the_noise_is_not_passed(release, state):
    mechanism = Plain(release, epsilon=1.0, state=state)
    mechanism.releases_sums = True
    for seed in range(5):
        with refused(NotAuditedError, "Plain", "sampled_loss"):
            exact_loss(mechanism, seed=seed)


@pytest.mark.thorough
def test_a_random_bit_that_knows_the_gain_before_is_not_passed():
    def release(state, arm, gain, rng):
        bit = 1.0 if rng.random() < 0.25 + 0.5 * gain else 0.0
        told = gain == 0 == state[0]
        state[0] = gain
        return 0.0 if told else bit, 1

    with refused(NotAuditedError, "other gains"):
        exact_loss(Plain(release, epsilon=1.1, state=lambda: np.ones(1)))

    # Normal noise that is withheld outside [0, 1] loses 1 / (2 s^2) inside, which no rule here finds.
    def release(state, arm, gain, rng):
        noisy = gain + rng.normal(0.0, 1.0)
        return (noisy, 1) if 0 <= noisy <= 1 else (0.0, 0)

    mechanism = Plain(release, epsilon=0.6, delta=1e-6)
    mechanism.withholds = True
    loss = exact_loss(mechanism)
    assert not loss.attained and not loss.holds and not loss.refuted
    assert "at most" in str(loss) and "neither" in str(loss)


@pytest.mark.parametrize("delta", [1e-9, 0.1, 0.3])
def test_one_draw_by_hand(delta):
    """A move by r scales has delta = 1 - e^((epsilon - r) / 2), so epsilon = r + 2 ln(1 - delta)."""
    found = epsilon_of_moves(np.array([0.0, -1.0]), delta)
    exact = 1 + 2 * math.log1p(-delta)
    assert exact <= found <= exact + 1e-4


@pytest.mark.thorough
def test_intervals_lose_at_their_delta_what_they_claim():
    """Many releases of one arm: pure loss 1.9, .84 by zCDP at delta .1, exactly .48, which is also what is declared.

    Two draws by sampling: E max(0, 1 - e^(epsilon - y)) over 400,000 losses is delta, within five standard errors.
    False alarm: 6e-7.
    """
    loss = exact_loss(IntervalSums(epsilon=5.0, delta=0.1), horizon=64)
    assert loss.declared.delta == 0.1
    assert loss.holds and loss.ratio > 0.999
    later = loss.by_round[loss.by_round > 0]
    assert (np.diff(later) <= 1e-9).all()
    rng, moves, delta = np.random.default_rng(1), np.array([0.5, 1.2]), 0.05
    epsilon = epsilon_of_moves(moves, delta)
    draws = rng.laplace(size=(400_000, 2))
    losses = (np.abs(draws + moves) - np.abs(draws)).sum(axis=1)
    over = np.maximum(0.0, -np.expm1(np.minimum(epsilon - losses, 0.0)))
    assert abs(over.mean() - delta) < 5 * over.std() / math.sqrt(len(over)) + 1e-4


def test_a_false_claim_at_a_delta_is_refuted(monkeypatch):
    claim = PrivacyGuarantee(epsilon=0.4, delta=0.1, theorem="false")
    monkeypatch.setattr(IntervalSums, "guarantee", lambda self, draw_cdf: claim)
    assert not exact_loss(IntervalSums(epsilon=5.0, delta=0.1), horizon=64).holds


def test_draws_that_outnumber_releases_are_refused_at_a_delta(monkeypatch):
    """Then a change can be hidden in many ways, and the loss is that of no single one."""
    claim = PrivacyGuarantee(epsilon=0.5, delta=0.01, theorem="false")
    monkeypatch.setattr(CounterSums, "guarantee", lambda self, draw_cdf: claim)
    with refused(NotAuditedError, "CounterSums", "sampled_loss"):
        exact_loss(CounterSums(counter="padded-binary", epsilon=1.0), horizon=8)

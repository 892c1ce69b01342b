"""Low bits: releases that one gain can lead to and another one cannot are found at any first release, of any draw."""

import math
import warnings
from typing import NamedTuple

import numpy as np
import pytest

from dp_bandit_envs import Algorithm
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.audits import exact_loss, float_loss
from dp_bandit_envs.audits.floats import chosen_numbers
from dp_bandit_envs.cli import audit_commands
from dp_bandit_envs.conformance import ConformanceError, check_wrapper
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy import Mechanism
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import to_grid
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


def test_a_release_that_rises_and_falls_with_its_draw_is_not_judged():
    mechanism = Blocks(draw=lambda rng: abs(rng.laplace(0.0, 1.0)), leak=2.0**-25)
    with refused(NotAuditedError, "rises and falls"):
        float_loss(mechanism, games=20)


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


@pytest.mark.thorough
def test_a_wrapper_that_leaks_in_low_bits_breaks_a_rule():
    def wrap(leak):
        return lambda env: PrivacyBoundary(env, Blocks(draw=DRAWS["laplace"], leak=leak))

    check_wrapper(wrap(0.0), games=0)
    with refused(ConformanceError, "possible for every gain", "200 of 200"):
        check_wrapper(wrap(2.0**-25), games=0)


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

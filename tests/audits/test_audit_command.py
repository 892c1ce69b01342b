"""`dp-bandit audit`: one row for what is declared, one for what the noise loses, one for what arms reveal."""

import math
import re
from typing import NamedTuple

import numpy as np
import pytest
import typer
from matplotlib.colors import to_hex
from rich.console import Console

from dp_bandit_envs import Algorithm, register_algorithm
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.audits import exact_loss, sampled_loss
from dp_bandit_envs.audits.sampled import GAMES_IN_PYTHON, PlayedInPython
from dp_bandit_envs.cli.audit_commands import (
    LOW_BITS,
    NOT_AUDITED_CODE,
    REFUTED,
    REFUTED_CODE,
    _audited,
    _which,
    show_audit,
)
from dp_bandit_envs.cli.options import picture
from dp_bandit_envs.errors import NotAuditedError, WrongGameError
from dp_bandit_envs.plots.plot_style import VERMILION
from dp_bandit_envs.plots.privacy_figures import MOST_WIDE, Bar, audit_figure
from dp_bandit_envs.privacy import Mechanism, PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import noisy, to_grid
from dp_bandit_envs.privacy.mechanisms import LaplaceClipRescale
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.tools.refusals import refused


@pytest.fixture(autouse=True)
def shorter_audits(monkeypatch):
    """Look at the low bits of fewer releases (see `test_noise_loss`), and at late releases of shorter games."""
    monkeypatch.setattr("dp_bandit_envs.cli.audit_commands.LOW_BITS", 40)
    monkeypatch.setattr("dp_bandit_envs.cli.audit_commands.LATE", 60)
    monkeypatch.setattr("dp_bandit_envs.cli.audit_commands.FEWEST_LATE", 100)


def shown(text, *, epsilon=1.0, games=0, confidence=0.99, horizon=8, width=140, out=None, code=0):
    console = Console(width=width, record=True, quiet=False)
    with console.capture() as captured:
        settings = {"epsilon": epsilon, "confidence": confidence, "horizon": horizon, "games": games, "out": out}
        assert show_audit(console, text, seed=0, **settings) == code
    return captured.get()


def numbers(table, row):
    """Return the epsilon in the row that begins with this word."""
    return re.search(rf"{row}[^│]*│\s*(?:>= )?(\S+)", table)[1]


@pytest.mark.thorough
def test_declared_and_exact_epsilon_are_shown():
    table = shown("DP-UCB", epsilon=0.7)
    assert numbers(table, "declared") == "0.7" == numbers(table, "exact")
    assert "within" in table and "sampled" not in table
    assert numbers(shown("DP-EXP3-Lap:epsilon=.3", epsilon=None), "exact") == "0.3"  # parameters follow a name


@pytest.mark.thorough
def test_the_plot_is_saved(tmp_path):
    out = tmp_path / "audit.png"
    table = shown("AdaP-UCB", out=out)
    assert str(out) in table.replace("\n", "")
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.thorough
def test_a_game_without_a_release_is_not_audited():
    """At epsilon = 1 the first interval needs over 32 rounds."""
    table = shown("DP-UCB-INT", games=1_000, code=NOT_AUDITED_CODE, width=200)
    assert "nothing was released in 8 rounds" in table and "--horizon 64" in table
    assert "within" not in table and "not refuted" not in table and numbers(table, "exact") == "-"
    table = shown("DP-UCB-INT", horizon=64)
    assert numbers(table, "exact") == numbers(table, "declared")


class HalfFrom(NamedTuple):
    """The number of gains so far, `(1,)`."""

    seen: np.ndarray


def release_with_half_the_noise_later(state, arm, gain, rng):
    """Add noise of scale 1, and of half as much from the 40th release on."""
    state.seen[0] += 1
    scale = 0.5 if state.seen[0] >= 40 else 1.0
    return min(max(gain + rng.laplace(0.0, scale), -30.0), 30.0), int(state.seen[0])


class HalfTheNoiseLater(Mechanism):
    """Loses 2 from the 40th release on, and claims 1."""

    release = staticmethod(release_with_half_the_noise_later)
    releases_sums = True

    def new_state(self, below):
        return HalfFrom(np.zeros(1, np.int64))

    def guarantee(self, below):
        return PrivacyGuarantee(epsilon=1.0)


@pytest.mark.slow
def test_half_the_noise_from_the_40th_release_on_is_seen():
    """The sampled bounds are shown with their confidence."""
    mine = Algorithm("Half", Ucb, lambda env: PrivacyBoundary(env, HalfTheNoiseLater()))
    register_algorithm("Half", lambda: mine)
    table = shown("Half", epsilon=None, games=5_000, confidence=0.9, horizon=4, width=200, code=REFUTED_CODE)
    assert numbers(table, "exact") == "1" and "within the claim" in table and "confidence 0.9 " in table
    assert numbers(table, "exact, 64 rounds") == "2"
    for row in ("sampled, arms", "sampled, releases"):
        assert 0 <= float(numbers(table, row)) <= 1
    assert 1 < float(numbers(table, "sampled, late releases")) <= 2 and table.count(REFUTED) == 3
    assert "A leak in fewer than about 1 of 70 games is not seen." in table


def test_a_plot_that_cannot_be_saved_is_refused_before_anything_is_played(tmp_path):
    with refused(typer.BadParameter, ".png", "audit.txt"):
        picture(tmp_path / "audit.txt")


def test_a_refuted_claim_is_red_and_an_infinite_bar_ends_at_the_axis():
    bars = [
        Bar("declared", "declared", 1.0),
        Bar("exact", "exact", math.inf),
        Bar("arms", "arms", 0.5, at_least=True),
        Bar("releases", "releases", None, at_least=True),
        Bar("arms", "a little more", 1.01, at_least=True),
    ]
    axes = audit_figure(bars, "").axes[0]
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == [1.0, MOST_WIDE * 1.01, 0.5, 0.0, 1.01]
    red = [to_hex(patch.get_facecolor()).upper() == VERMILION for patch in axes.patches]
    assert red == [False, True, False, False, True]
    assert [text.get_text() for text in axes.texts] == ["1", r"$\infty$", "at least 0.5", "-", "at least 1.01"]


@pytest.mark.slow
def test_an_agents_own_draws_are_audited_in_short_games():
    table = shown("EXP3", epsilon=None, games=100, horizon=3)
    assert 0.2 < float(numbers(table, "exact")) < 0.3
    assert numbers(shown("EXP3", epsilon=None, horizon=8, code=NOT_AUDITED_CODE), "exact") == "-"
    declared = make_algorithm("EXP3").guarantee(n_arms=2, horizon=3).epsilon
    assert numbers(table, "declared") == f"{declared:.6g}" and declared < 3


class InPython(HalfTheNoiseLater):
    """The same, which cannot be compiled."""

    @property
    def release(self):
        return self.release_here

    def release_here(self, state, arm, gain, rng):
        return release_with_half_the_noise_later(state, arm, gain, rng)


@pytest.mark.thorough
def test_games_in_ordinary_python_are_fewer_and_say_how_long_they_take(capsys, monkeypatch):
    """Time stands at 100 s after the first look: the first line is there, with the reason and what is left."""
    seconds = iter([0.0, *range(100, 10**6, 100)])
    monkeypatch.setattr("dp_bandit_envs.audits.sampled.GAMES_IN_PYTHON", 100)
    monkeypatch.setattr("dp_bandit_envs.audits.sampled.FEWEST", 20)
    made = PlayedInPython("InPython", lambda: next(seconds))
    monkeypatch.setattr("dp_bandit_envs.audits.sampled.PlayedInPython", lambda name: made)
    loss = sampled_loss(InPython(), of="releases", horizon=2)
    assert loss.games == 100 < GAMES_IN_PYTHON and loss.note
    said = capsys.readouterr().err
    assert "InPython is played in ordinary Python: " in said and "games=100 (--games 100)" in said
    assert re.search(r"\d% played in 100 s, about [\d,]+ s left", said) and said.count("played in") < 20
    assert made._done == pytest.approx(made._total, rel=0.35)
    sampled_loss(InPython(), of="releases", horizon=2, games=100, progress=False)
    assert capsys.readouterr().err == ""


def withhold_low_gains(state, arm, gain, rng):
    """Withhold gains up to .1."""
    return (gain + rng.laplace(0.0, 1.0), 1) if gain > 0.1 else (0.0, 0)


def withhold_all_but_middling_gains(state, arm, gain, rng):
    """Withhold gains that are near an end of the range."""
    return (gain + rng.laplace(0.0, 1.0), 1) if 0.3 < gain < 0.7 else (0.0, 0)


def withhold_middling_gains(state, arm, gain, rng):
    """Withhold gains in the middle of the range, and no others."""
    return (0.0, 0) if 0.4 < gain < 0.6 else (gain + rng.laplace(0.0, 1.0), 1)


class WithholdsLow(HalfTheNoiseLater):
    """Shows whether a gain is at most .1."""

    release = staticmethod(withhold_low_gains)


class WithholdsEnds(HalfTheNoiseLater):
    """Shows whether a gain is in the middle."""

    release = staticmethod(withhold_all_but_middling_gains)


class WithholdsMiddle(HalfTheNoiseLater):
    """Shows whether a gain is near an end."""

    release = staticmethod(withhold_middling_gains)


@pytest.mark.slow_cases("WithholdsMiddle", "WithholdsEnds")
@pytest.mark.thorough
@pytest.mark.parametrize("kind", [WithholdsLow, WithholdsEnds, WithholdsMiddle])
def test_what_withholds_some_gains_is_refuted_by_samples(kind):
    """The exact audit has a row that says why it does not judge."""
    table = shown(f"{__name__}:{kind.__name__}", epsilon=None, games=2_000, width=240, code=REFUTED_CODE)
    assert numbers(table, "exact") == "-" or kind is WithholdsMiddle
    assert float(numbers(table, "sampled, releases")) > 3


class DrawsArrays(HalfTheNoiseLater):
    """Draws an array of one number, which no fake generator gives."""

    release = staticmethod(lambda state, arm, gain, rng: (gain + rng.laplace(0.0, 1.0, size=1)[0], 1))


class Plain(NamedTuple):
    """The number of gains so far, `(1,)`, earlier draws, `(40,)`, and the grid."""

    seen: np.ndarray
    draws: np.ndarray
    grid: float


def repeat_draws(state, arm, gain, rng):
    """Add the draw of 40 releases before."""
    place = state.seen[0] % 40
    if state.seen[0] < 40:
        state.draws[place] = rng.laplace(0.0, 1.0)
    state.seen[0] += 1
    return to_grid(gain + state.draws[place], state.grid), 1


def draw_once_a_round(state, arm, gain, rng):
    """Add one draw to all gains of a round."""
    if state.seen[0] == 0:
        state.draws[0] = rng.laplace(0.0, 2.0)
    state.seen[0] = 1
    return to_grid(gain + state.draws[0], state.grid), 1


def noisy_where(is_rounded):
    """Return a release of noise that is rounded where its number is."""

    def release(state, arm, gain, rng):
        state.seen[0] += 1
        return noisy(gain, 1.0, state.grid if is_rounded(state.seen[0]) else 0.0, rng), 1

    return staticmethod(release)


def noisy_for_one(state, arm, gain, rng):
    """Add noise for one gain, however many are revealed."""
    return noisy(gain, 1.0, state.grid, rng), 1


def forget_round(state):
    """Begin another round."""
    state.seen[0] = 0


class Claims(Mechanism):
    """Claims epsilon = 1 for each gain that a round reveals, or for all of them."""

    releases_sums = True
    for_all = False

    def new_state(self, below):
        return Plain(np.zeros(1, np.int64), np.zeros(40), 2.0**-8)

    def guarantee(self, below):
        return PrivacyGuarantee(epsilon=1.0 if self.for_all else below.sensitivity)


LEAKS = [
    ({"release": staticmethod(repeat_draws)}, "exact, 64 rounds"),
    ({"release": staticmethod(noisy_for_one), "for_all": True}, "exact, two gains a round"),
    ({"release": staticmethod(draw_once_a_round), "forget": staticmethod(forget_round)}, "exact, two gains a round"),
    *(
        ({"release": noisy_where(is_rounded)}, "low bits")
        for is_rounded in (lambda n: n == 1, lambda n: n < 10, lambda n: n != 3, lambda n: n != 12)
    ),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("parts", "label"), LEAKS)
def test_leaks_later_in_a_game_and_in_rounds_with_two_gains_are_refuted(parts, label, monkeypatch):
    """Each was passed; the row that refutes it is the only one."""
    monkeypatch.setattr("dp_bandit_envs.cli.audit_commands.LOW_BITS", LOW_BITS)
    kind = type("Leaks", (Claims,), parts)
    rows, _, _, code = _audited(kind(), confidence=0.99, horizon=8, games=0, seed=0)
    assert [row.bar.label for row in rows if row.verdict.startswith("refuted")] == [label] and code == REFUTED_CODE


class ForOneGain(Claims):
    """Is for games that reveal one gain a round, and refuses others by an error of its own."""

    release = staticmethod(noisy_for_one)

    def new_state(self, below):
        if below.sensitivity > 1:
            raise self.refusal("one gain a round, please.")
        return super().new_state(below)


@pytest.mark.thorough
@pytest.mark.parametrize("refusal", [ValueError, WrongGameError])
def test_a_part_that_refuses_rounds_with_two_gains_has_a_row_that_says_so(refusal):
    """Any ValueError there was swallowed, so that nobody knew that such rounds were not looked at."""
    kind = type("ForOneGain", (ForOneGain,), {"refusal": refusal})
    rows, _, _, code = _audited(kind(), confidence=0.99, horizon=8, games=0, seed=0)
    said = {row.bar.label: row.verdict for row in rows}
    assert said["exact, two gains a round"] == f"not looked at: {refusal.__name__}: one gain a round, please."
    assert said["exact, of the noise"] == "within the claim" and code == 0


@pytest.mark.thorough
def test_the_row_of_low_bits_says_which_releases_were_looked_at():
    rows, _, _, _ = _audited(LaplaceClipRescale(epsilon=1.0), confidence=0.99, horizon=8, games=0, seed=0)
    assert rows[-1].verdict == "show no gain in 40 releases (all 16 of a game)"
    assert _which([1], 1) == "the only one of a game"
    assert _which([1, 2, 3, 5, 9, 10], 1000) == "of a game's 1,000: 1 to 3, 5, 9 to 10"
    # What fails with fake draws has a row that says so.
    with refused(NotAuditedError, "DrawsArrays", "TypeError", "sampled_loss"):
        exact_loss(DrawsArrays())
    table = shown(f"{__name__}:DrawsArrays", epsilon=None, games=0, width=240, code=NOT_AUDITED_CODE)
    assert "TypeError" in table and numbers(table, "exact") == "-"

"""The pages with the proofs name the constants that the code has."""

from pathlib import Path

import pytest

from dp_bandit_envs import Ledger
from dp_bandit_envs.privacy.accounting import ORDERS, RADIUS, RATIO, SECOND_ROUNDING, SMOOTHING
from dp_bandit_envs.privacy.composition_filters import SHARE
from dp_bandit_envs.privacy.exp3_privacy import draw_loss
from dp_bandit_envs.privacy.laplace import MARGIN

DOCS = Path(__file__).parents[2] / "docs"
if not DOCS.exists():
    pytest.skip("the pages are not beside this copy of the tests", allow_module_level=True)


def page(name):
    return " ".join((DOCS / name).read_text(encoding="utf-8").split())


def test_accounting():
    text = page("notes/accounting.md")
    assert f"{len(ORDERS)} fixed orders, $\\alpha - 1$ geometric from .01 to 4,095" in text
    assert ORDERS[0] - 1 == pytest.approx(0.01) and ORDERS[-1] - 1 == pytest.approx(4095)
    assert f"c = \\sigma / {1 / SMOOTHING:.0f}$" in text and f"one in {1 / (RATIO - 1):,.0f}" in text
    assert f"1 + {MARGIN - 1:.0e}".replace("e-09", "e-9") in text
    assert f"adds {SECOND_ROUNDING:.0e} a level" in text and f"error of {RADIUS:.0e}" in text
    assert f"$d = \\delta / {SHARE}$" in text
    budget = Ledger(epsilon=1.0, delta=1e-6).budget
    assert (budget.for_sums, budget.for_draws) == (1e-8, 1e-8) and budget.for_curve == pytest.approx(0.98e-6)


def test_own_draws():
    text, s = page("notes/exp3-privacy.md"), 1e-4
    small = draw_loss(4, 1e-6, s)
    assert f"b is {small.log_ratio / s:.3f} s".replace(" 0.", " .") in text
    assert "about $.168 \\alpha s^2 \\gamma / K$" in text
    assert small.renyi(1 + 1e-9) / (s**2 * 1e-6 / 4) == pytest.approx(0.168, abs=1e-3)

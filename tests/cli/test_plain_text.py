"""`show` prints plain text: formulas in Unicode, and no markup of any docstring."""

import re

import pytest

from dp_bandit_envs.cli.show_commands import KINDS, about, formula, plain


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\sigma = 1 / (9 \log_2 T)", "σ = 1 / (9 log_2 T)"),
        (r"\frac{\sqrt{K^{1/3} T}}{2 \epsilon}", "(√(K^(1/3) T)) / (2 ε)"),
        (r"\left\{ x : \|x\| \le 1 \right\}", "{ x : ‖x‖ ≤ 1 }"),
        (r"e^{-\eta t} \cdot \mathrm{clip}(W_{t}, 0, 1)", "e^(-η t) · clip(W_t, 0, 1)"),
    ],
)
def test_formulas_by_hand(latex, shown):
    assert formula(latex) == shown


def test_roles_and_directives_go():
    text = "A :class:`~a.B` of ``x``:\n\n.. math:: a^{2}\n   + b\n\nand :math:`c_{1}`."
    assert plain(text) == "A a.B of x:\n\n    a^2 + b\n\nand c_1."


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_show_prints_has_markup(kind):
    for name, thing in KINDS[kind]().items():
        left = re.findall(r"\\[A-Za-z]+|:\w+:`|``|\.\. math", about(kind, name, thing))
        assert not left, (name, left)

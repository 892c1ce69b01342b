"""Plain text to mathematics: parameters, horizons and numbers, and nothing that breaks a picture."""

import pytest
from matplotlib.mathtext import MathTextParser

from dp_bandit_envs.plots.plot_style import typeset


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("DP-KLUCB (eps 1)", r"DP-KLUCB ($\varepsilon=1$)"),
        ("EXP3-tau (eps 2.065, delta 1e-08)", r"EXP3-tau ($\varepsilon=2.065$, $\delta=10^{-8}$)"),
        ("delta 4.54e-05", r"$\delta=4.54\times10^{-5}$"),
        ("eps 0.05 to 2", r"$\varepsilon=0.05$ to 2"),
        ("2 arms, epsilon = 0.1", r"2 arms, $\varepsilon=0.1$"),
        ("d = 10, T = 262,144", r"$d=10$, $T=2^{18}$"),
        ("T = 1,000,000", r"$T=10^{6}$"),
        ("T = 1,000", r"$T=1{,}000$"),
        ("T = 300", r"$T=300$"),
        ("T = 0", r"$T=0$"),
        ("K = 1,024", r"$K=1{,}024$"),
        ("epsilon", r"$\varepsilon$"),
        ("delta = T^-2", r"$\delta$ = $T^{-2}$"),
        ("1 / sqrt(T)", r"1 / $\sqrt{T}$"),
        ("sqrt(chi H t / 2)", r"$\sqrt{\chi\ H\ t\ /\ 2}$"),
        ("round t", "round $t$"),
        ("1e5 games", r"$10^{5}$ games"),
        # What is no mathematics stays as it is.
        ("epsilon-greedy", "epsilon-greedy"),
        ("my_deltas 3", "my_deltas 3"),
        ("a_b^c 50 %", "a_b^c 50 %"),
        ("x2e5 T-shirt d", "x2e5 T-shirt d"),
        ("costs $5 and $6", r"costs \$5 and \$6"),
        (r"$\varepsilon$ of DP-TS", r"$\varepsilon$ of DP-TS"),
        (r"$\nonsense{$", r"\$\nonsense{\$"),
        ("", ""),
    ],
)
def test_text_is_typeset(plain, shown):
    assert typeset(plain) == shown
    MathTextParser("path").parse(shown)


def test_any_text_can_be_drawn():
    """Mathtext raises an error where dollar signs or backslashes are not mathematics."""
    for text in ("$", "$$", "a$b$c", r"\alpha", r"$\alpha", "{$}", "$_$", "%$#", r"\$x$", "$a$ $\\frac$", "eps 1$"):
        MathTextParser("path").parse(typeset(text))

"""Turns docstrings into plain text for a terminal: formulas in Unicode, without markup."""

import re

SYMBOLS = {
    "rho": "ρ",
    "sigma": "σ",
    "chi": "χ",
    "gamma": "γ",
    "alpha": "α",
    "beta": "β",
    "delta": "δ",
    "epsilon": "ε",
    "varepsilon": "ε",
    "eta": "η",
    "lambda": "λ",
    "mu": "μ",
    "tau": "τ",
    "xi": "ξ",
    "pi": "π",
    "kappa": "κ",
    "zeta": "ζ",
    "nu": "ν",
    "theta": "θ",
    "varphi": "φ",
    "ell": "ℓ",
    "lg": "log₂",
    "Delta": "Δ",
    "Gamma": "Γ",
    "Phi": "Φ",
    "Theta": "Θ",
    "sum": "Σ",
    "prod": "Π",
    "cdot": "·",
    "cdots": "···",
    "ldots": "...",
    "dots": "...",
    "times": "×",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "ne": "≠",
    "neq": "≠",
    "in": "∈",
    "sqrt": "√",
    "sim": "~",
    "infty": "∞",
    "langle": "<",
    "rangle": ">",
    "Vert": "‖",
    "lVert": "‖",
    "rVert": "‖",
    "propto": "∝",
    "setminus": "\\",
    "int": "∫",
    "to": "→",
    "pm": "±",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
    "quad": "  ",
    "qquad": "  ",
}
SILENT = ("left", "right", "big", "bigl", "bigr", "Big", "Bigl", "Bigr", "displaystyle")


def plain(text: str) -> str:
    """Return a docstring without markup: roles, directives, double backquotes, and LaTeX in Unicode."""
    text = re.sub(r"\.\. math::\s*((?:.+\n?)+)", lambda match: f"    {formula(match[1])}\n", text)
    text = re.sub(r":math:`([^`]*)`", lambda match: formula(match[1]), text)
    text = re.sub(r":(?:class|func|meth|attr|mod):`~?([^`]*)`", r"\1", text)
    return re.sub(r"``([^`]*)``", r"\1", text)


def formula(latex: str) -> str:
    """Return a formula in one line of Unicode."""
    text = " ".join(latex.split())
    text = re.sub(r"\\[,;:! ]", " ", text).replace(r"\|", "‖").replace(r"\{", "{{").replace(r"\}", "}}")
    text = re.sub(r"\\(?:mathrm|text|operatorname|mathbb|mathcal|bar|hat|tilde)\s*\{([^{}]*)\}", r"\1", text)
    for _ in range(3):  # fractions and roots within one another
        text = re.sub(r"\\t?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"(\1) / (\2)", text)
        text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r"√(\1)", text)
        text = re.sub(r"([_^])\{(\w+)\}", r"\1\2", text)
        text = re.sub(r"([_^])\{([^{}]*)\}", r"\1(\2)", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda match: _symbol(match[1]), text)
    text = text.replace("{{", "\0").replace("}}", "\1").replace("{", "").replace("}", "")
    return re.sub(r" {3,}", "  ", text.replace("\0", "{").replace("\1", "}")).strip()


def _symbol(name: str) -> str:
    return "" if name in SILENT else SYMBOLS.get(name, name)

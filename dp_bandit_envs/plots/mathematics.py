r"""Typesets plain text for figures with Matplotlib's mathematics: `eps 1` as :math:`\varepsilon = 1`, without LaTeX."""

import math
import re

from matplotlib.mathtext import MathTextParser

GREEK = {
    "eps": r"\varepsilon",
    "epsilon": r"\varepsilon",
    "delta": r"\delta",
    "rho": r"\rho",
    "sigma": r"\sigma",
    "chi": r"\chi",
}
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?"
_POWER_OF_TWO, _POWER_OF_TEN = 2**10, 10**4
"""The smallest numbers that are written as powers, where they are a horizon."""
_PATTERN = re.compile(
    # A parameter and its number: "eps 1", "delta = 1e-06", "T = 262,144", and "K = 4".
    rf"(?<![\w$-])(?:(?P<name>eps|epsilon|delta|rho|sigma)(?:\s*=\s*|\s+)|(?P<letter>[TKd])\s*=\s*)"
    rf"(?P<value>{_NUMBER})(?![\w^])"
    # A power of T; a parameter alone; a number with an exponent alone.
    r"|(?<![\w$-])(?P<base>[Te])\^(?P<power>-?\d+)"
    r"|(?<![\w$-])(?P<alone>epsilon|delta|rho|chi)(?![\w-])"
    # A number or a round by its letter.
    r"|(?<!\w)(?P<noun>horizon|round|experts|arms|items?) (?P<symbol>[TtKd])(?!\w)"
    r"|(?<!\w)sqrt\((?P<root>[^()]*)\)"
    r"|(?<![\w$.-])(?P<number>\d+(?:\.\d+)?e[+-]?\d+)(?!\w)"
)

_TYPESET = re.compile(r"\$[^$]*\\[A-Za-z][^$]*\$")


def typeset(text: str) -> str:
    r"""Return text with its parameters and numbers as mathematics; a dollar sign in it stays one.

    Args:
        text: Plain words, such as a title, or an algorithm's name with its guarantee. A text that has a command
            between dollar signs, such as `$\varepsilon$`, is typeset already and returned as it is.
    """
    if _TYPESET.search(text) and _is_mathematics(text):
        return text
    return _PATTERN.sub(_typeset, text.replace("$", r"\$"))


def _is_mathematics(text: str) -> bool:
    try:
        MathTextParser("path").parse(text)
    except ValueError:
        return False
    return True


def _typeset(found: re.Match[str]) -> str:
    name, letter, value = found["name"], found["letter"], found["value"]
    if value is not None:
        of = GREEK[name] if name else letter
        return f"${of}={_horizon(value) if letter == 'T' else number(value)}$"
    if found["base"] is not None:
        return f"${found['base']}^{{{found['power']}}}$"
    if found["alone"] is not None:
        return f"${GREEK[found['alone']]}$"
    if found["noun"] is not None:
        return f"{found['noun']} ${found['symbol']}$"
    if found["root"] is not None:
        inside = re.sub(r"\b(chi|rho|sigma)\b", r"\\\1", found["root"]).replace(" ", r"\ ")
        return rf"$\sqrt{{{inside}}}$"
    return f"${number(found['number'])}$"


def number(text: str) -> str:
    r"""Return a number as mathematics without dollar signs: `4.54e-05` as `4.54\times10^{-5}`, `1e-06` as `10^{-6}`."""
    digits, _, exponent = text.partition("e")
    # In mathematics a comma is followed by a space unless it is in braces.
    digits = digits.replace(",", "{,}")
    if not exponent:
        return digits
    power = f"10^{{{int(exponent)}}}"
    return power if digits == "1" else rf"{digits}\times{power}"


def _horizon(text: str) -> str:
    """Return a number of rounds, as a power of 2 or of 10 if it is one."""
    if not text.replace(",", "").isdigit():
        return number(text)
    rounds = int(text.replace(",", ""))
    if rounds >= _POWER_OF_TWO and rounds & (rounds - 1) == 0:
        return f"2^{{{rounds.bit_length() - 1}}}"
    power = round(math.log10(rounds)) if rounds else 0
    return f"10^{{{power}}}" if rounds >= _POWER_OF_TEN and 10**power == rounds else number(text)

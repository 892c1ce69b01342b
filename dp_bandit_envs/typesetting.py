"""Plain text with its parameters and numbers as mathematics, for matplotlib and LaTeX."""

import math
import re
from collections.abc import Callable

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
    rf"(?P<value>{_NUMBER}|inf)(?![\w^])"
    # A power of T; a parameter alone; a number with an exponent alone.
    r"|(?<![\w$-])(?P<base>[Te])\^(?P<power>-?\d+)"
    r"|(?<![\w$-])(?P<alone>epsilon|delta|rho|chi)(?![\w-])"
    # A number or a round by its letter.
    r"|(?<!\w)(?P<noun>horizon|round|experts|arms|items?) (?P<symbol>[TtKd])(?!\w)"
    r"|(?<!\w)sqrt\((?P<root>[^()]*)\)"
    r"|(?<![\w$.])(?<!\w-)(?P<number>\d+(?:\.\d+)?e[+-]?\d+)(?!\w)"
)

_TYPESET = re.compile(r"\$[^$]*\\[A-Za-z][^$]*\$")


def typeset(text: str) -> str:
    r"""Return text with its parameters and numbers as mathematics; a dollar sign in it stays one.

    Args:
        text: Plain words, such as a title, or an algorithm's name with its guarantee. A text that has a command between
            dollar signs, such as `$\varepsilon$`, is typeset already and returned unchanged.
    """
    if _TYPESET.search(text) and _is_mathematics(text):
        return text
    return set_mathematics(text, lambda words: words.replace("$", r"\$"))


def set_mathematics(text: str, plain: Callable[[str], str]) -> str:
    """Return text with its parameters and numbers as mathematics, and `plain` of the words between."""
    pieces, end = [], 0
    for match in _PATTERN.finditer(text):
        pieces += [plain(text[end : match.start()]), _typeset(match)]
        end = match.end()
    return "".join([*pieces, plain(text[end:])])


def _is_mathematics(text: str) -> bool:
    from matplotlib.mathtext import MathTextParser  # so that LaTeX needs no matplotlib

    try:
        MathTextParser("path").parse(text)
    except ValueError:
        return False
    return True


def _typeset(match: re.Match[str]) -> str:
    name, letter, value = match["name"], match["letter"], match["value"]
    if value is not None:
        of = GREEK[name] if name else letter
        return f"${of}={_horizon(value) if letter == 'T' else _number(value)}$"
    if match["base"] is not None:
        return f"${match['base']}^{{{match['power']}}}$"
    if match["alone"] is not None:
        return f"${GREEK[match['alone']]}$"
    if match["noun"] is not None:
        return f"{match['noun']} ${match['symbol']}$"
    if match["root"] is not None:
        inside = re.sub(r"\b(chi|rho|sigma)\b", r"\\\1", match["root"]).replace(" ", r"\ ")
        return rf"$\sqrt{{{inside}}}$"
    return f"${_number(match['number'])}$"


def _number(text: str) -> str:
    r"""Return a number as mathematics without dollar signs: `4.54e-05` as `4.54\times10^{-5}`, `1e-06` as `10^{-6}`."""
    if text == "inf":
        return r"\infty"
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
        return _number(text)
    rounds = int(text.replace(",", ""))
    if rounds >= _POWER_OF_TWO and rounds & (rounds - 1) == 0:
        return f"2^{{{rounds.bit_length() - 1}}}"
    power = round(math.log10(rounds)) if rounds else 0
    return f"10^{{{power}}}" if rounds >= _POWER_OF_TEN and 10**power == rounds else _number(text)

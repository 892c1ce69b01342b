"""Plain text with its numbers as mathematics, for matplotlib and LaTeX; and formulas as text, for a terminal."""

import math
import re
from collections.abc import Callable, Iterator

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


_SYMBOLS = {
    **dict(alpha="α", beta="β", gamma="γ", Gamma="Γ", delta="δ", epsilon="ε", eta="η", theta="θ", Theta="Θ", mu="μ"),
    **dict(xi="ξ", pi="π", rho="ρ", sigma="σ", chi="χ", ell="ℓ", sum="Σ", le="≤", ge="≥", pm="±", cdot="·", sim="~"),
    **dict(propto="∝", gets="←", ldots="...", langle="⟨", rangle="⟩", lfloor="⌊", rfloor="⌋", lceil="⌈", rceil="⌉"),
    **{"lVert": "‖", "rVert": "‖", "in": "∈", "lambda": "λ", "quad": " ", "Big": "", ",": " ", ";": " "},
}
_ACCENTS = {r"\hat": "\u0302", r"\tilde": "\u0303", r"\text": "", r"\mathrm": ""}


def as_plain_text(formula: str) -> str:
    r"""Return a formula in LaTeX as a terminal shows it: `\sqrt{2 \ln t / n_i}` as "√(2 ln t / n_i)"."""
    return re.sub(r"\s+", " ", _read_group(iter(re.findall(r"\\[A-Za-z]+|\\.|\s+|.", formula)))).strip()


def _read_group(tokens: Iterator[str]) -> str:
    """Return the text of a formula's tokens up to the end of a group."""
    text = ""
    for token in tokens:
        if token == "}":
            break
        if token == "{":
            text += _read_group(tokens)
        elif token == r"\frac":
            over, under = _enclosed(_argument(tokens)), _enclosed(_argument(tokens))
            slash = "/" if len(over + under) == 2 else " / "
            text += f"({over}{slash}{under})" if text.endswith("ln ") else f"{over}{slash}{under}"
        elif token == r"\binom":
            text += f"binom({_argument(tokens)}, {_argument(tokens)})"
        elif token in ("_", "^", r"\sqrt"):
            text += token.replace(r"\sqrt", "√") + _enclosed(_argument(tokens))
        elif token in _ACCENTS:
            text += _argument(tokens) + _ACCENTS[token]
        else:
            command = token.removeprefix("\\")
            text += command if command == token else _SYMBOLS.get(command, command)
    return text


def _argument(tokens: Iterator[str]) -> str:
    token = next(token for token in tokens if not token.isspace())
    return _read_group(tokens if token == "{" else iter([token]))


def _enclosed(text: str) -> str:
    return text if re.fullmatch(r"[\w^]*|.\W?", text) else f"({text})"

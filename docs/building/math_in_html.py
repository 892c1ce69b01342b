"""Writes mathematics as MathML, which browsers draw themselves: pages need no network and no script."""

import re

from docutils import nodes
from latex2mathml import converter

WORDS = [
    (r"\\arg\s*\\(max|min)", r"\\arg\1"),
    (r"\\(?:mathrm|operatorname\*?)\s*\{([^{}]*)\}", r"\\text{\1}"),
    (r"\\lceil", "⌈"),
    (r"\\rceil", "⌉"),
    (r"\\lfloor", "⌊"),
    (r"\\rfloor", "⌋"),
]
"""What the converter does not know or does not do well, in words that it does."""

BARS = "&#x0007C;|&#x02016;"
"""The bars of |x| and of a norm, around which the converter leaves the room of an operator."""

NAMES = r"<mi>(?:ln|log|exp)</mi>"
ENDS = "</mi>|</mn>|</msub>|</msup>|</msqrt>|</mfrac>"
BEGINNINGS = "<mi>|<mn>|<msub>|<msup>|<msqrt>|<mfrac>"
GAP = '<mspace width="0.167em"></mspace>'
"""The room between a factor, the name of a function, and what follows without brackets, which the converter omits."""


def mathml(latex: str, display: str = "inline") -> str:
    """Return a formula as MathML.

    Raises:
        ValueError: If the converter left a command of LaTeX as it is.
    """
    for pattern, better in WORDS:
        latex = re.sub(pattern, better, latex)
    if display == "block" and ("\\\\" in latex or "&" in latex) and "\\begin" not in latex:
        latex = rf"\begin{{align*}}{latex}\end{{align*}}"
    written = converter.convert(latex, display=display)
    written = re.sub(
        r"<mo[^>]*>(&#x0007C;|&#x02016;|\||‖)</mo>", r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', written
    )
    written = re.sub(f"({ENDS})({NAMES})", rf"\1{GAP}\2", written)
    # Inside of log_2, a third child would be wrong.
    written = re.sub(f"(?<!<msub>)(?<!<msup>)({NAMES})(?={BEGINNINGS})", rf"\1{GAP}", written)
    # As in "2 ln t": the converter leaves no room around a function's name.
    written = re.sub(r"<mi>(ln|log|exp)</mi>", r'<mo lspace="0.17em" rspace="0.17em">\1</mo>', written)
    left = re.search(r">\s*(\\\w+|&)\s*<", written)
    if left:
        raise ValueError(f"the formula {latex!r} has {left[1]}, which docs/building/math_in_html.py does not know")
    return written


def visit_inline(writer, node):
    """Write a formula in a line."""
    writer.body.append(f'<span class="inline-formula">{mathml(node.astext())}</span>')
    raise nodes.SkipNode


def visit_block(writer, node):
    """Write a formula on a line of its own; a wide one scrolls."""
    writer.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Make this the way in which mathematics is written."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

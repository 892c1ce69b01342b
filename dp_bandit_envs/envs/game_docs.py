"""Generates the documentation of a game from its adversary's docstring, under Gymnasium's headings."""

import inspect
import re
import textwrap
from collections.abc import Mapping

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.envs.bandit_env import BanditEnv

SOURCE = "Source:"
SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Examples?|Notes?):\n")
"""A paragraph that starts with one of these is a section of the docstring; others belong to the description."""


def game_docs(adversary_class: type[Adversary], common: Mapping[str, inspect.Parameter]) -> str:
    """Return the docstring of a game against `adversary_class`; what all games share is added by `BanditEnv`.

    Args:
        adversary_class: Its first line, its description, its `Args` and its paragraph `Source: ...` are used.
        common: Arguments that all games take.
    """
    summary, *paragraphs = (inspect.getdoc(adversary_class) or adversary_class.__name__).split("\n\n")
    prose = [one for one in paragraphs if not SECTION.match(f"{one}\n") and not one.startswith(SOURCE)]
    sources = [one.removeprefix(SOURCE).strip() for one in paragraphs if one.startswith(SOURCE)]
    texts = argument_texts(adversary_class) | {name: argument_texts(BanditEnv).get(name, "") for name in common}
    parameters = {**inspect.signature(adversary_class).parameters, **common}
    parts = {
        "Description": "\n\n".join(prose) or summary,
        "Arguments": "\n".join(_argument(one, texts.get(name, "")) for name, one in parameters.items()),
        "Version History": "v0: first version.",
        "References": "\n\n".join(sources) or "None given.",
    }
    docs = [summary, *(f"## {heading}\n{text}" for heading, text in parts.items())]
    return textwrap.indent("\n\n".join(docs), "    ").lstrip()


def argument_texts(class_: type) -> dict[str, str]:
    """Return what the docstrings of a class and its bases say about each argument; the class's own text comes first."""
    texts: dict[str, str] = {}
    for one in class_.__mro__:
        for paragraph in inspect.cleandoc(one.__dict__.get("__doc__") or "").split("\n\n"):
            if paragraph.startswith("Args:\n"):
                for entry in re.split(r"\n    (?=\S)", paragraph)[1:]:
                    names, _, text = entry.partition(":")
                    for name in names.split(","):
                        texts.setdefault(name.strip(), " ".join(text.split()))
    return texts


def _argument(parameter: inspect.Parameter, text: str) -> str:
    default = "" if parameter.default is parameter.empty else f"={_number(parameter.default)}"
    words = f"`{parameter.name}{default}`: {text}" if text else f"`{parameter.name}{default}`"
    return textwrap.fill(words, 112, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _number(value: object) -> str:
    """Return a default as text, a large power of two in the form 2**k."""
    if type(value) is int and value >= 2**16 and value.bit_count() == 1:
        return f"2**{value.bit_length() - 1}"
    return repr(value)

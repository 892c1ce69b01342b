"""The classes behind the ids, made from the table of games: `SwitchingEnv`, `SwitchingVectorEnv` and so on.

They are made on first access. Arguments, defaults and documentation come from the adversary.
"""

import copyreg
import inspect
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.registration import GAMES, register_adversary

SOURCE = "Source:"
SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Examples?|Notes?):\n")
"""A paragraph that starts with one of these is a section of the docstring; others belong to the description."""

_made: dict[tuple[str, type[Adversary]], "GameClass"] = {}
"""The classes by name, so that pickle finds them; a different adversary of the same name has a different class."""


class GameClass(type):
    """The metaclass of these classes; a pickle contains the adversary's class, so that its reader can register it."""


def __getattr__(name: str) -> Any:
    """Return the class of a game of the table, made on first access."""
    for game in GAMES.values():
        for kind, base in (("Env", BanditEnv), ("VectorEnv", BanditVectorEnv)):
            if name == f"{game.name}{kind}" and game.adversary_class is not None:
                key = name, game.adversary_class
                return _made.get(key) or _made.setdefault(key, _class(game.name, kind, base, game.adversary_class))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    names = [game.name for game in GAMES.values() if game.adversary_class is not None]
    return sorted([*globals(), *(f"{name}{kind}" for name in names for kind in ("Env", "VectorEnv"))])


def found_again(class_name: str, game_name: str, adversary_class: type[Adversary]) -> Any:
    """Return the class of a game in another process, where the game may not be registered yet."""
    if not any(game.name == game_name for game in GAMES.values()):
        register_adversary(game_name, adversary_class)
    return __getattr__(class_name)


def _reduced(class_: GameClass) -> Any:
    adversary = vars(class_).get("adversary_class", Adversary)
    ours = next((game.name for game in GAMES.values() if game.adversary_class is adversary), None)
    if ours is None or _made.get((class_.__name__, adversary)) is not class_:
        return class_.__qualname__  # a user's subclass of one of these is pickled by its own name
    return found_again, (class_.__name__, ours, adversary)


copyreg.pickle(GameClass, _reduced)


def _class(game: str, kind: str, base: type, adversary_class: type[Adversary]) -> GameClass:
    """Make a class that takes an adversary's arguments and the arguments of all games."""
    parameters = inspect.signature(base).parameters
    common = {key: one for key, one in parameters.items() if key != "adversary" and one.kind is not one.VAR_KEYWORD}
    docs = f"Many games of `{game}Env` in lockstep; it takes the same arguments.\n"
    if base is BanditEnv:
        docs = game_docs(adversary_class, common)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        base.__init__(self, *args, **kwargs)  # type: ignore[misc]

    # Without annotations, which would make names and defaults hard to read; the docstring gives ranges.
    empty = inspect.Parameter.empty
    adversary_parameters = inspect.signature(adversary_class).parameters.values()
    shared = [one.replace(annotation=empty) for one in common.values()]
    first = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    first += [one for one in shared if one.kind is one.POSITIONAL_OR_KEYWORD]
    last = [
        one.replace(kind=one.KEYWORD_ONLY, annotation=empty)
        for one in adversary_parameters
        if one.kind is not one.VAR_KEYWORD
    ]
    last += [one for one in shared if one.kind is one.KEYWORD_ONLY]
    __init__.__signature__ = inspect.Signature([*first, *last])  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{game}{kind}.__init__"
    members = {"adversary_class": adversary_class, "__init__": __init__, "__module__": __name__, "__doc__": docs}
    return GameClass(f"{game}{kind}", (base,), members)


def game_docs(adversary_class: type[Adversary], common: Mapping[str, inspect.Parameter]) -> str:
    """Return the docstring of a game against `adversary_class`; `BanditEnv` adds the common headings.

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
    """Return the documentation of each argument from a class and its bases; the class's own text comes first."""
    texts: dict[str, str] = {}
    for base in class_.__mro__:
        for paragraph in inspect.cleandoc(base.__dict__.get("__doc__") or "").split("\n\n"):
            if paragraph.startswith("Args:\n"):
                for argument in re.split(r"\n    (?=\S)", paragraph)[1:]:
                    names, _, text = argument.partition(":")
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

"""Says errors in the words of the command line: `--arms` for `n_arms`, `inf` for `math.inf`."""

import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import PurePath

PHRASES = (
    ("Use inf (math.inf in Python) for no noise.", "Use inf for no noise."),
    ("Use seed=None, or reset() without a seed.", "Leave --seed out."),
    ("unless persons= names one", "unless --persons names one"),
    ("feedback='full'", "feedback=full"),
    (
        "Use draws='secure', or a ledger with a larger delta.",
        "Use a new ledger with a larger --delta.",
    ),
    ("draws='fast'", "draws=fast"),
    ("seed=None", "no --seed"),
    ("math.inf", "inf"),
    ("with at_guarantee", "with --at-guarantee"),
    ("Give compare several, such as epsilon=[0.1, 1]", "Give several, such as --epsilon 0.1,1"),
    ("come with person,", "come with --person,"),
    ("Leave arms out.", "Leave --arms out."),
    ("Leave epsilon out", "Leave --epsilon out"),
    ("Leave delta out", "Leave --delta out"),
    ("persons is for", "--persons is for"),
    ("a ledger is for", "--ledger is for"),
    ("rounds_per_person is for", "--rounds-per-person is for"),
    ("Use Ledger.load(path), or another file for other data.", "Leave --epsilon out, or name another file."),
)
"""Python's phrases and those of the command line."""
OPTION_OF = {"n_arms": "--arms", "out": "--out", "checkpoints": "--spacing"}
"""Options whose names are not those of the argument."""


def in_words(message: str, typed: Sequence[str]) -> str:
    """Return an error's message in words of the command line.

    Args:
        message: What Python is told.
        typed: The words of the command, by which an argument that was given as an option gets the option's name.
    """
    message = re.sub(r"(\w+?)Env\.__init__\(\) got an unexpected keyword argument", r"\1 has no argument", message)
    for python, ours in PHRASES:
        message = message.replace(python, ours)
    first = re.match(r"([a-z_]+)(?= (must|has|needs|is an option of) )", message)
    if first is None or any(f"{first[1]}=" in word for word in typed if not word.startswith("--")):
        return message
    option = OPTION_OF.get(first[1], f"--{first[1].replace('_', '-')}")
    given = any(word == option or word.startswith(f"{option}=") for word in typed)
    return option + message[first.end() :] if given else message


def users_line(error: BaseException) -> str:
    """Return which line of a file of the user's raised an error, as "mine.py, line 7,"; "" if it was none of theirs."""
    from dp_bandit_envs.simulation.provenance import is_users

    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    # What a worker process raised comes with its traceback as text.
    places += re.findall(r'File "(.+?)", line (\d+)', str(error.__cause__ or ""))
    if not places:
        return ""
    file, line = places[-1]
    names = [name for name, module in list(sys.modules.items()) if getattr(module, "__file__", "") == file]
    if file.startswith("<") or not all(map(is_users, names)):
        return ""
    return f"{PurePath(file).name}, line {line},"

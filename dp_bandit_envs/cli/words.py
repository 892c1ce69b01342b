"""Says errors in the words of the command line: `--arms` for `n_arms`, `inf` for `math.inf`."""

import re
from collections.abc import Sequence

PHRASES = (
    ("Use inf (math.inf in Python) for no noise.", "Use inf for no noise."),
    ("Use seed=None, or reset() without a seed.", "Leave --seed out."),
    ("unless persons= names one", "unless --persons names one"),
    ("feedback='full'", "feedback=full"),
    ("device='cuda'", "--device cuda"),
    ("device='cpu'", "--device cpu"),
    ("draws='fast'", "draws=fast"),
    ("seed=None", "no --seed"),
    ("math.inf", "inf"),
    ("with at_guarantee", "with --at-guarantee"),
    ("Give compare several, such as epsilon=[0.1, 1]", "Give several, such as --epsilon 0.1,1"),
    ("Give arms and horizon.", "Give --arms and --horizon."),
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
    first = re.match(r"([a-z_]+)(?= (must|has|needs) )", message)
    if first is None or any(f"{first[1]}=" in word for word in typed if not word.startswith("--")):
        return message
    option = OPTION_OF.get(first[1], f"--{first[1].replace('_', '-')}")
    given = any(word == option or word.startswith(f"{option}=") for word in typed)
    return option + message[first.end() :] if given else message

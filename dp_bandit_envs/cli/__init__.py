"""The command line `dp-bandit`, also `python -m dp_bandit_envs`."""

import sys

from dp_bandit_envs.checks import require
from dp_bandit_envs.cli.command_names import ABOUT, COMMANDS

__all__ = ["main"]


def main() -> None:
    """Run the command line; without the extra `cli`, say in one line what to install."""
    if sys.argv[1:] == ["--version"]:
        from dp_bandit_envs import __version__

        print(f"dp-bandit-envs {__version__}")
        return
    try:
        for module in ("typer", "rich"):
            require(module, extra="cli")
    except ImportError as error:
        if sys.argv[1:] in ([], ["--help"]):
            print(ABOUT, *(f"{title}: {', '.join(names)}" for title, names in COMMANDS.items()), error, sep="\n")
            return
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    from dp_bandit_envs.cli.app import main as run

    run()

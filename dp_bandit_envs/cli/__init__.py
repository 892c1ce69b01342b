"""The command line `dp-bandit`."""

import sys

from dp_bandit_envs.optional import require

__all__ = ["main"]


def main() -> None:
    """Run the command line; without the extra `cli`, say in one line what to install."""
    try:
        for module in ("typer", "rich"):
            require(module, extra="cli")
    except ImportError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    from dp_bandit_envs.cli.app import main as run

    run()

"""The command line: `python -m dp_bandit_envs` is `dp-bandit`."""

from dp_bandit_envs.cli import main

if __name__ == "__main__":
    main()

"""Formats numbers and names for sentences, and warns if a run is smaller than that of the figure."""

from collections.abc import Mapping, Sequence

from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Note


def with_names(values: Mapping[str, str]) -> str:
    """Return values, each followed by its name in brackets, on one line."""
    return ", ".join(f"{value} ({name})" for name, value in values.items())


def after_names(values: Mapping[str, float], form: str) -> str:
    """Return values in a format, each after its name, on one line."""
    return ", ".join(f"{name} {form.format(value)}" for name, value in values.items())


def joined(names: Sequence[str]) -> str:
    """Return names as in a sentence."""
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def smaller_than(results: Results, horizon: int, trials: int) -> list[Note]:
    """Return a warning if games are shorter or fewer than in the figure, else nothing."""
    has = results.experiment
    return [] if has.horizon is None else fewer_or_shorter(has.horizon, has.trials, horizon, trials)


def fewer_or_shorter(played_horizon: int, played_trials: int, horizon: int, trials: int) -> list[Note]:
    """Return a warning if the longest games, or their number, are smaller than in the figure, else nothing."""
    if played_horizon >= horizon and played_trials >= trials:
        return []
    warning = f"This is {played_trials} runs of {played_horizon:,} rounds instead of {trials} of {horizon:,}."
    return [Note("What differs below may come from that alone, whatever reason is given.", warning)]

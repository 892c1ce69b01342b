"""Keeps the line "compiling ..." out of the labs: there a spinner says it."""

import logging


def leave_compiling_to_spinners() -> None:
    """Drop the lines with which `simulate` announces in this process that something is compiled; others stay."""
    logging.getLogger("dp_bandit_envs").addFilter(unless_compiling)


def unless_compiling(record: logging.LogRecord) -> bool:
    """Return whether a line is no announcement of compiling."""
    return not record.getMessage().startswith("compiling ")

"""Placeholders, in functions that run only compiled, for what machine code has built in; see `numba_functions`."""

from typing import Any


def streams_at(addresses: tuple[int, ...]) -> Any:
    """Return the random streams whose first words are at these addresses."""
    raise NotImplementedError


def plain_tuple(value: Any) -> Any:
    """Return nested NamedTuples as plain tuples."""
    raise NotImplementedError


def call_at(address: int, arguments: tuple[Any, ...]) -> None:
    """Call the machine code at an address (`Compiled.address`) that was compiled for arguments of these types."""
    raise NotImplementedError

"""Placeholders, in functions that run only compiled, for what machine code has built in; see `numba_functions`."""

from typing import Any


def stream_at(address: int) -> Any:
    """Return a copy of the random stream whose first word is at an address."""
    raise NotImplementedError


def put_back(address: int, stream: Any) -> None:
    """Write such a copy back to the address."""
    raise NotImplementedError


def read_only(array: Any) -> Any:
    """Return the same array, which must not be written to: a function that does is not compiled."""
    raise NotImplementedError


def call_at(address: int, arguments: tuple[Any, ...]) -> None:
    """Call the machine code at an address (`Compiled.address`) that was compiled for arguments of these types."""
    raise NotImplementedError

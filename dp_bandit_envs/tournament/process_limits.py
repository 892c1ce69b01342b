"""What an agent's process may use: time, memory, files; ordinary calls for processes and networks fail. No sandbox."""

import contextlib
import importlib
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

MOST_WRITTEN: Final = 10**6
"""Bytes that an agent may print, and write into one file."""
MEGABYTE: Final = 2**20
PROCESSES: Final = (
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.kill",
    "os.killpg",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "pty.spawn",
    "subprocess.Popen",
)
NETWORK: Final = (
    "socket.bind",
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendmsg",
    "socket.sendto",
)
UNAUDITED: Final = (("_posixsubprocess", "fork_exec"), ("signal", "pidfd_send_signal"))
"""Modules and functions for processes of which Python tells no audit hook."""


class ForbiddenError(RuntimeError):
    """An agent did what agents must not do."""


def set_limits(seconds: float, megabytes: int) -> list[str]:
    """Limit this process from now on; return in words what this system cannot limit.

    Args:
        seconds: Processor time, beyond what is used already.
        megabytes: Memory, beyond what is used already.
    """
    sys.addaudithook(refuse_event)
    for module, function in UNAUDITED:
        _refuse_function(module, function)
    try:
        import resource
    except ImportError:
        return ["processor time", "memory", "what is written to files"]
    missing = []
    most = math.ceil(time.process_time() + seconds)
    _lower(resource, resource.RLIMIT_CPU, most, most + 1)
    _lower(resource, resource.RLIMIT_FSIZE, MOST_WRITTEN)
    _lower(resource, resource.RLIMIT_CORE, 0)
    used = _address_space()
    if used is None:
        missing.append("memory")
    else:
        # Not the hard limit: whoever is out of memory still has to say so.
        _lower(resource, resource.RLIMIT_AS, used + megabytes * MEGABYTE, None)
    return missing


def free_memory_limit() -> None:
    """Lift the limit of memory, for the last words of a process that has reached it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _lower(resource: Any, kind: int, soft: int, hard: int | None = -1) -> None:
    """Lower a limit; `hard` is None to leave the hard one, and by default the same as `soft`."""
    old = resource.getrlimit(kind)[1]
    new = old if hard is None else soft if hard == -1 else hard
    if old != resource.RLIM_INFINITY:
        soft, new = min(soft, old), old if new == resource.RLIM_INFINITY else min(new, old)
    resource.setrlimit(kind, (soft, new))


def _address_space() -> int | None:
    """Return the bytes of address space of this process; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _refuse_function(module: str, function: str) -> None:
    """Let a function raise in this process from now on, where there is one."""
    event = f"{module}.{function}"

    def refused(*_: Any, **__: Any) -> None:
        refuse_event(event, (), processes=(event,))

    with contextlib.suppress(ImportError):
        place = importlib.import_module(module)
        if hasattr(place, function):
            setattr(place, function, refused)


def refuse_event(
    event: str,
    arguments: tuple[Any, ...],
    processes: Sequence[str] = PROCESSES,
    network: Sequence[str] = NETWORK,
    error: type[Exception] = ForbiddenError,
) -> None:
    """Raise for what agents must not do; an audit hook of Python.

    This stops mistakes. Code that means to can get around it.

    Args:
        event: Its name, as in Python's table of audit events.
        arguments: Its arguments.
        processes: Events that are refused because they start or end processes; not read from the module when called,
            so that an agent which changes the module changes nothing.
        network: The same for networks.
        error: What is raised.

    Raises:
        ForbiddenError: If it starts or ends a process, or uses a network.
    """
    if event in processes:
        raise error(f"agents must not start or end processes ({event})")
    if event in network:
        raise error(f"agents must not use a network ({event})")

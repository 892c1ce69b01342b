"""Opens a lab in the browser: starts marimo in a process of its own, and ends it."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from dp_bandit_envs.optional import require

FIRST_PORT: Final = 2718
"""Where to look for a free port, as marimo does."""
LOOPBACK: Final = "127.0.0.1"


@contextmanager
def served(
    folder: Path, page: str, *, read_only: bool = False, host: str = LOOPBACK, port: int | None = None
) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Start marimo on a folder of notebooks, and stop it with all that it started.

    Args:
        folder: The notebooks.
        page: The file name of the notebook that the address leads to.
        read_only: Whether to show notebooks as apps, without their code. Otherwise whoever has the address, which holds
            a password, can run any code on this machine.
        host: The address to listen at.
        port: The port to listen at; by default the first free one from `FIRST_PORT` on.

    Yields:
        The address for the browser, and marimo's process.

    Raises:
        ImportError: If marimo is not installed.
        ValueError: If the port is taken.
        RuntimeError: If marimo does not start.
    """
    require("marimo", extra="labs")
    port = free_port(host, port)
    password = "" if read_only else secrets.token_urlsafe(12)
    command = [sys.executable, "-m", "marimo", "--quiet", "--log-level", "ERROR", "run" if read_only else "edit", "."]
    command += ["--headless", "--host", host, "--port", str(port)]
    # The password is read from the input, as everybody on this machine can see a process's arguments.
    command += [] if read_only else ["--token-password-file", "-", "--skip-update-check"]
    address = f"http://{LOOPBACK if host == '0.0.0.0' else host}:{port}/?file={page}"
    address += f"&access_token={password}" if password else ""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=said, stderr=said, **apart())
        try:
            assert process.stdin is not None
            process.stdin.write(password.encode())
            process.stdin.close()
            while not answers(host, port):
                if process.poll() is not None:
                    said.seek(0)
                    raise RuntimeError(f"marimo did not start: {said.read().decode(errors='replace').strip()[-2000:]}")
                time.sleep(0.1)
            yield address, process
        finally:
            stop(process)


def apart() -> dict[str, Any]:
    """Return the arguments that keep Ctrl-C from a child: it is ours to end it, without its questions."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def stop(process: "subprocess.Popen[bytes]", seconds: float = 5.0) -> None:
    """End a process, and after some seconds all that it started."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # kernels of notebooks that are still at work
    process.wait()


def free_port(host: str, port: int | None) -> int:
    """Return the port if it is free, or by default the first free one.

    Raises:
        ValueError: If it is taken, or none of a hundred is free.
    """
    for candidate in [port] if port else range(FIRST_PORT, FIRST_PORT + 100):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
            if sys.platform != "win32":
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind((host, candidate))
            except (OSError, OverflowError) as error:
                refused = error
                continue
        return candidate
    where = f"port {port}" if port else f"none of the ports from {FIRST_PORT} on"
    raise ValueError(
        f"The labs need a port that is free; {where} can be used at {host} ({refused}). Use another --port."
    )


def answers(host: str, port: int) -> bool:
    """Return whether somebody listens at a port."""
    try:
        with socket.create_connection((LOOPBACK if host == "0.0.0.0" else host, port), timeout=1):
            return True
    except OSError:
        return False


def show_in_browser(address: str) -> bool:
    """Open an address in the user's browser; return whether there is one."""
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False

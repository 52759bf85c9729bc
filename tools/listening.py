"""Waits for servers that were started."""

from __future__ import annotations

import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

PATIENCE: Final = 20.0
"""How many seconds a program may take to listen, or to end."""


def wait_for_port(process: subprocess.Popen[Any], port: int, log: Path) -> None:
    """Returns once somebody listens there. RuntimeError with the log if nobody does."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise RuntimeError(f"{process.args!r} does not listen: {log.read_text()}")

"""A gateway in a process of its own, as `python -m responses_stream.gateway` starts it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gateway_sockets import address


@dataclass
class Running:
    """A gateway that has greeted."""

    process: subprocess.Popen[str]
    greeting: str

    @property
    def url(self) -> str:
        """Its base URL, as the greeting tells it."""
        (url,) = re.findall(r"curl -N (\S+)/responses", self.greeting)
        return str(url)

    def tell(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Sends a signal, and waits until nobody can connect any more."""
        self.process.send_signal(number)
        deadline = time.monotonic() + 10
        while True:
            assert time.monotonic() < deadline
            try:
                socket.create_connection(address(self.url)).close()
            except ConnectionError:
                return
            time.sleep(0.02)

    def end(self) -> str:
        """Waits for the end, which must be a good one; what was said on stderr."""
        said = self.process.communicate(timeout=20)[1]
        assert "Traceback" not in said
        assert 0 == self.process.returncode, said
        return said


@contextmanager
def running(*options: str) -> Iterator[Running]:
    """Starts one with these options, and ends it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "responses_stream.gateway", "--port", "0", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield Running(process, _greeting(process))
    finally:
        process.kill()
        process.communicate()


def _greeting(process: subprocess.Popen[str]) -> str:
    """All of it: its last line is the request to try."""
    assert process.stderr is not None
    greeting = ""
    while "}'" not in greeting:
        line = process.stderr.readline()
        assert line, greeting
        greeting += line
    return greeting

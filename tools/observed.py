"""`responses-stream serve` in a process that tells what it holds.

    python tools/observed.py serve ...

is the command itself, with a thread beside it that answers each line on standard input:
how many asyncio tasks are not done, and how many objects live of the kinds that a request
brings with it. `serving` starts one and asks it; what the operating system knows (open
descriptors, memory) is read from outside.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import psutil
from listening import PATIENCE, wait_for_port

KINDS = (
    *("responses_stream.stream.FrameStream", "responses_stream.transcript.Transcript"),
    *("responses_stream.gateway.answers.EventAnswer", "responses_stream.sse.SSEDecoder"),
    "responses_stream.gateway.exchange.Exchange",
    *("aiohttp.client_reqrep.ClientResponse", "aiohttp.client_proto.ResponseHandler"),
    "responses_stream.gateway.connection.Connection",
    "uvicorn.protocols.http.httptools_impl.RequestResponseCycle",
)
"""What lives as long as a request or its connections, and no longer."""

BUG = re.compile(
    "Traceback|Unclosed|never retrieved|was destroyed|unraisable", re.IGNORECASE
)
"""What a log says of a bug: tracebacks, and what asyncio and aiohttp find forgotten."""

BIG_BLOCKS = {"MALLOC_MMAP_THRESHOLD_": "131072"}
"""To count objects takes a list of megabytes. It goes back to the system, and not into a
heap that would seem to have grown."""

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Held:
    """What a process holds."""

    descriptors: int
    tasks: int
    objects: dict[str, int]
    """How many of KINDS live, by the last part of their names."""

    def __str__(self) -> str:
        objects = ", ".join(f"{count} {kind}" for kind, count in self.objects.items())
        return (
            f"{self.descriptors} descriptors, {self.tasks} tasks, {objects or 'no objects'}"
        )


class Gateway:
    """A running `serve`."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.port = port
        self._process = process
        self._outside = psutil.Process(process.pid)
        self._log = log

    @property
    def rss(self) -> int:
        """Bytes of memory that are its own."""
        return int(self._outside.memory_info().rss)

    @property
    def cpu_seconds(self) -> float:
        """The time that it has computed."""
        times = self._outside.cpu_times()
        return float(times.user + times.system)

    @property
    def complaints(self) -> list[str]:
        """The lines of its log that only a bug writes."""
        log = self._log.read_text(errors="replace")
        return [line for line in log.splitlines() if BUG.search(line)]

    async def held(self) -> Held:
        """What it holds now."""
        inside = await asyncio.to_thread(self._ask)
        return Held(self._outside.num_fds(), inside["tasks"], inside["objects"])

    async def settled(self, expected: Held, seconds: float = 10.0) -> Held:
        """What it holds once that is `expected`, or at last."""
        return await self._once(lambda held: held == expected, seconds)

    async def quiet(self, seconds: float = 30.0) -> Held:
        """What it holds when no request is left, nor a connection kept for another."""
        return await self._once(lambda held: not held.objects, seconds)

    async def _once(self, found: Callable[[Held], bool], seconds: float) -> Held:
        deadline = time.monotonic() + seconds
        held = await self.held()
        # Another process; it has no event for us.
        while not found(held) and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
            held = await self.held()
        return held

    def _ask(self) -> dict[str, Any]:
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        asked.write(b"\n")
        asked.flush()
        found: dict[str, Any] = json.loads(answers.readline())
        return found


@contextmanager
def serving(*options: str) -> Iterator[Gateway]:
    """Runs `serve` with these options."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    command = [sys.executable, __file__, "serve", "--port", str(port), *options]
    with tempfile.TemporaryDirectory(prefix="observed-") as folder:
        log = Path(folder) / "log"
        with (
            log.open("wb") as err,
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=err,
                env=os.environ | BIG_BLOCKS,
            ) as process,
        ):
            gateway = Gateway(process, port, log)
            try:
                wait_for_port(process, port, log)
                yield gateway
            finally:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(PATIENCE)
                process.kill()


# Within the process ---------------------------------------------------------------------


def main() -> None:
    """Serves, and answers."""
    sys.path.insert(0, str(ROOT))

    from responses_stream.cli import main as command

    kinds = [resolve_name(kind) for kind in KINDS]
    threading.Thread(target=_answer, args=(kinds,), daemon=True).start()
    command(prog_name="responses-stream")


def _answer(kinds: Sequence[type]) -> None:
    # Without a buffer, whose lock would be held when the process ends.
    while os.read(0, 1):
        print(json.dumps(_count(kinds)), flush=True)


def _count(kinds: Sequence[type]) -> dict[str, Any]:
    gc.collect()
    # By the types themselves, not by their names: a type that is written in C makes the
    # name of its module anew, and interns it, whenever it is asked. The string dies at
    # once, but its place in CPython's table of interned strings is taken until that is
    # full; then the table doubles, and the gateway would seem to have grown by a megabyte.
    counts: Counter[type] = Counter()
    tasks = 0
    for found in gc.get_objects():
        # `type`, not `isinstance`: a proxy would answer for another.
        kind = type(found)
        counts[kind] += 1
        tasks += issubclass(kind, asyncio.Task) and not found.done()
    objects = {kind.__name__: counts[kind] for kind in kinds if counts[kind]}
    return {"tasks": tasks, "objects": objects}


if __name__ == "__main__":
    main()

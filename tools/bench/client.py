"""Clients that read streams as cheaply as can be: they count deltas and look at clocks."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any, Final, cast

import msgspec

PATIENCE: Final = 60.0
"""Seconds that a server may take for what it is asked at once."""


class Dialect(msgspec.Struct, frozen=True):
    """What is asked of a server, and how its deltas look."""

    path: str
    body: bytes
    marker: bytes
    """Stands in front of the text of each delta, and nowhere else."""


RESPONSES: Final = Dialect(
    "/v1/responses",
    msgspec.json.encode({"model": "demo", "input": "Go on.", "stream": True}),
    b'"delta":"',
)
CHAT: Final = Dialect(
    "/v1/chat/completions",
    msgspec.json.encode(
        {
            "model": "demo",
            "messages": [{"role": "user", "content": "Go on."}],
            "stream": True,
        }
    ),
    b'"content":"',
)


class Reader(asyncio.Protocol):
    """One stream."""

    def __init__(self, dialect: Dialect, counted: Callable[[int], None]) -> None:
        self.deltas = 0
        self.latencies: list[int] = []
        """In nanoseconds, of the deltas that tell when they were sent."""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._dialect = dialect
        self._counted = counted
        self._rest = b""
        self._timed = re.compile(re.escape(dialect.marker) + rb"T(\d+)\"")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio's."""
        self._transport = cast(asyncio.Transport, transport)
        dialect = self._dialect
        self._transport.write(
            b"POST %b HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer none\r\n"
            b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
            % (dialect.path.encode(), len(dialect.body), dialect.body)
        )

    def data_received(self, data: bytes) -> None:
        """asyncio's."""
        now = time.monotonic_ns()
        if self.deltas == 0 and b" 200 " not in data[:20] and not self._rest:
            self.done.set_exception(RuntimeError(data.decode(errors="replace")))
        found = (self._rest + data).count(self._dialect.marker)
        self.latencies += [now - int(sent) for sent in self._timed.findall(data)]
        # A marker may be cut by the end of what has come.
        self._rest = data[1 - len(self._dialect.marker) :]
        if found:
            self.deltas += found
            self._counted(found)
        if data.endswith(b"0\r\n\r\n") and not self.done.done():
            self.done.set_result(None)

    def connection_lost(self, _error: Exception | None) -> None:
        """asyncio's."""
        if not self.done.done():
            self.done.set_exception(RuntimeError("the server hung up"))

    def close(self) -> None:
        """Hangs up."""
        self._transport.close()


class Crowd:
    """Many streams of one server."""

    def __init__(self, port: int, dialect: Dialect, streams: int) -> None:
        self.readers: list[Reader] = []
        self._port, self._dialect, self._streams = port, dialect, streams
        self._deltas = 0
        self._expected = 0
        self._reached = asyncio.Event()

    async def open(self) -> None:
        """Asks, with every client."""
        loop = asyncio.get_running_loop()
        for _ in range(self._streams):
            _, reader = await loop.create_connection(
                lambda: Reader(self._dialect, self._count), "127.0.0.1", self._port
            )
            self.readers.append(reader)

    async def until(self, deltas: int) -> None:
        """Waits until each stream has had so many deltas on average."""
        self._expected = deltas * self._streams
        self._reached.clear()
        self._count(0)
        async with asyncio.timeout(PATIENCE):
            reached = asyncio.ensure_future(self._reached.wait())
            ends = [reader.done for reader in self.readers]
            either: list[asyncio.Future[Any]] = [reached, *ends]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not reached.done():
                reached.cancel()
                await asyncio.gather(*(end for end in ends if end.done()))
                raise RuntimeError(f"{self._deltas} deltas; expected {self._expected}")

    async def end(self) -> None:
        """Waits for the ends of all streams, and hangs up."""
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(reader.done for reader in self.readers))
        for reader in self.readers:
            reader.close()

    def _count(self, deltas: int) -> None:
        self._deltas += deltas
        if self._deltas >= self._expected:
            self._reached.set()

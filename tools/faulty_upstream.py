"""A chat server that goes wrong where it is told to: a fault, in a place of an answer.

The upstream end of a gateway for the tools about faults, load and soak; judging_client.py
is the other end, and an `Exchange` is one request as both of them see it. It writes to the
bare socket, so that bytes can be wrong in every way.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from placed_answer import AFTER_FINISH, DONE, Answer, Frame, Place, event


class Fault(StrEnum):
    """What goes wrong."""

    NONE = "none"
    REFUSE = "refuse"
    RESET = "reset"
    STALL = "stall"
    HALF_CLOSE = "half-close"
    TRUNCATED = "truncated chunk"
    GARBAGE = "garbage for JSON"
    BROKEN = "garbage for a chunk"
    DRIP = "slow drip"
    ERROR = "500 in mid-stream"
    SHORT = "content-length too small"
    LONG = "content-length too large"
    TWICE = "two answers"


HARMLESS = (Fault.NONE, Fault.DRIP, Fault.TWICE)

PLACES = {
    Fault.REFUSE: (Place.HEADERS,),
    # A length is told in the headers.
    Fault.SHORT: tuple(Place)[1:],
    Fault.LONG: tuple(Place)[1:],
    # The second one comes behind the first, for the next request to trip over.
    Fault.TWICE: (Place.DONE,),
}
"""Where a fault is possible, if not everywhere."""


def cases() -> list[tuple[Fault, Place]]:
    """Every fault in every place."""
    return [(fault, place) for fault in Fault for place in PLACES.get(fault, tuple(Place))]


GARBAGE = b'data: \x00\xff\xfe{"choices": [\n\n'
DRIPS = 300
"""How many bytes of a slow drip come one by one."""
UNHEARD = "the engine has gone up in smoke"
ERROR = event({"error": {"message": UNHEARD, "type": "InternalServerError", "code": 500}})
_BODY = b'{"error": {"message": "%b", "code": 500}}' % UNHEARD.encode()
EARLY_ERROR = b"HTTP/1.1 500 X\r\ncontent-length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
ENDS = (Fault.HALF_CLOSE, Fault.TRUNCATED, Fault.LONG)
"""After these no more can come."""


def _chunked(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


@dataclass
class Exchange:
    """One request, as both ends of the gateway see it."""

    fault: Fault = Fault.NONE
    place: Place = Place.DONE
    answer: Answer = field(default_factory=Answer)
    leaves: bool = False
    """Whether the client hangs up when the answer has come to the place."""

    sent: list[float] = field(default_factory=list)
    """When each piece of an item left the upstream."""
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    """The answer has come to the place."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """The client has hung up."""
    released: asyncio.Event = field(default_factory=asyncio.Event)
    """The gateway has closed its connection, or taken it for the next request."""

    @property
    def is_whole(self) -> bool:
        """Whether a client gets all of the answer."""
        return self.fault in HARMLESS

    @property
    def ends(self) -> str:
        """The rule: how a stream must end, or which status a request must get.

        A response is completed if and only if its finish reason has come. Until headers
        have come an HTTP status can tell of a fault, afterwards a failed response.
        """
        if self.is_whole:
            return "completed"
        if self.place is Place.HEADERS:
            statuses = {Fault.REFUSE: "503", Fault.STALL: "504", Fault.ERROR: "500"}
            return statuses.get(self.fault, "502")
        if self.fault is Fault.ERROR and self.place is Place.USAGE:
            # It says itself, while we still listen, that the finish was none.
            return "failed"
        return "completed" if self.place in AFTER_FINISH else "failed"

    def said(self) -> dict[str, str]:
        """What the upstream says before the fault."""
        frames = self.answer.frames() if self.is_whole else self.answer.until(self.place)
        said = {"reasoning": "", "content": "", "arguments": ""}
        for frame in frames:
            if frame.said:
                said[frame.said] += frame.text
        return said


class Upstream:
    """A chat server. The model's name in a request says which exchange it belongs to."""

    def __init__(self) -> None:
        self.exchanges: dict[str, Exchange] = {}
        self.accepted = 0
        """Connections there have ever been."""
        self.port = 0
        self._server: asyncio.Server
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}

    @property
    def open(self) -> int:
        """Connections there are."""
        return len(self._open)

    @property
    def url(self) -> str:
        """What the gateway is told."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def listen(self) -> None:
        """Accepts connections, on the same port as before."""
        server = asyncio.start_server(
            self._accept, "127.0.0.1", self.port, backlog=2048, reuse_address=True
        )
        self._server = await server
        self.port = self._server.sockets[0].getsockname()[1]

    def refuse(self) -> None:
        """Accepts no more connections."""
        self._server.close()

    async def close(self) -> None:
        """Ends all connections, too."""
        self.refuse()
        serving = list(self._open.values())
        for writer in self._open:
            writer.transport.abort()
        await asyncio.gather(*serving)

    async def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        serving = asyncio.current_task()
        assert serving is not None
        self._open[writer] = serving
        self.accepted += 1
        try:
            while True:
                exchange = self.exchanges[await _model(reader)]
                try:
                    await _Telling(exchange, reader, writer).tell()
                finally:
                    exchange.released.set()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            del self._open[writer]
            writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[Upstream]:
    """A chat server."""
    upstream = Upstream()
    await upstream.listen()
    try:
        yield upstream
    finally:
        await upstream.close()


async def _model(reader: asyncio.StreamReader) -> str:
    """The model that the next request asks for."""
    head = await reader.readuntil(b"\r\n\r\n")
    _, _, length = head.lower().partition(b"\r\ncontent-length:")
    body = await reader.readexactly(int(length.split(b"\r\n")[0] or b"0"))
    model: str = json.loads(body)["model"]
    return model


class _Telling:
    """The answer to one request, up to the fault and behind it."""

    def __init__(
        self,
        exchange: Exchange,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._exchange = exchange
        self._reader = reader
        self._writer = writer
        self._chunks = exchange.fault not in (Fault.HALF_CLOSE, Fault.SHORT, Fault.LONG)

    async def tell(self) -> None:
        """Tells it; raises ConnectionError when the connection is over with."""
        exchange, writer = self._exchange, self._writer
        told = exchange.answer.until(exchange.place)
        if exchange.place is not Place.HEADERS:
            writer.write(self._head(told))
        if exchange.fault is Fault.SHORT:
            # All at once: what comes later is taken for the answer to the next request.
            await self._too_much()
        await self._say(told)
        exchange.reached.set()
        if exchange.leaves:
            await exchange.left.wait()
        elif not exchange.is_whole:
            # A reset takes with it what has not been read.
            await writer.drain()
            await asyncio.sleep(0.05)
        await self._break(list(exchange.answer.frames())[len(told) :])

    async def _say(self, frames: list[Frame]) -> None:
        pause, sent = self._exchange.answer.pause, self._exchange.sent
        for frame in frames:
            if pause:
                await asyncio.sleep(pause)
            if frame.said:
                sent.append(time.monotonic())
            self._write(frame.bytes)
            await self._writer.drain()

    async def _too_much(self) -> None:
        """All of the answer, where headers have promised less."""
        await asyncio.sleep(0.05)
        frames = self._exchange.answer.frames()
        self._writer.write(b"".join(frame.bytes for frame in frames) + DONE)
        self._exchange.reached.set()
        await self._hung_up()

    def _write(self, piece: bytes) -> None:
        self._writer.write(_chunked(piece) if self._chunks else piece)

    def _head(self, told: list[Frame]) -> bytes:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        length = sum(len(frame.bytes) for frame in told)
        match self._exchange.fault:
            case Fault.HALF_CLOSE:
                return head + b"connection: close\r\n\r\n"
            case Fault.SHORT:
                # None at all would end the answer before the rest is there.
                return head + b"content-length: %d\r\n\r\n" % (length or 1)
            case Fault.LONG:
                return head + b"content-length: %d\r\n\r\n" % (length + 1000)
        return head + b"transfer-encoding: chunked\r\n\r\n"

    async def _break(self, rest: list[Frame]) -> None:
        """Goes wrong, and on if it can."""
        exchange, headless = self._exchange, self._exchange.place is Place.HEADERS
        if headless and exchange.is_whole:
            self._writer.write(self._head([]))
        match exchange.fault:
            case Fault.NONE:
                await self._end(rest)
            case Fault.DRIP:
                await self._drip(rest)
            case Fault.TWICE:
                await self._end(rest)
                await asyncio.sleep(0.05)
                self._writer.write(self._head([]))
                await self._end(list(Answer(words=2).frames()))
            case Fault.ERROR if headless:
                self._writer.write(EARLY_ERROR)
                await self._writer.drain()
            case Fault.ERROR | Fault.GARBAGE if not headless:
                self._write(ERROR if exchange.fault is Fault.ERROR else GARBAGE)
                await self._end(rest)
            case Fault.RESET:
                self._reset()
            case _:
                self._writer.write(self._wrong(rest, headless=headless))
                if exchange.fault in ENDS:
                    self._writer.write_eof()
                await self._hung_up()

    def _wrong(self, rest: list[Frame], *, headless: bool) -> bytes:
        """What comes last."""
        match self._exchange.fault:
            case Fault.TRUNCATED if headless:
                return b"HTTP/1.1 200 OK\r\ncontent-ty"
            case Fault.TRUNCATED:
                cut = (*(frame.bytes for frame in rest), DONE)[0]
                return _chunked(cut)[: len(cut) // 2]
            case Fault.GARBAGE | Fault.BROKEN if headless:
                return b"\x16\x03\x01 this is no HTTP\r\n\r\n"
            case Fault.BROKEN:
                return b"zz\r\nno chunk\r\n"
        return b""

    async def _end(self, rest: list[Frame]) -> None:
        """The rest, as it should be."""
        await self._say(rest)
        self._write(DONE)
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def _drip(self, rest: list[Frame]) -> None:
        """A little of the rest byte by byte, then all of it."""
        dripping, rest = rest[:1], rest[1:]
        told = b"".join(_chunked(frame.bytes) for frame in dripping)
        for byte in told[:DRIPS]:
            self._writer.write(bytes((byte,)))
            await self._writer.drain()
            await asyncio.sleep(0.001)
        self._exchange.sent += [time.monotonic() for frame in dripping if frame.said]
        self._writer.write(told[DRIPS:])
        await self._end(rest)

    def _reset(self) -> None:
        """Closes with RST instead of FIN."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()
        raise ConnectionResetError

    async def _hung_up(self) -> None:
        """Waits until the gateway hangs up."""
        await self._writer.drain()
        while await self._reader.read(4096):
            pass
        raise ConnectionResetError

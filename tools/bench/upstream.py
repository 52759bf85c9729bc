"""A chat server that plays a script to all of its clients at once, in its own process.

It does as little as it can: no HTTP library, bytes that are made once. An engine's step
gives one token to each stream, so each tick writes one chunk to each of them.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from multiprocessing.connection import Connection
from typing import Final, cast

import msgspec
import uvloop

from .workload import PLAIN

HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
NOT_FOUND: Final = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
SETTLE: Final = 0.3
"""Seconds of silence before the first tick and behind the last."""
TIMED: Final = "T%d"
"""The text of a delta that tells when it was sent, in nanoseconds."""


class Play(msgspec.Struct, frozen=True):
    """What is played to the next clients."""

    streams: int
    """How many clients are waited for."""
    ticks: int
    interval: float = 0.0
    """Between two ticks, in seconds; 0: each tick waits for the call of `tick`."""
    is_timed: bool = False
    is_held: bool = False
    """Whether the streams stay open until `release`."""


def chunk(text: str) -> bytes:
    """One delta of a chat stream, as vLLM writes it, in a chunk of HTTP."""
    return _frame([{"index": 0, "delta": {"content": text}, "finish_reason": None}])


def _frame(choices: list[dict[str, object]], usage: object = None) -> bytes:
    whole = {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion.chunk",
        "created": 1_795_215_516,
        "model": "demo",
        "choices": [{**choice, "logprobs": None} for choice in choices],
        "usage": usage,
    }
    return _sized(b"data: %b\n\n" % msgspec.json.encode(whole))


def _sized(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


USAGE: Final = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
BEGIN: Final = HEAD + _frame([{"index": 0, "delta": {"role": "assistant"}}])
END: Final = (
    _frame([{"index": 0, "delta": {}, "finish_reason": "stop"}])
    + _frame([], USAGE)
    + _sized(b"data: [DONE]\n\n")
    + b"0\r\n\r\n"
)
WORDS: Final = tuple(map(chunk, PLAIN))
"""More than one: LiteLLM ends a stream that says the same for a hundred times."""


class Connected(asyncio.Protocol):
    """A client's connection, one request after the other."""

    def __init__(self, waiting: asyncio.Queue[asyncio.Transport]) -> None:
        self._waiting = waiting
        self._received = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio's."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """asyncio's."""
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        sizes = [
            int(line.partition(b":")[2])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ]
        if len(body) >= sum(sizes):
            self._received = b""
            if head.startswith(b"POST"):
                self._waiting.put_nowait(self._transport)
            else:
                # LiteLLM asks for the models when it comes up.
                self._transport.write(
                    b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
                )


async def _serve(parent: Connection) -> None:
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[asyncio.Transport] = asyncio.Queue()
    released = asyncio.Event()
    ticks: asyncio.Queue[None] = asyncio.Queue()
    orders: asyncio.Queue[Play] = asyncio.Queue()

    def ordered() -> None:
        match parent.recv():
            case "tick":
                ticks.put_nowait(None)
            case "release":
                released.set()
            case play:
                orders.put_nowait(play)

    server = await loop.create_server(lambda: Connected(waiting), "127.0.0.1", 0)
    loop.add_reader(parent.fileno(), ordered)
    parent.send(server.sockets[0].getsockname()[1])
    while True:
        play = await orders.get()
        clients = [await waiting.get() for _ in range(play.streams)]
        await _play(play, clients, ticks)
        if play.is_held:
            await released.wait()
            released.clear()
        for client in clients:
            client.write(END)


async def _play(
    play: Play, clients: list[asyncio.Transport], ticks: asyncio.Queue[None]
) -> None:
    for client in clients:
        client.write(BEGIN + WORDS[0])
    await asyncio.sleep(SETTLE)
    began = time.monotonic()
    for tick in range(play.ticks):
        if not play.interval:
            await ticks.get()
        word = WORDS[tick % len(WORDS)]
        for client in clients:
            client.write(chunk(TIMED % time.monotonic_ns()) if play.is_timed else word)
        if play.interval:
            await asyncio.sleep(began + (tick + 1) * play.interval - time.monotonic())
    await asyncio.sleep(SETTLE)


def _main(parent: Connection) -> None:
    uvloop.run(_serve(parent))


class ScriptedUpstream:
    """The process, seen from the one that measures."""

    def __init__(self) -> None:
        self._connection, other = multiprocessing.Pipe()
        spawn = multiprocessing.get_context("spawn")
        self._process = spawn.Process(target=_main, args=(other,), daemon=True)
        self._process.start()
        self.port: int = self._connection.recv()

    def play(self, play: Play) -> None:
        """Plays to the next clients."""
        self._connection.send(play)

    def tick(self) -> None:
        """The next delta to each client, of a play without an interval."""
        self._connection.send("tick")

    def release(self) -> None:
        """Ends the streams that are held."""
        self._connection.send("release")

    def stop(self) -> None:
        """Ends the process."""
        self._process.terminate()
        self._process.join()

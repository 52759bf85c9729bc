"""A client that asks a gateway for a response, and judges what it gets.

The other end of faulty_upstream.py. It reads the bare socket, so that it can be slow, or
leave.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httptools
from faulty_upstream import UNHEARD, Exchange, Fault
from placed_answer import DONE, Place

from responses_stream.recorded import Recording, read


@dataclass
class Got:
    """What a client has got so far."""

    status: int = 0
    body: bytes = b""
    whole: bool = False
    """Whether the body came to its end."""


class Client:
    """One request over a connection of its own."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.got = Got()
        self._reader = reader
        self._writer = writer
        self._pieces: list[bytes] = []
        self._parser = httptools.HttpResponseParser(self)

    async def read(self) -> bytes:
        """More of the body; b"" at its end, or where it breaks off."""
        while not self._pieces and not self.got.whole:
            try:
                data = await self._reader.read(PIECE)
            except ConnectionError:
                return b""
            if not data:
                return b""
            self._parser.feed_data(data)
            self.got.status = self._parser.get_status_code()
        piece = b"".join(self._pieces)
        self._pieces.clear()
        return piece

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        """See httptools."""
        self.got.whole = True


@asynccontextmanager
async def asking(
    port: int, model: str, *, slowly: bool = False, path: str = "/v1/responses"
) -> AsyncIterator[Client]:
    """Asks for a stream; hangs up at the end of the block."""
    sock = socket.socket()
    sock.settimeout(0)
    if slowly:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=sock, limit=PIECE)
    body = json.dumps({"model": model, "input": "Hi", "stream": True, "tools": TOOLS})
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


PIECE = 65536
"""How many bytes are read at a time. A slow client then waits for PAUSE seconds, so that it
reads less than a gateway writes."""
PAUSE = 0.004
TOOLS = [{"type": "function", "name": "get_weather", "parameters": {}}]


async def ask(
    port: int,
    model: str,
    *,
    slowly: bool = False,
    path: str = "/v1/responses",
    seen: Callable[[bytes], object] = bool,
) -> Got:
    """What a client gets that reads to the end; each piece is `seen` as it comes."""
    pieces = []
    async with asking(port, model, slowly=slowly, path=path) as client:
        if slowly:
            await asyncio.sleep(0.5)
        while piece := await client.read():
            seen(piece)
            pieces.append(piece)
            if slowly:
                await asyncio.sleep(PAUSE)
    client.got.body = b"".join(pieces)
    return client.got


async def leave(port: int, model: str, exchange: Exchange) -> None:
    """Asks, and hangs up when the answer has come to its place."""
    async with asking(port, model) as client:
        reading = asyncio.ensure_future(_read_on(client))
        reaching = asyncio.ensure_future(exchange.reached.wait())
        both = (reading, reaching)
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for each in both:
            each.cancel()
        await asyncio.gather(*both, return_exceptions=True)
    exchange.left.set()


async def _read_on(client: Client) -> None:
    while await client.read():
        pass


# The judge ------------------------------------------------------------------------------


def judge(exchange: Exchange, got: Got, *, lossy: bool = False) -> list[str]:
    """What is wrong with an answer; nothing, if it is as the rule says.

    `lossy`: words may be missing at the end, as a reset took what was still on its way.
    """
    if not got.whole:
        return [f"the answer broke off after {len(got.body)} bytes"]
    expected = exchange.ends
    if got.status != HTTPStatus.OK:
        return _judge_status(got, expected)
    recording = read(got.body)
    wrong = [f"line {found.line}: {found.violation}" for found in recording.findings]
    if not got.body.endswith(b"\n\n" + DONE):
        wrong.append(f"the body ends with {got.body[-30:]!r}")
    if wrong or not recording.events:
        return wrong or ["there are no events"]
    return _judge_end(exchange, recording, expected, lossy=lossy)


def outcome(got: Got) -> str:
    """How an answer ended, in a word."""
    if got.status != HTTPStatus.OK:
        return str(got.status)
    events = read(got.body).events
    return events[-1]["type"].removeprefix("response.") if events else "nothing"


def _judge_status(got: Got, expected: str) -> list[str]:
    if str(got.status) != expected:
        return [f"the status is {got.status}; expected {expected}: {got.body[:200]!r}"]
    error = json.loads(got.body)["error"]
    if error["code"] != "server_error" or not error["message"]:
        return [f"the error is {error}"]
    return []


def _judge_end(
    exchange: Exchange, recording: Recording, expected: str, *, lossy: bool
) -> list[str]:
    last = recording.events[-1]
    response, ends = last["response"], last["type"].removeprefix("response.")
    if ends != expected and not (lossy and ends == "failed"):
        return [f"it ends {ends}; expected {expected}: {response['error']}"]
    if ends == "failed" and response["error"]["code"] != "server_error":
        return [f"the error is {response['error']}"]
    wrong = []
    if exchange.fault is Fault.ERROR and ends == "failed":
        wrong += _unlike("message", response["error"]["message"], UNHEARD)
    told, found = exchange.said(), _said(response["output"])
    for kind, text in told.items():
        if not (lossy and text.startswith(found[kind])):
            wrong += _unlike(kind, found[kind], text)
    if exchange.is_whole or (exchange.place is Place.DONE and ends == "completed"):
        wrong += _unlike("total_tokens", response["usage"]["total_tokens"], 12)
    return wrong


def _unlike(what: str, found: object, expected: object) -> list[str]:
    if found == expected:
        return []
    return [f"{what} is {str(found)[-60:]!r}; expected {str(expected)[-60:]!r}"]


def _said(output: list[dict[str, Any]]) -> dict[str, str]:
    said = {"reasoning": "", "content": "", "arguments": ""}
    names = {"reasoning": "reasoning", "message": "content"}
    for item in output:
        if item["type"] == "function_call":
            said["arguments"] += item["arguments"]
        else:
            text = "".join(part["text"] for part in item["content"])
            said[names[item["type"]]] += text
    return said

"""A world for a gateway: a chat server that plays scripts, and the gateway in front of it.

Both are real servers on 127.0.0.1, each in a thread of its own, so that a test may use
blocking clients as well as asynchronous ones. The chat server writes bare bytes, so that
it can be wrong in every way.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import msgspec
from gateway_frames import Script

from responses_stream import SSEDecoder
from responses_stream.gateway.server import Server, listen
from responses_stream.gateway.settings import Settings

REQUEST: dict[str, Any] = {
    "input": [
        {"role": "user", "content": "Hi"},
        {
            "type": "function_call",
            "call_id": "call_0",
            "name": "get_time",
            "arguments": "{}",
        },
        {"type": "function_call_output", "call_id": "call_0", "output": "noon"},
    ],
    "tools": [
        {
            "type": "function",
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
            },
            "strict": False,
        },
        {"type": "function", "name": "get_time", "parameters": {}, "strict": False},
        {"type": "custom", "name": "apply_patch"},
        {
            "type": "namespace",
            "name": "agents",
            "description": "Others.",
            "tools": [{"type": "function", "name": "wait", "parameters": {}}],
        },
        {"type": "web_search"},
    ],
}
"""A request with every kind of tool, and a call id that is taken."""


@dataclass
class Asked:
    """A request that the chat server got."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Set when the connection closes."""
    hung_up_at: float = 0.0
    sent: int = 0
    """How many bytes of the answer's body the system has taken."""


class ScriptedServer:
    """A chat server. The model's name in a request says which script to play."""

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self.scripts = scripts
        self.asked: list[Asked] = []
        self.gate = threading.Event()
        """What scripts with a gate wait for. Whoever has opened it closes it again."""
        self.models: Any = {"object": "list", "data": [{"id": "m", "object": "model"}]}
        self.connections = 0
        self.url = ""

    async def serve(self, started: Callable[[], None], stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        started()
        await stop.wait()
        server.close()

    async def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.connections += 1
        try:
            while await self._answer(await _read_request(reader), reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _answer(
        self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Plays to the end, or until the other side hangs up; whether to go on."""
        self.asked.append(asked)
        script = self._script(asked)
        playing = asyncio.ensure_future(_play(script, asked, writer, self._wait))
        reading = asyncio.ensure_future(reader.read(1))
        await asyncio.wait((playing, reading), return_when=asyncio.FIRST_COMPLETED)
        asked.hung_up_at = time.monotonic()
        is_over = playing.done()
        for task in (playing, reading):
            task.cancel()
        await asyncio.gather(playing, reading, return_exceptions=True)
        asked.hung_up.set()
        return is_over and script.keep

    async def _wait(self) -> None:
        while not self.gate.is_set():  # noqa: ASYNC110  (another thread opens it)
            await asyncio.sleep(0.002)

    def _script(self, asked: Asked) -> Script:
        if asked.path.endswith("/models"):
            if isinstance(self.models, Script):
                return self.models
            body = json.dumps(self.models).encode()
            return Script((body,), framing="length", headers=())
        return self.scripts[asked.body["model"]]


async def _read_request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(first.split(" ")[1], headers, json.loads(body or b"{}"))


async def _play(
    script: Script,
    asked: Asked,
    writer: asyncio.StreamWriter,
    wait: Callable[[], Awaitable[None]],
) -> None:
    if script.gate == "head":
        await wait()
    if script.ending == "reset" and not script.body:
        _reset(writer)
        return
    writer.write(_head(script))
    for number, piece in enumerate(script.body):
        await writer.drain()
        if number and script.gate == "rest":
            await wait()
        if number and script.pause:
            await asyncio.sleep(script.pause)
        frame = b"%x\r\n%b\r\n" % (len(piece), piece)
        writer.write(frame if script.framing == "chunked" else piece)
        asked.sent += len(piece)
    if script.keep:
        # So that the last chunk does not come together with all the rest.
        await asyncio.sleep(0.01)
    if script.ending == "clean" and script.framing == "chunked":
        writer.write(b"0\r\n\r\n")
    await writer.drain()
    if script.ending == "open":
        await asyncio.sleep(30)
    if script.ending == "reset":
        await asyncio.sleep(0.02)
        _reset(writer)


def _head(script: Script) -> bytes:
    head = [f"HTTP/1.1 {script.status} X", *script.headers]
    if not script.keep:
        head.append("connection: close")
    if script.framing == "chunked":
        head.append("transfer-encoding: chunked")
    elif script.framing == "length":
        head.append(f"content-length: {sum(map(len, script.body))}")
    return "\r\n".join([*head, "", ""]).encode()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Closes with RST instead of FIN."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@contextmanager
def in_thread(
    serve: Callable[[Callable[[], None], asyncio.Event], Any],
) -> Iterator[None]:
    """Runs a server's coroutine in a thread until the block ends."""
    started = threading.Event()
    running: dict[str, Any] = {}

    async def main() -> None:
        running["loop"] = asyncio.get_running_loop()
        running["stop"] = asyncio.Event()
        await serve(started.set, running["stop"])

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    assert started.wait(10)
    try:
        yield
    finally:
        running["loop"].call_soon_threadsafe(running["stop"].set)
        thread.join(10)


@contextmanager
def scripted_server(scripts: Mapping[str, Script]) -> Iterator[ScriptedServer]:
    """A chat server that plays these scripts."""
    server = ScriptedServer(scripts)
    with in_thread(server.serve):
        yield server


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """A gateway with these settings; gives its base URL."""
    listener = listen("127.0.0.1", 0)
    server = Server(msgspec.structs.replace(settings, grace=0.5))

    async def serve(started: Callable[[], None], stop: asyncio.Event) -> None:
        running = asyncio.ensure_future(server.serve(sockets=[listener]))
        while not server.started:  # noqa: ASYNC110  (uvicorn has no event for it)
            await asyncio.sleep(0.005)
        started()
        await stop.wait()
        server.should_exit = True
        await running

    with in_thread(serve):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def gateway(server: ScriptedServer, **settings: Any) -> AbstractContextManager[str]:
    """One in front of a chat server, whose ends it does not await for long."""
    return serving(Settings(upstream=server.url, **{"linger": 0.2, **settings}))


@dataclass(frozen=True)
class Got:
    """What a client got."""

    status: int
    headers: httpx.Headers
    body: bytes

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events of a stream. Its last frame must be `[DONE]`, and whole."""
        frames = SSEDecoder().feed(self.body)
        assert self.body.endswith(b"data: [DONE]\n\n")
        assert b"\r" not in self.body
        wires = [msgspec.json.decode(frame.data) for frame in frames[:-1]]
        assert [wire["type"] for wire in wires] == [f.event for f in frames[:-1]]
        return wires

    @property
    def response(self) -> dict[str, Any]:
        """The response object of the last event, or of a whole answer."""
        if self.headers["content-type"].startswith("text/event-stream"):
            response: dict[str, Any] = self.events[-1]["response"]
            return response
        return self.json

    @property
    def json(self) -> dict[str, Any]:
        """A whole body."""
        found: dict[str, Any] = msgspec.json.decode(self.body)
        return found

    @property
    def error(self) -> dict[str, Any]:
        """What an HTTP error says."""
        error: dict[str, Any] = self.json["error"]
        return error


def ask(url: str, path: str = "/responses", **request: Any) -> Got:
    """POSTs a request and reads the answer to its end."""
    headers = request.pop("headers", {})
    # Most of a new client's time goes into certificates, which nobody here has.
    with httpx.Client(verify=False, timeout=20) as client:
        response = client.post(url + path, json=request, headers=headers)
    return Got(response.status_code, response.headers, response.content)


def said_in(output: list[dict[str, Any]], kind: str) -> str:
    """The text of all items of a kind, joined."""
    parts = [
        part
        for item in output
        if item["type"] == kind
        for part in [*item.get("summary", ()), *item.get("content", ())]
    ]
    return "".join(part.get("text", part.get("refusal", "")) for part in parts)


def calls_in(output: list[dict[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Name and text of all calls."""
    return tuple(
        (item["name"], item.get("arguments", item.get("input", "")))
        for item in output
        if item["type"].endswith("_call")
    )

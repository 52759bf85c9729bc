"""A chat-completions server with a scripted model; it notes who asked what."""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from codex_model import (
    GO_ON,
    Conversation,
    Finish,
    Pause,
    Script,
    Told,
    is_for_title,
    say,
    written,
)


class Refuse(NamedTuple):
    """An error instead of an answer; the only step of its script."""

    status: int
    error: Mapping[str, Any]
    headers: Mapping[str, str] = MappingProxyType({})


class Chunk(NamedTuple):
    """A whole chunk, for what is no delta."""

    fields: Mapping[str, Any]


DIE: Final = object()
"""The connection is reset."""


@dataclass
class Asked:
    """A request, and when its connection was lost, if it was before the answer ended."""

    body: dict[str, Any]
    at: float
    lost_at: float | None = None
    ended: bool = False

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Its conversation."""
        return list(self.body["messages"])

    def said(self, role: str) -> list[dict[str, Any]]:
        """The messages of a role."""
        return [message for message in self.messages if message["role"] == role]

    @property
    def told(self) -> Conversation:
        """Its conversation as a model of any server gets it."""
        told = [Told(one["role"], _text(one)) for one in self.messages]
        return Conversation(told, has_image="data:image/png;base64," in str(self.messages))


@dataclass
class ChatUpstream:
    """See the module."""

    url: str
    scripts: list[Script] = field(default_factory=list)
    title: str = "A title"
    """What is said to the TUI's side request for a title."""
    asked: list[Asked] = field(default_factory=list)
    titles: list[Asked] = field(default_factory=list)
    """The side requests, which play no script."""
    _lock: Lock = field(default_factory=Lock)

    @property
    def busy(self) -> bool:
        """See Model."""
        asked = [*self.asked, *self.titles]
        return any(one.lost_at is None and not one.ended for one in asked)

    @property
    def told(self) -> list[Conversation]:
        """See Model."""
        return [asked.told for asked in self.asked]

    def forget(self) -> None:
        """Makes it as it was at first."""
        self.scripts, self.asked, self.titles, self.title = [], [], [], "A title"

    def plays(self, *scripts: Script) -> None:
        """Gives the scripts, one for each request that comes from now on."""
        self.scripts = list(scripts)

    def take(self, body: dict[str, Any]) -> tuple[Asked, Script]:
        """Notes a request; returns its script."""
        asked = Asked(body, time.monotonic())
        with self._lock:
            if _is_for_title(body):
                self.titles.append(asked)
                return asked, say(json.dumps({"title": self.title}))
            self.asked.append(asked)
            return asked, self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content)
    functions = [one["function"] for one in message.get("tool_calls", [])]
    calls = [(function["name"], function["arguments"]) for function in functions]
    return written(message.get("reasoning", ""), content, calls)


def _is_for_title(body: Mapping[str, Any]) -> bool:
    asked = body.get("response_format", {}).get("json_schema", {})
    return is_for_title(asked.get("schema", {}))


@contextmanager
def chat_upstream() -> Iterator[ChatUpstream]:
    """A server in a thread."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        upstream = ChatUpstream(f"http://127.0.0.1:{server.server_address[1]}/v1")
        server.upstream = upstream  # type: ignore[attr-defined]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield upstream
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """The list of models."""
        self._answer(200, {"data": [{"id": "tiny", "max_model_len": 131072}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        upstream: ChatUpstream = self.server.upstream  # type: ignore[attr-defined]
        asked, script = upstream.take(body)
        self.close_connection = True
        try:
            asked.ended = self._play(script, body["model"])
        except OSError:
            asked.lost_at = time.monotonic()

    def _play(self, script: Iterable[Any], model: str) -> bool:
        """Returns whether the answer came to its end. Raises OSError for a lost client."""
        headers_out = False
        for step in script:
            if isinstance(step, Refuse):
                self._answer(step.status, {"error": step.error}, step.headers)
                return True
            if isinstance(step, Pause) or step is GO_ON:
                self._wait(20 if step is GO_ON else step.seconds)
                continue
            if step is DIE:
                self._die()
                return False
            if not headers_out:
                self._begin()
                headers_out = True
            self._say(step, model)
        if headers_out:
            self.wfile.write(b"0\r\n\r\n")
        return headers_out

    def _answer(
        self, status: int, value: object, headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        own = {"content-type": "application/json", "content-length": str(len(body))}
        own["connection"] = "close"
        for name, text in {**own, **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.send_header("openai-model", "another-model")
        self.end_headers()

    def _die(self) -> None:
        # With this the kernel sends a reset instead of an end.
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.rfile.close()
        self.connection.close()

    def _wait(self, seconds: float) -> None:
        if select.select([self.connection], [], [], seconds)[0]:
            raise ConnectionResetError

    def _say(self, step: Any, model: str) -> None:
        common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
        common["model"] = model
        match step:
            case Chunk(fields):
                said = [json.dumps(fields)]
            case Finish(reason, usage):
                choice = {"index": 0, "delta": {}, "finish_reason": reason}
                said = [json.dumps({**common, "choices": [choice]})]
                if usage is not None:
                    said.append(json.dumps({**common, "choices": [], "usage": usage}))
                said.append("[DONE]")
            case delta:
                choice = {"index": 0, "delta": delta, "finish_reason": None}
                said = [json.dumps({**common, "choices": [choice]})]
        frames = "".join(f"data: {text}\n\n" for text in said).encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(frames), frames))

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, *_args: Any) -> None:
        """Nobody reads it."""

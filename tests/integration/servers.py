"""What integration tests start, and end again: programs, and servers in threads."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from listening import PATIENCE, wait_for_port

ROOT = Path(__file__).parent.parent.parent


# Programs ---------------------------------------------------------------------------


@contextmanager
def program(
    *command: str, port: int, log: Path, env: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Runs a program while it is wanted; it is entered when the program listens."""
    environment = {**os.environ, **(env or {})}
    with (
        log.open("wb") as out,
        subprocess.Popen(command, stdout=out, stderr=out, env=environment) as running,
    ):
        try:
            wait_for_port(running, port, log)
            yield
        finally:
            running.terminate()
            with suppress(subprocess.TimeoutExpired):
                running.wait(PATIENCE)
            running.kill()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def gateway(log: Path, *options: str) -> Iterator[str]:
    """The gateway, as `responses-stream serve` with these options; gives its base URL."""
    port = free_port()
    command = [sys.executable, "-m", "responses_stream", "serve", "--port", str(port)]
    with program(*command, *options, port=port, log=log, env={"PYTHONPATH": str(ROOT)}):
        yield f"http://127.0.0.1:{port}/v1"


# Servers in a thread ------------------------------------------------------------------


class Reply(NamedTuple):
    """What a server answers, piece by piece, each sent as soon as it is there."""

    pieces: Iterable[bytes]
    content_type: str = "text/event-stream"


Answer = Callable[[str, bytes], Reply]
"""From a request's path and body."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        reply = self.server.answer(self.path, body)
        self.send_response(200)
        self.send_header("content-type", reply.content_type)
        self.send_header("connection", "close")
        self.end_headers()
        with suppress(ConnectionError):
            for piece in reply.pieces:
                self.wfile.write(piece)

    def log_message(self, *_args: Any) -> None:
        """Nobody reads it."""


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """A server that answers every POST by `answer`; gives its base URL."""
    with _Server(answer) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def chat(deltas: Iterable[Mapping[str, Any]], reason: str, pace: float = 0) -> Answer:
    """A chat server that says the same to everybody, a delta every `pace` seconds."""

    def answer(_path: str, _body: bytes) -> Reply:
        return Reply(pieces())

    def pieces() -> Iterator[bytes]:
        for delta in deltas:
            yield chunk(delta, None)
            time.sleep(pace)
        yield chunk({}, reason)
        yield b"data: [DONE]\n\n"

    def chunk(delta: Mapping[str, Any], reason: str | None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
        found = {**common, "model": "m", "choices": [choice]}
        return b"data: %b\n\n" % msgspec.json.encode(found)

    return answer


def chatting(
    deltas: Iterable[Mapping[str, Any]], reason: str = "stop", pace: float = 0
) -> AbstractContextManager[str]:
    """Serves `chat`."""
    return answering(chat(deltas, reason, pace))


def relaying(base: str, content_type: str) -> AbstractContextManager[str]:
    """A proxy that passes on no header, and calls whatever it passes on `content_type`."""
    where = urlsplit(base)

    def answer(path: str, body: bytes) -> Reply:
        return Reply(pieces(path, body), content_type)

    def pieces(path: str, body: bytes) -> Iterator[bytes]:
        headers = {"content-type": "application/json"}
        with closing(HTTPConnection(where.netloc)) as connection:
            connection.request("POST", where.path + path, body, headers)
            with connection.getresponse() as response:
                while piece := response.read1():
                    yield piece

    return answering(answer)

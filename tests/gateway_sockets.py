"""Clients of a gateway that write and read bytes, and so may be as odd as they like."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit


def address(url: str) -> tuple[str, int]:
    """Where a gateway listens, for a socket; from its base URL."""
    where = urlsplit(url)
    assert where.hostname, url
    assert where.port, url
    return where.hostname, where.port


def head(length: int, path: str = "/v1/responses") -> bytes:
    """The head of a request whose body is so long."""
    return f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n".encode()


def post(client: socket.socket, path: str = "/v1/responses", **request: Any) -> None:
    """Asks, whole and at once."""
    body = json.dumps({"input": "Hi", **request}).encode()
    client.sendall(head(len(body), path) + body)


@contextmanager
def narrow(url: str) -> Iterator[socket.socket]:
    """A client whose system takes next to nothing unread."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with client:
        client.connect(address(url))
        yield client


def all_of(client: socket.socket) -> bytes:
    """All that still comes, until the gateway hangs up."""
    body = b""
    while data := client.recv(65536):
        body += data
    return body

"""A gateway without sockets, before an upstream that says Hello to everybody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

import httpx
from gateway_frames import HELLO

from responses_stream.gateway.app import create_app
from responses_stream.gateway.settings import Settings


class Friendly:
    """An upstream that says Hello, and remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[bytes, Mapping[str, str]]] = []
        self._body: list[bytes] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing to close."""

    @asynccontextmanager
    async def chat(self, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[Self]:
        self.told.append((body, headers))
        self._body = list(HELLO)
        yield self

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        self.told.append((b"", headers))
        return []

    async def read(self) -> bytes:
        return self._body.pop(0) if self._body else b""

    def finish(self) -> None:
        """Nothing to keep."""


def call(
    settings: Settings,
    content: bytes,
    headers: list[tuple[bytes, bytes]] | None = None,
    path: str = "/v1/responses",
) -> tuple[httpx.Response, Friendly]:
    """What a gateway answers, and what it told its upstream."""
    friendly = Friendly()

    async def main() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(settings, friendly))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            return await client.post(path, content=content, headers=headers)

    return asyncio.run(main()), friendly

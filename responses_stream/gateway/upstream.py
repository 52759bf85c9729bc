"""The chat server behind the gateway, over HTTP.

Whatever goes wrong on the way there comes out as `Refused`, so that nobody above knows
which HTTP client this is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
)
from datetime import UTC
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Protocol, Self

import aiohttp
import msgspec

from responses_stream.chat.body import read_json
from responses_stream.chat.failures import Failure, read_failure
from responses_stream.errors import RemoteProtocolError

from .exchange import Exchange
from .limits import OpenStreams
from .refusals import Refused
from .reply import HTTPReply, refusals
from .settings import Settings

KEPT_SECONDS: Final = 2.0
"""How long an idle connection is kept: less than the 5 s after which uvicorn, Node and
cpp-httplib close one, so that no request meets a connection that is just closing."""

MAX_ERROR_BYTES: Final = 1024 * 1024

MOST_RETRY_DIGITS: Final = 6
"""Of `Retry-After`: nobody waits for weeks."""


class Reply(Protocol):
    """A chat server's answer, its headers in and its body to come."""

    async def read(self) -> bytes:
        """More of the body, as soon as there is more; b"" at its end.

        Raises Refused if it breaks off.
        """

    def finish(self) -> None:
        """Nothing more of the body matters, but it is about to end by itself."""


class Upstream(Protocol):
    """Who answers chat requests. Entered once, before the first of them."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...

    def chat(
        self, body: bytes, headers: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Reply]:
        """Asks; entering raises Refused for anything but an answer, leaving hangs up."""

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """The entries of `data` of GET /models. Raises Refused."""


class Question(msgspec.Struct, frozen=True):
    """A chat request, and whom to ask."""

    upstream: Upstream
    body: bytes
    headers: Mapping[str, str]
    exchange: Exchange
    """What is known of the client's request."""
    streams: OpenStreams
    """What bounds the time that the answer takes."""

    def ask(self) -> AbstractAsyncContextManager[Reply]:
        """See Upstream.chat."""
        return self.upstream.chat(self.body, self.headers)


class _Connector(aiohttp.TCPConnector):
    """Reuses no connection on which more has come than was asked for.

    aiohttp would take it for the answer to the next request, which is somebody else's.
    """

    async def _get(self, key: Any, traces: Any) -> Any:
        for connection, _since in self._conns.get(key, ()):
            if connection.should_close:
                connection.close()
        return await super()._get(key, traces)


class HTTPUpstream:
    """See Upstream."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._base = (settings.upstream or "").rstrip("/")
        self._session: aiohttp.ClientSession
        self._draining: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=_Connector(limit=0, keepalive_timeout=KEPT_SECONDS),
            timeout=aiohttp.ClientTimeout(
                total=None,
                sock_connect=self._settings.connect_timeout,
                # Until the first byte; HTTPReply knows what holds then.
                sock_read=self._settings.first_byte_timeout,
            ),
            # A compressed stream would wait for its blocks to fill.
            headers={"accept-encoding": "identity"},
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        draining = list(self._draining)
        for task in draining:
            task.cancel()
        await asyncio.gather(*draining, return_exceptions=True)
        await self._session.close()

    @asynccontextmanager
    async def chat(self, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[Reply]:
        """See Upstream."""
        with refusals():
            response = await self._session.post(
                f"{self._base}/chat/completions",
                data=body,
                headers={**headers, "content-type": "application/json"},
                allow_redirects=False,
            )
            reply = HTTPReply(response, self._settings.idle_timeout)
            try:
                if response.status != HTTPStatus.OK:
                    raise Refused(await _failure(response), "status")
                yield reply
            finally:
                if reply.finished:
                    # Not for the client to wait for, or to cut short.
                    draining = asyncio.ensure_future(reply.drain())
                    self._draining.add(draining)
                    draining.add_done_callback(self._draining.discard)
                    # However it ends: a task may be cancelled before it begins.
                    draining.add_done_callback(lambda _: reply.close())
                else:
                    reply.close()

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """See Upstream."""
        with refusals():
            async with self._session.get(
                f"{self._base}/models", headers=headers, allow_redirects=False
            ) as response:
                if response.status != HTTPStatus.OK:
                    raise Refused(await _failure(response), "status")
                return _entries(await _bounded(response, self._settings.answer.max_event))


def _entries(body: bytes) -> list[dict[str, Any]]:
    try:
        return msgspec.convert(read_json(body), _Models).data
    except (msgspec.ValidationError, RemoteProtocolError) as error:
        message = f"the model server's list of models is not to be understood: {error}"
        raise Refused(read_failure(message), "answer") from error


class _Models(msgspec.Struct):
    data: list[dict[str, Any]]


async def _bounded(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body, or as much of it as is wanted."""
    body = b""
    while len(body) < most and (piece := await response.content.readany()):
        body += piece
    return body[:most]


async def _failure(response: aiohttp.ClientResponse) -> Failure:
    """What a status other than 200 says."""
    status = response.status
    body = await _bounded(response, MAX_ERROR_BYTES)
    if status < HTTPStatus.BAD_REQUEST:
        where = response.headers.get("location")
        said: object = f"the model server answered {status} (location: {where})"
        return read_failure(said)
    try:
        said = read_json(body)
    except RemoteProtocolError:
        said = body.decode(errors="replace")
    return read_failure(said, status, _retry_after(response))


def _retry_after(response: aiohttp.ClientResponse) -> str | None:
    """The header, if it is one that may be passed on: seconds, or a date."""
    said = response.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit() and len(said) <= MOST_RETRY_DIGITS:
        return said
    try:
        return format_datetime(parsedate_to_datetime(said).astimezone(UTC), usegmt=True)
    except (ValueError, OverflowError):
        return None

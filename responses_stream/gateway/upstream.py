"""The chat server behind the gateway, over HTTP.

Whatever goes wrong on the way there comes out as `Refused`, so that nobody above knows
which HTTP client this is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Protocol, Self

import aiohttp
import msgspec

from responses_stream.chat.failures import Failure, read_failure
from responses_stream.transcript import SERVER_ERROR

from .refusals import Refused
from .settings import Settings

KEPT_SECONDS: Final = 2.0
"""How long an idle connection is kept: less than the 5 s after which uvicorn, Node and
cpp-httplib close one, so that no request meets a connection that is just closing."""

DRAIN_SECONDS: Final = 1.0
"""How long the end of a body may take that has said all."""

MAX_ERROR_BYTES: Final = 1024 * 1024


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
    id: str
    """Of the client's request, for the logs of both sides."""

    def ask(self) -> AbstractAsyncContextManager[Reply]:
        """See Upstream.chat."""
        return self.upstream.chat(self.body, self.headers)


class HTTPReply:
    """See Reply."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.finished = False
        """Whether nothing more matters."""
        self._response = response

    async def read(self) -> bytes:
        """See Reply. What is there together comes as one."""
        try:
            return await self._response.content.readany()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Refused(_failure_of(error)) from error

    def finish(self) -> None:
        """See Reply."""
        self.finished = True

    async def drain(self) -> None:
        """Reads to the end: only then the connection can serve another request."""
        with suppress(aiohttp.ClientError, TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while await self._response.content.readany():
                    pass

    def close(self) -> None:
        """Hangs up, unless the body has been read to its end."""
        self._response.close()


class HTTPUpstream:
    """See Upstream."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._base = (settings.upstream or "").rstrip("/")
        self._session: aiohttp.ClientSession
        self._draining: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_SECONDS),
            timeout=aiohttp.ClientTimeout(
                total=None,
                sock_connect=self._settings.connect_timeout,
                sock_read=self._settings.idle_timeout,
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
        with _refusals():
            response = await self._session.post(
                f"{self._base}/chat/completions",
                data=body,
                headers={**headers, "content-type": "application/json"},
                allow_redirects=False,
            )
            reply = HTTPReply(response)
            try:
                if response.status != HTTPStatus.OK:
                    raise Refused(await _failure(response))
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
        with _refusals():
            async with self._session.get(
                f"{self._base}/models", headers=headers, allow_redirects=False
            ) as response:
                if response.status != HTTPStatus.OK:
                    raise Refused(await _failure(response))
                return _entries(await response.read())


def _entries(body: bytes) -> list[dict[str, Any]]:
    try:
        return msgspec.json.decode(body, type=_Models).data
    except msgspec.DecodeError as error:
        message = f"the model server's list of models is not to be understood: {error}"
        raise Refused(read_failure(message)) from error


class _Models(msgspec.Struct):
    data: list[dict[str, Any]]


async def _failure(response: aiohttp.ClientResponse) -> Failure:
    """What a status other than 200 says."""
    status = response.status
    body = await response.content.read(MAX_ERROR_BYTES)
    if status < HTTPStatus.BAD_REQUEST:
        where = response.headers.get("location")
        said: object = f"the model server answered {status} (location: {where})"
        return read_failure(said)
    try:
        said = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        said = body.decode(errors="replace")
    return read_failure(said, status, response.headers.get("retry-after"))


@contextmanager
def _refusals() -> Iterator[None]:
    """Turns what aiohttp raises into Refused."""
    try:
        yield
    except (aiohttp.ClientError, TimeoutError) as error:
        raise Refused(_failure_of(error)) from error


def _failure_of(error: Exception) -> Failure:
    match error:
        case aiohttp.ConnectionTimeoutError():
            status, what = 504, "could not be reached in time"
        case TimeoutError():
            status, what = 504, "was silent for too long"
        case aiohttp.ClientConnectorError():
            status, what = 503, f"cannot be reached: {error.os_error.strerror}"
        case _:
            status, what = 502, f"broke off: {error or type(error).__name__}"
    message = f"the model server {what}"
    return Failure(code=SERVER_ERROR, message=message, status=status)

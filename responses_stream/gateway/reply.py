"""A chat server's answer over HTTP, and what can become of it on the way."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Final

import aiohttp

from responses_stream.chat.failures import Failure
from responses_stream.transcript import SERVER_ERROR

from .refusals import Refused, UpstreamError

DRAIN_SECONDS: Final = 1.0
"""How long the end of a body may take that has said all."""

NOT_WAITING: Final = math.inf
"""Since when nobody waits."""


class HTTPReply:
    """See upstream.Reply."""

    def __init__(self, response: aiohttp.ClientResponse, idle_timeout: float) -> None:
        self.finished = False
        """Whether nothing more matters."""
        self._response = response
        self._idle_timeout = idle_timeout
        self._begun = False
        self._waiting_since = NOT_WAITING
        self._watch: asyncio.TimerHandle | None = None
        connection = response.connection
        protocol = None if connection is None else connection.protocol
        self._lost = None if protocol is None else protocol.closed
        """Done when the connection is; None if all of the body is there already."""
        if self._lost is not None:
            # One of these for a connection, not one more for each request.
            self._lost.remove_done_callback(_heard)
            self._lost.add_done_callback(_heard)
            self._lost.add_done_callback(self._wake)

    async def read(self) -> bytes:
        """See Reply. What is there together comes as one."""
        content = self._response.content
        # What came before the connection was lost has been said. aiohttp forgets it.
        if content.exception() and (left := content._read_nowait(-1)):  # noqa: SLF001
            return left
        self._waiting_since = monotonic()
        try:
            data = await content.readany()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise refused(error) from error
        self._waiting_since = NOT_WAITING
        if not self._begun:
            self._begin()
        return data

    def _begin(self) -> None:
        """From now on another silence is too long."""
        self._begun = True
        connection = self._response.connection
        # There is none once the whole body has come.
        if connection is not None and connection.protocol is not None:
            # aiohttp would make a new timer for each piece that comes.
            connection.protocol.read_timeout = None
            connection.protocol.start_timeout()
            if self._idle_timeout:
                self._judge_silence()

    def _judge_silence(self) -> None:
        """Ends a wait that is too long, or comes back when it may be."""
        now = monotonic()
        left = min(self._waiting_since, now) + self._idle_timeout - now
        if left > 0:
            loop = asyncio.get_running_loop()
            self._watch = loop.call_later(left, self._judge_silence)
        else:
            self._response.content.set_exception(aiohttp.SocketTimeoutError())

    def _wake(self, _lost: asyncio.Future[None]) -> None:
        """Ends a wait for a body that cannot come any more.

        aiohttp forgets to, when its parser gives up on a chunk (faults.py: "garbage for a
        chunk").
        """
        content = self._response.content
        if not content.is_eof() and content.exception() is None:
            content.set_exception(aiohttp.ClientPayloadError("a chunk is no chunk"))

    def finish(self) -> None:
        """See Reply."""
        self.finished = True

    async def drain(self) -> None:
        """Reads to the end: only then the connection can serve another request."""
        # RuntimeError is how aiohttp says that the connection was lost before.
        with suppress(aiohttp.ClientError, TimeoutError, RuntimeError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while await self._response.content.readany():
                    pass

    def close(self) -> None:
        """Hangs up, unless the body has been read to its end."""
        if self._lost is not None:
            self._lost.remove_done_callback(self._wake)
        if self._watch is not None:
            self._watch.cancel()
        self._response.close()


def _heard(lost: asyncio.Future[None]) -> None:
    """Asks why a connection was lost; asyncio complains if nobody does."""
    if not lost.cancelled():
        lost.exception()


@contextmanager
def refusals() -> Iterator[None]:
    """Turns what aiohttp raises into Refused."""
    try:
        yield
    except (aiohttp.ClientError, TimeoutError) as error:
        raise refused(error) from error


def _os_error(error: OSError) -> str:
    """Without the address, which is none of the client's business."""
    number = error.errno or 0
    return os.strerror(number) if number > 0 else str(error.strerror)


def refused(error: Exception) -> Refused:
    """What an exception of aiohttp's is to us."""
    kind: UpstreamError
    match error:
        case aiohttp.ConnectionTimeoutError():
            status, kind, what = 504, "unreachable", "could not be reached in time"
        case TimeoutError():
            status, kind, what = 504, "timeout", "was silent for too long"
        case aiohttp.ClientConnectorError():
            why = _os_error(error.os_error)
            status, kind, what = 503, "unreachable", f"cannot be reached: {why}"
        case OSError(errno=int()):
            status, kind, what = 502, "broke_off", f"broke off: {_os_error(error)}"
        case _:
            # No more than its name: aiohttp quotes what it read, and where from.
            why = type(error).__name__
            status, kind, what = 502, "broke_off", f"broke off: {why}"
    message = f"the model server {what}"
    return Refused(Failure(code=SERVER_ERROR, message=message, status=status), kind)

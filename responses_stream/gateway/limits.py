"""What bounds the streams of one gateway: how many are open, and for how long.

Both end at a shutdown: then none begins any more, and `end` ends those that are left.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from responses_stream.chat.failures import RATE_LIMIT, Failure
from responses_stream.transcript import SERVER_ERROR

from .refusals import Refused

SHUTTING_DOWN: Final = Failure(
    # Not `server_is_overloaded`: that is the end for codex, this one runs the turn again
    # (codex.md section 5).
    code=SERVER_ERROR,
    message="the gateway is shutting down; please ask again",
    status=503,
)


class OpenStreams:
    """The requests for an answer that are being served.

    Args:
        most: How many there may be; 0 for any number.
        seconds: How long each may take; 0 for any time.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self.closing = False
        """Whether no more are admitted."""
        self._most = most
        self._seconds = seconds
        self._count = 0
        self._timeouts: set[asyncio.Timeout] = set()

    def __len__(self) -> int:
        return self._count

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """One stream is open within the block. Raises Refused if there are too many."""
        if self.closing:
            raise Refused(SHUTTING_DOWN)
        if 0 < self._most <= self._count:
            raise Refused(too_many(self._most))
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1

    @asynccontextmanager
    async def timed(self) -> AsyncIterator[None]:
        """The block is cancelled, and Refused raised, when its time is up or at `end`."""
        timeout = asyncio.timeout(self._seconds or None)
        try:
            async with timeout:
                self._timeouts.add(timeout)
                yield
        except TimeoutError as error:
            if not timeout.expired():
                raise
            failure = SHUTTING_DOWN if self.closing else too_long(self._seconds)
            raise Refused(failure) from error
        finally:
            self._timeouts.discard(timeout)

    def close(self) -> None:
        """Admits no more."""
        self.closing = True

    def end(self) -> None:
        """Ends what is open, at once."""
        self.closing = True
        now = asyncio.get_running_loop().time()
        for timeout in self._timeouts:
            if not timeout.expired():
                timeout.reschedule(now)


def too_many(most: int) -> Failure:
    """To be asked again: codex does so after the time in `Retry-After`."""
    message = f"{most} streams are open, and no more are allowed; please try again"
    return Failure(code=RATE_LIMIT, message=message, status=429)


def too_long(seconds: float) -> Failure:
    """The end of an answer that took too long."""
    message = f"the answer took longer than the {seconds:g} s that are allowed"
    return Failure(code=SERVER_ERROR, message=message, status=504)

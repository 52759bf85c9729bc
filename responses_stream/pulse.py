"""What the streamed bodies of both servers have in common: headers, and a sign of life."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

UNBUFFERED: Final = {
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}
"""Headers without which nginx and CDNs hold a stream back (clients.md 5.1, 41)."""

WRITING: Final = math.inf
"""The `written_at` of a body whose last write the client has not taken yet."""


class Pulse:
    """Breaks a body's silence.

    To wait for each delta with a time limit would cost more than all else that is done with
    it. So whoever writes the body sets `written_at`, and a task of its own looks at that.

    Args:
        interval: How many seconds of silence are too many.
    """

    def __init__(self, interval: float) -> None:
        self.written_at = monotonic()
        self._interval = interval

    async def watch(self, beat: Callable[[], Awaitable[bool]]) -> None:
        """Calls `beat` in every silence, as long as that says that the body goes on."""
        goes_on = True
        while goes_on:
            left = self.written_at + self._interval - monotonic()
            if left > 0:
                # A client that does not read is not waiting for us.
                await asyncio.sleep(min(left, self._interval))
            else:
                goes_on = await beat()

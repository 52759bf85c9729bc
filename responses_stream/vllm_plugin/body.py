"""The body of a streamed answer: frames as they come, and a sign of life in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Final

from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from responses_stream.sse import DONE, encode_all, encode_comment

from .turn import Turn

HEADERS: Final = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
"""Without these, nginx and CDNs hold a stream back."""

SIGN_OF_LIFE: Final = encode_comment("keep-alive")


class Frames:
    """The frames of a response that is being made, as vLLM hands them to its route.

    Args:
        turn: Makes the response.
        keep: Is called once it has ended.
    """

    def __init__(self, turn: Turn, keep: Callable[[Turn], object]) -> None:
        self._turn = turn
        self._keep = keep

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        async with aclosing(self._turn.events()) as batches:
            async for events in batches:
                yield encode_all(events)
        self._keep(self._turn)
        yield DONE

    def keep_alive(self) -> bytes:
        """A frame that says nothing new; nothing once all is said."""
        stream = self._turn.stream
        if stream.ended:
            return b""
        # Open Responses knows no event for it.
        return encode_all(stream.keep_alive()) or SIGN_OF_LIFE


class EventStream(StreamingResponse):
    """Sends frames, and `keep_alive()` whenever none has come for `interval` seconds.

    A task of its own watches over the silence. To wait for each step with a time limit
    would cost more than all that is done with the step.
    """

    def __init__(
        self,
        frames: AsyncIterator[bytes],
        keep_alive: Callable[[], bytes] | None = None,
        interval: float | None = None,
    ) -> None:
        super().__init__(frames, headers=HEADERS, media_type="text/event-stream")
        self._keep_alive = keep_alive
        self._interval = interval
        self._said_at = 0.0
        """By the event loop's clock."""
        self._waiting = 0
        """How many messages the client has not taken yet."""

    async def stream_response(self, send: Send) -> None:
        """Starlette's hook."""
        if self._keep_alive is None or self._interval is None:
            await super().stream_response(send)
            return
        clock = asyncio.get_running_loop().time

        async def say(message: Message) -> None:
            self._said_at = clock()
            self._waiting += 1
            await send(message)
            self._waiting -= 1

        pulse = asyncio.ensure_future(self._pulse(say, self._keep_alive, self._interval))
        try:
            # Up to its first wait this runs before the pulse does: the headers are out.
            await super().stream_response(say)
        finally:
            pulse.cancel()

    async def _pulse(
        self, say: Send, keep_alive: Callable[[], bytes], interval: float
    ) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            left = self._said_at + interval - clock()
            if left > 0:
                await asyncio.sleep(left)
            elif self._waiting:
                # A client that does not read is not waiting for us.
                await asyncio.sleep(interval)
            elif frame := keep_alive():
                await say({"type": "http.response.body", "body": frame, "more_body": True})
            else:
                return

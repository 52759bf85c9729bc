"""The body of a streamed answer: frames as they come, and a sign of life in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from time import monotonic
from typing import Any, Final

from starlette.responses import StreamingResponse
from starlette.types import Send

from responses_stream.pulse import UNBUFFERED, WRITING, Pulse
from responses_stream.sse import DONE, encode_comment

from .turn import Turn

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

    def __aiter__(self) -> AsyncGenerator[bytes]:
        return self._turn.frames(self._end)

    def _end(self) -> bytes:
        self._keep(self._turn)
        return DONE

    def keep_alive(self) -> bytes:
        """A frame that says nothing new; nothing once all is said."""
        stream = self._turn.stream
        if stream.ended:
            return b""
        # Open Responses knows no event for it.
        return b"".join(stream.keep_alive()) or SIGN_OF_LIFE


class EventStream(StreamingResponse):
    """Sends frames, and `keep_alive()` whenever none has come for `interval` seconds."""

    def __init__(
        self,
        frames: AsyncIterator[bytes],
        keep_alive: Callable[[], bytes] | None = None,
        interval: float | None = None,
    ) -> None:
        super().__init__(frames, headers=UNBUFFERED, media_type="text/event-stream")
        self._keep_alive = keep_alive
        self._interval = interval

    async def stream_response(self, send: Send) -> None:
        """Starlette's hook."""
        if self._keep_alive is None or self._interval is None:
            await super().stream_response(send)
            return
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        keep_alive = self._keep_alive

        async def write(frames: Any) -> None:
            pulse.written_at = WRITING
            await send({"type": "http.response.body", "body": frames, "more_body": True})
            pulse.written_at = monotonic()

        async def beat() -> bool:
            if frame := keep_alive():
                await write(frame)
            return bool(frame)

        pulse = Pulse(self._interval)
        watch = asyncio.ensure_future(pulse.watch(beat))
        try:
            async for frames in self.body_iterator:
                await write(frames)
        finally:
            watch.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

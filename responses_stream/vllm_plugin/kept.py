"""Responses that outlive their request: what is kept of them, replayed or cancelled.

vLLM keeps responses in the memory of one process, for as long as it lives, if the operator
has asked for it (`VLLM_ENABLE_RESPONSES_API_STORE=1`). So does this.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from responses_stream.sse import DONE, split

from .body import SIGN_OF_LIFE
from .turn import Turn


class Kept:
    """One response that is stored, running or ended."""

    def __init__(self, turn: Turn) -> None:
        self.in_background = bool(turn.request.background)
        self.has_events = self.in_background and bool(turn.request.stream)
        """Whether its events are kept too."""
        self._turn: Turn | None = turn
        """While it runs."""
        self._response = turn.stream.response
        self._frames: list[bytes] = []
        """At each sequence number its event."""
        self._grown = asyncio.Event()
        if turn.stream.ended:
            self._end(turn.stream.response)

    @property
    def response(self) -> dict[str, Any]:
        """The response object, as it is by now."""
        return self._response if self._turn is None else self._turn.stream.response

    @property
    def ended(self) -> bool:
        """Whether nothing will come any more."""
        return self._turn is None

    async def run(self) -> None:
        """Makes the response, for whoever reads it."""
        turn = self._turn
        if turn is None:
            return
        async with aclosing(turn.frames()) as batches:
            async for batch in batches:
                self._add(batch)
        self._end(turn.stream.response)

    def cancel(self) -> None:
        """Ends the response, if it has not ended. Whoever reads it gets to the end."""
        if self._turn is None:
            return
        self._add(b"".join(self._turn.cancel()))
        # OpenAI has no event for this end, but a status.
        cancelled = {"status": "cancelled", "error": None}
        self._end({**self._turn.stream.response, **cancelled})

    async def replay(
        self, starting_after: int, keep_alive: float | None
    ) -> AsyncGenerator[bytes]:
        """The frames behind that sequence number (-1: all), to the end."""
        at = starting_after + 1
        while True:
            grown = self._grown
            if at < len(self._frames):
                frames = self._frames[at:]
                at += len(frames)
                yield b"".join(frames)
            elif self.ended:
                yield DONE
                return
            else:
                try:
                    await asyncio.wait_for(grown.wait(), keep_alive)
                except TimeoutError:
                    # Outside the numbering: a replay must be the same for everybody.
                    yield SIGN_OF_LIFE

    def _add(self, frames: bytes) -> None:
        if self.has_events:
            self._frames += split(frames)
            self._wake()

    def _end(self, response: dict[str, Any]) -> None:
        self._response, self._turn = response, None
        self._wake()

    def _wake(self) -> None:
        # A new one for the next: every reader waits for what it has not seen.
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()

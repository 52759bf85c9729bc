"""What stands in for the methods of vLLM's serving object.

vLLM's `create_responses` goes on doing all that comes before the first token, and calls
these in place of its own. They return what routes.py knows how to send.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, Final

from .body import Frames
from .kept import Kept
from .seam import Core
from .settings import Settings
from .turn import Turn

REPLACED: Final = (
    "responses_stream_generator",
    "responses_full_generator",
    "responses_background_stream_generator",
    "_run_background_request",
    "_run_background_request_stream",
)


class Serving:
    """The responses of one vLLM serving object.

    The methods in REPLACED take what vLLM's of the same name take.
    """

    def __init__(self, core: Core, settings: Settings) -> None:
        self.keep_alive = settings.keep_alive if settings.keep_alive > 0 else None
        self.kept: dict[str, Kept] = {}
        """The responses that are stored, by id."""
        self.full_generator = core.responses_full_generator
        """vLLM's own, which counts, logs and stores."""
        self._core = core
        self._settings = settings

    def install(self) -> None:
        """Puts these methods in the place of vLLM's own."""
        for name in REPLACED:
            setattr(self._core, name, getattr(self, name))
        self._core.responses_stream = self

    def responses_stream_generator(self, *args: Any, **kwargs: Any) -> Frames:
        """The frames of a response for whoever has asked for it."""
        return Frames(self._turn(*args, **kwargs), self._keep)

    async def responses_full_generator(self, *args: Any, **kwargs: Any) -> Turn:
        """A response that has ended, to be sent whole."""
        turn = self._turn(*args, **kwargs)
        async with aclosing(turn.frames()) as batches:
            async for _ in batches:
                pass
        self._keep(turn)
        return turn

    def responses_background_stream_generator(
        self, response_id: str, starting_after: int | None = None
    ) -> AsyncGenerator[bytes]:
        """The frames of a response in the background. KeyError if there is none."""
        at = -1 if starting_after is None else starting_after
        return self.kept[response_id].replay(at, self.keep_alive)

    def _run_background_request(
        self, *args: Any, **kwargs: Any
    ) -> Coroutine[Any, Any, None]:
        """Keeps the response from now on, and returns the work of making it."""
        return self._make(self._keep(self._turn(*args, **kwargs)))

    _run_background_request_stream = _run_background_request

    async def cancel(self, response_id: str) -> None:
        """Ends a response in the background. KeyError if there is none."""
        task = self._core.background_tasks.get(response_id)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        self.kept[response_id].cancel()
        self._tell_core(self.kept[response_id])

    async def _make(self, kept: Kept) -> None:
        await kept.run()
        self._tell_core(kept)

    def _tell_core(self, kept: Kept) -> None:
        """Of a good end vLLM learns by itself, of no other one."""
        stored = self._core.response_store.get(kept.response["id"])
        if stored is not None:
            stored.status = kept.response["status"]

    def _turn(self, *args: Any, **kwargs: Any) -> Turn:
        return Turn(self._core, self._settings, *args, **kwargs)

    def _keep(self, turn: Turn) -> Kept:
        kept = Kept(turn)
        if turn.request.store:
            self.kept[turn.request.request_id] = kept
        return kept

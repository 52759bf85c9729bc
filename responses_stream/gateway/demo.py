"""A model that needs no model: it says what a test or a newcomer wants to see.

It speaks as a chat server does, in server-sent events, so that everything between it and
the client is what a real one would meet.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

import msgspec

from responses_stream.sse import DONE

from .demo_script import script
from .settings import Settings
from .upstream import Reply

MODEL: Final = "demo"


class DemoReply:
    """See Reply."""

    def __init__(self, frames: Iterator[bytes], pace: float) -> None:
        self._frames = frames
        self._pace = pace

    async def read(self) -> bytes:
        """See Reply."""
        await asyncio.sleep(self._pace)
        return next(self._frames, b"")

    def finish(self) -> None:
        """See Reply. There is nothing to keep."""


class DemoUpstream:
    """See Upstream."""

    def __init__(self, settings: Settings) -> None:
        self._pace = settings.demo_pace

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """There is nothing to close."""

    @asynccontextmanager
    async def chat(
        self,
        body: bytes,
        headers: Mapping[str, str],  # noqa: ARG002
    ) -> AsyncIterator[Reply]:
        """See Upstream."""
        yield DemoReply(_frames(msgspec.json.decode(body)), self._pace)

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:  # noqa: ARG002
        """See Upstream."""
        return [{"id": MODEL, "object": "model", "created": 0, "owned_by": "demo"}]


def _frames(request: Mapping[str, Any]) -> Iterator[bytes]:
    """The answer to `request` as the frames of a chat server, a word each."""
    common = {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": request.get("model") or MODEL,
    }

    def frame(delta: Mapping[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _data({**common, "choices": [choice]})

    limit = request.get("max_tokens") or request.get("max_completion_tokens")
    tokens, reason = 0, "stop"
    yield frame({"role": "assistant", "content": ""})
    for delta in script(request):
        if tokens == limit:
            reason = "length"
            break
        tokens += 1
        if "tool_calls" in delta:
            reason = "tool_calls"
        yield frame(delta)
    yield frame({}, reason)
    told = len(msgspec.json.encode(request)) // 4
    usage = {"prompt_tokens": told, "completion_tokens": tokens}
    usage["total_tokens"] = told + tokens
    yield _data({**common, "choices": [], "usage": usage})
    yield DONE


def _data(chunk: Mapping[str, Any]) -> bytes:
    return b"data: %b\n\n" % msgspec.json.encode(chunk)

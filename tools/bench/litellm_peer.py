"""LiteLLM's responses iterator, as installed: from its chat chunks to bytes.

Its chunks are made beforehand, so that what its client makes of a chat server's bytes is
not in the figure. The JSON is made as its proxy does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import msgspec

# Else the import asks the network for prices.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm
from litellm.responses.litellm_completion_transformation.streaming_iterator import (
    LiteLLMCompletionStreamingIterator,
)
from litellm.types.utils import ModelResponseStream

from responses_stream import Delta

from .loop import run
from .ours import chat_chunks
from .workload import MODEL, REQUEST

litellm.suppress_debug_info = True


def chunks(deltas: Sequence[Delta]) -> list[ModelResponseStream]:
    """What its client makes of the same words."""
    return [_chunk(frame) for frame in chat_chunks(deltas)[:-1]]


def _chunk(frame: bytes) -> ModelResponseStream:
    fields = msgspec.json.decode(frame.removeprefix(b"data: "))
    for choice in fields["choices"]:
        delta = choice["delta"]
        if "reasoning" in delta:
            delta["reasoning_content"] = delta.pop("reasoning")
    if fields["usage"] is None:
        del fields["usage"]
    return ModelResponseStream(**fields)


class Said:
    """In the place of its CustomStreamWrapper."""

    logging_obj = None

    def __init__(self, stream: Sequence[ModelResponseStream]) -> None:
        self._stream = iter(stream)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ModelResponseStream:
        for chunk in self._stream:
            return chunk
        raise StopAsyncIteration


def iterator(stream: Sequence[ModelResponseStream]) -> list[str]:
    """One response."""

    async def read() -> list[str]:
        asked: Any = {"tools": REQUEST["tools"]}
        events = LiteLLMCompletionStreamingIterator(
            MODEL, Said(stream), REQUEST["input"], asked, "openai", {}
        )
        return [
            f"data: {event.model_dump_json(exclude_none=True, exclude_unset=True)}\n\n"
            async for event in events
        ]

    return run(read())

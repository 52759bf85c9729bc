"""Our own ways from a delta to bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from responses_stream import DONE, Delta, ResponseStream, counted_ids, encode

from .workload import REQUEST

USAGE = {"prompt_tokens": 10, "completion_tokens": 2_002}


def stream() -> ResponseStream:
    """A stream as the gateway and the plugin make them."""
    return ResponseStream(REQUEST, order="interleaved", ids=counted_ids())


def typed(deltas: Sequence[Delta]) -> list[bytes]:
    """`feed` and `encode`, as a library's user calls them."""
    response = stream()
    frames: list[bytes] = []
    for delta in deltas:
        for event in response.feed(delta):
            frames.append(encode(event))  # noqa: PERF401  (this is what is measured)
    frames += map(encode, response.finish("tool_calls", USAGE))
    frames.append(DONE)
    return frames


def one_generator(deltas: Sequence[Delta]) -> list[bytes]:
    """The same behind one async generator, as an ASGI framework wants it."""

    async def said() -> AsyncIterator[Delta]:
        for delta in deltas:
            yield delta

    async def writes() -> AsyncIterator[bytes]:
        response = stream()
        async for delta in said():
            events = response.feed(delta)
            if events:
                yield b"".join(map(encode, events))
        yield b"".join(map(encode, response.finish("tool_calls", USAGE)))
        yield DONE

    async def read() -> list[bytes]:
        return [frames async for frames in writes()]

    return asyncio.run(read())

"""What an open stream holds."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

from responses_stream import Delta, ResponseStream

from .ours import stream
from .workload import CHARACTERS, workload

STREAMS = 500


def measure() -> dict[str, float]:
    """Bytes of a stream, by how far it is."""
    begun = _held(lambda: _fed([]))
    speaking = _held(lambda: _fed(workload()[:1]))
    whole = _held(lambda: _fed(workload()), streams=20)
    return {
        "begun": begun,
        "in its first item": speaking,
        "for each character of W": (whole - begun) / CHARACTERS,
    }


def _fed(deltas: list[Delta]) -> ResponseStream:
    made = stream()
    made.start()
    for delta in deltas:
        made.feed(delta)
    return made


def _held(make: Callable[[], ResponseStream], streams: int = STREAMS) -> float:
    make()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    held = [make() for _ in range(streams)]
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / len(held)

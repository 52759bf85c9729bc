"""Does a delta cost the same at the 100,000th as at the first?

    python tools/bench_growth.py [--rounds N]

Feeds one item of 2,000 and one of 100,000 deltas, in turn in one process, for each kind of
item, and prints the medians of the microseconds of CPU per delta (`feed` and `encode`),
their ratio, and the memory that the longer one takes for each byte of its text.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator

from responses_stream import Delta, ResponseStream, ToolCallDelta, encode

SHORT, LONG = 2_000, 100_000
PIECE = "abcd"
CUSTOM = {"tools": [{"type": "custom", "name": "f"}]}


def call(arguments: str, name: str = "") -> Delta:
    """A delta of the one call."""
    return Delta(tool_calls=(ToolCallDelta(0, "", name, arguments),))


KINDS: dict[str, tuple[Delta, Callable[[], Delta]]] = {
    "content": (Delta(content=PIECE), lambda: Delta(content=PIECE)),
    "reasoning": (Delta(reasoning=PIECE), lambda: Delta(reasoning=PIECE)),
    "arguments": (call('{"a": "', "f"), lambda: call(PIECE)),
    "custom input": (call('{"input": "', "f"), lambda: call(PIECE)),
}


def deltas(kind: str, count: int) -> Iterator[Delta]:
    """The first delta of an item, and `count` more."""
    first, more = KINDS[kind]
    yield first
    for _ in range(count):
        yield more()


def cost(kind: str, count: int) -> float:
    """Microseconds of CPU per delta."""
    stream = ResponseStream(CUSTOM if kind == "custom input" else None, order="interleaved")
    script = list(deltas(kind, count))
    began = time.thread_time()
    for delta in script:
        for event in stream.feed(delta):
            encode(event)
    return (time.thread_time() - began) / count * 1e6


def memory(kind: str, count: int) -> float:
    """Bytes held by the stream for each byte of text."""
    script = list(deltas(kind, count))
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    stream = ResponseStream(CUSTOM if kind == "custom input" else None, order="interleaved")
    for delta in script:
        stream.feed(delta)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / (count * len(PIECE))


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    gc.freeze()
    print(f"{'':14}{SHORT:>10,}{LONG:>10,}{'ratio':>8}{'bytes held per byte':>22}")
    for kind in KINDS:
        short, long = [], []
        for _ in range(rounds):
            short.append(cost(kind, SHORT))
            long.append(cost(kind, LONG))
        here, there = statistics.median(short), statistics.median(long)
        held = memory(kind, LONG)
        print(f"{kind:14}{here:10.3f}{there:10.3f}{there / here:8.2f}{held:22.1f}")


if __name__ == "__main__":
    main()

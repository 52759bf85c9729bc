"""What a delta costs in a short response and in a long one.

One response of one item, from its first event to its last, the closing events with the
whole text included. Deltas are made while the clock stands still, as a parser would make
them in between.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from responses_stream import Delta, ResponseStream, ToolCallDelta, encode

LENGTHS: Final = (1_000, 2_000, 10_000, 100_000, 1_000_000)
CUSTOM_LENGTHS: Final = (1_000, 2_500, 10_000, 100_000, 250_000, 1_000_000)
"""10,000 characters and 1,000,000 among them."""
PIECE: Final = "abcd"
LEAST: Final = 20_000
"""How many deltas make a measurement: short responses are repeated."""
BATCH: Final = 1_000

CUSTOM: Final = {"tools": [{"type": "custom", "name": "f"}]}
BEGINNINGS: Final = {"arguments": '{"a": "', "custom input": '{"input": "'}
"""What stands before the text, where a tool is called."""

Figures = dict[str, dict[int, float]]
"""Microseconds per delta, by way and length."""


@dataclass(frozen=True)
class Way:
    """How a response of one kind is made."""

    begin: Callable[[], tuple[Callable[[Any], object], Callable[[], object]]]
    """Makes a response: how to feed it, and how to end it."""
    given: Callable[[str], Any]
    """What it is fed for a piece of text."""
    lengths: tuple[int, ...] = LENGTHS


def ways() -> dict[str, Way]:
    """Ours, and vLLM's where it is installed."""
    found = {kind: _ours(kind) for kind in ("content", "reasoning", *BEGINNINGS)}
    try:
        found["vLLM's content"] = _vllm()
    except ImportError as missing:
        print(f"without vLLM's growth: {missing}")
    return found


def _ours(kind: str) -> Way:
    def begin() -> tuple[Callable[[Delta], object], Callable[[], object]]:
        stream = ResponseStream(CUSTOM, order="interleaved")

        def feed(delta: Delta) -> None:
            for event in stream.feed(delta):
                encode(event)

        def end() -> None:
            if kind in BEGINNINGS:
                feed(_call('"}'))
            for event in stream.finish("stop"):
                encode(event)

        if kind in BEGINNINGS:
            name = "f" if kind == "custom input" else "g"
            feed(_call(BEGINNINGS[kind], name))
        return feed, end

    def given(piece: str) -> Delta:
        if kind == "content":
            return Delta(content=piece)
        return Delta(reasoning=piece) if kind == "reasoning" else _call(piece)

    return Way(begin, given, CUSTOM_LENGTHS if kind == "custom input" else LENGTHS)


def _call(arguments: str, name: str = "") -> Delta:
    return Delta(tool_calls=(ToolCallDelta(0, "", name, arguments),))


def _vllm() -> Way:
    from .vllm_peer import Processor, message

    def begin() -> tuple[Callable[[Any], object], Callable[[], object]]:
        processor = Processor()
        processor.begin()
        return processor.feed, processor.end

    # Beyond, one response takes minutes.
    return Way(begin, lambda piece: message(Delta(content=piece)), LENGTHS[:-1])


def measure(rounds: int) -> Figures:
    """The medians of the rounds, in which all lengths of all ways take turns."""
    found = ways()
    turns = [(name, length) for name, way in found.items() for length in way.lengths]
    figures: dict[tuple[str, int], list[float]] = {turn: [] for turn in turns}
    rng = random.Random(0)
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        rng.shuffle(turns)
        for name, length in turns:
            figures[name, length].append(_micros(found[name], length))
    gc.unfreeze()
    medians: Figures = {name: {} for name in found}
    for (name, length), values in sorted(figures.items()):
        medians[name][length] = statistics.median(values)
    return medians


def _micros(way: Way, length: int) -> float:
    repeats = max(1, LEAST // length)
    spent = sum(sum(seconds(way, length)) for _ in range(repeats))
    return spent / repeats / length * 1e6


def seconds(way: Way, length: int) -> Iterator[float]:
    """CPU of a response: its beginning, each batch of deltas, its end."""
    gc.collect()
    began = time.thread_time()
    feed, end = way.begin()
    yield time.thread_time() - began
    for _ in range(0, length, BATCH):
        # A new text each, as a parser makes them.
        deltas = [way.given(PIECE[:2] + PIECE[2:]) for _ in range(BATCH)]
        began = time.thread_time()
        for delta in deltas:
            feed(delta)
        yield time.thread_time() - began
    began = time.thread_time()
    end()
    yield time.thread_time() - began

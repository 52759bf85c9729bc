"""What many tests need: run a script, send it through the wire, ask outside judges."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from openai import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response

from responses_stream import (
    DONE,
    Event,
    Events,
    LocalProtocolError,
    ResponseStream,
    SSEDecoder,
    TranscriptChecker,
    Violation,
    counted_ids,
    encode,
)

SNAPSHOTS = Path(__file__).parent.parent / "snapshots"

STOP = {"finish_reason": "stop"}


def fixed_stream(
    request: Mapping[str, Any] | None = None, **options: Any
) -> ResponseStream:
    """A stream that gives equal events for equal deltas."""
    return ResponseStream(request, ids=counted_ids(), clock=lambda: 1.0, **options)


def run(steps: Iterable[object], **options: Any) -> list[Event]:
    """All events of a script: deltas, and `{"finish_reason": ...}` or `{"error": ...}`.

    What is not legal is refused by the stream and passed over; a script that has no end is
    an input that ended early.
    """
    stream = fixed_stream(options.pop("request", None), **options)
    events = [*stream.start()]
    for step in steps:
        try:
            events += _step(stream, step)
        except LocalProtocolError:
            continue
    return [*events, *stream.close()]


def _step(stream: ResponseStream, step: object) -> Events:
    if isinstance(step, dict) and "finish_reason" in step:
        return stream.finish(step["finish_reason"], step.get("usage"))
    if isinstance(step, dict) and "error" in step:
        return stream.fail(step["error"])
    return stream.feed(step)


def frames(events: Iterable[Event]) -> bytes:
    """The body that a client gets."""
    return b"".join(map(encode, events)) + DONE


def over_the_wire(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The events as a client reads them."""
    decoded = SSEDecoder().feed(frames(events))
    assert decoded.pop().data == "[DONE]"
    wires = [msgspec.json.decode(frame.data) for frame in decoded]
    assert [wire["type"] for wire in wires] == [frame.event for frame in decoded]
    return wires


def violations(wires: Iterable[object], **options: Any) -> list[Violation]:
    """All that the checker finds in a transcript."""
    checker = TranscriptChecker(**options)
    found = [violation for wire in wires for violation in checker.feed(wire)]
    return found + checker.close()


def errors(wires: Iterable[object], **options: Any) -> list[Violation]:
    """The violations on which a strict client breaks."""
    return [found for found in violations(wires, **options) if found.level == "error"]


def accumulate(events: Iterable[Event]) -> Response:
    """The final response as openai-python's own accumulator makes it of typed events.

    Its parser, too, sees every event first: pydantic raises for one that is unlike its
    type.
    """
    state: ResponseStreamState[Any] = ResponseStreamState(input_tools=[], text_format=omit)
    response = None
    for event in events:
        for fired in state.handle_event(event.to_openai()):
            response = getattr(fired, "response", response)
    assert isinstance(response, Response)
    return response


def texts(events: Iterable[Event], *types: str) -> str:
    """The deltas of these event types, joined."""
    return "".join(event.delta for event in events if event.type in types)  # type: ignore[attr-defined]


def types(events: Iterable[Event]) -> list[str]:
    """The events' types, without the common prefix."""
    return [event.type.removeprefix("response.") for event in events]


def lines_per_call(feed: Callable[[Any], object], values: Sequence[object]) -> float:
    """How many lines of Python run for each of these values: a cost that no clock tells."""
    lines = 0

    def trace(*_: object) -> Any:
        nonlocal lines
        lines += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for value in values:
            feed(value)
    finally:
        sys.settrace(before)
    return lines / len(values)

"""How much of a chat server's answer is taken, and what is said of more."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import pytest
from gateway_frames import CALLED, HELLO, call, calls, said
from helpers import errors, fixed_stream

from responses_stream.chat.alignment import ChatAligner
from responses_stream.chat.limits import AnswerLimits
from responses_stream.chat.reader import ChatReader
from responses_stream.chat.whole import ChatFolder

LIMITS = AnswerLimits(max_event=1000, max_answer=5000, max_held=100, max_calls=9)

BROKEN = {
    "an event": ([b'data: "', *[b"x" * 100] * 10], "an event of"),
    "a line without an end": ([b": ", *[b"x" * 100] * 10], "an event of"),
    "an event of many lines": ([b"data:\n"] * 201, "an event of"),
    "a document": ([b'{"a":"', *[b"x" * 100] * 10], "a text of"),
    "an answer": ([*said("x"), *[b": ping\n\n"] * 800], "an answer of"),
    "a call that waits for another": (
        [
            calls(call(0, "call_a", "f", "{")),
            calls(call(1, "call_b", "g", "{")),
            *[calls(call(1, arguments="x" * 10)) for _ in range(10)],
        ],
        "make 101 characters wait; expected at most 100",
    ),
    "a call that waits for its name": (
        [calls(call(0, "call_a", arguments="x" * 10)) for _ in range(11)],
        "make 110 characters wait",
    ),
    "calls": (
        [calls(call(n, f"call_{n}", "f", "{}")) for n in range(10)],
        "more than 9 calls",
    ),
    "calls without a name": (
        [calls(*(call(n, f"call_{n}") for n in range(10)))],
        "more than 9 calls",
    ),
}


def read(pieces: Iterable[bytes], limits: AnswerLimits = LIMITS) -> list[dict[str, Any]]:
    reader = ChatReader(fixed_stream(order="interleaved"), limits)
    events = [event for piece in pieces for event in reader.feed(piece)]
    return [event.to_dict() for event in (*events, *reader.close())]


@pytest.mark.parametrize("name", BROKEN)
def test_more_than_a_limit_fails_the_response(name):
    """With a message that says what there was too much of, and a clean transcript."""
    pieces, says = BROKEN[name]
    events = read(pieces)

    assert "response.failed" == events[-1]["type"]
    assert "server_error" == events[-1]["response"]["error"]["code"]
    assert says in events[-1]["response"]["error"]["message"]
    assert [] == errors(events)


@pytest.mark.parametrize("name", BROKEN)
def test_nothing_of_it_breaks_the_default_limits(name):
    """They are for answers that nobody means."""
    events = read(BROKEN[name][0], AnswerLimits())

    assert "expected at most" not in str(events[-1])


def test_what_was_released_is_held_no_more():
    """The limit is of what waits at one time, not of all that ever did."""
    pieces = [calls(call(0, "call_a", "f", "{"))]
    for number in range(1, 8):
        pieces += [
            calls(call(number, f"call_{number}", "f", '{"a": "' + "x" * 50)),
            calls(call(number - 1, arguments='"}' if number > 1 else "}")),
        ]
    events = read([*pieces, calls(call(7, arguments='"}')), CALLED])

    assert "response.completed" == events[-1]["type"]
    assert 8 == len(events[-1]["response"]["output"])


@pytest.mark.parametrize("name", [name for name in BROKEN if "call" not in name])
@pytest.mark.parametrize("machine", [ChatAligner, ChatFolder])
def test_an_aligned_answer_has_the_same_limits(name, machine):
    """Of calls it holds none back."""
    pieces, says = BROKEN[name]
    aligned = machine(limits=LIMITS)
    for piece in pieces:
        aligned.feed(piece)
    aligned.close()
    failure = aligned.failure if machine is ChatAligner else aligned.completion()

    assert says in failure.message


def test_behind_the_finish_no_limit_fails_anything():
    """The answer is whole; what follows does not matter."""
    events = read([*HELLO[:-2], b": ping\n\n" * 1000])

    assert "response.completed" == events[-1]["type"]


@pytest.mark.parametrize("machine", [ChatAligner, lambda: ChatReader(fixed_stream())])
def test_an_event_of_many_lines_takes_no_minutes(machine):
    """Each line costs what the first one did; joined again each time, they took long."""
    read = machine()
    begun = time.process_time()
    read.feed(b"data:\n" * 500_000)

    assert time.process_time() - begun < 30

"""A file of deltas becomes a transcript, also where a line is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helpers import errors, types
from hypothesis import given
from hypothesis import strategies as st
from strategies import JSON, noise

from responses_stream import Event, counted_ids
from responses_stream.delta_script import ScriptError, play

FIXED = {"clock": lambda: 1.0, "order": "interleaved"}


def lines(*entries: Any) -> list[str]:
    """The script's lines."""
    return [json.dumps(entry) for entry in entries]


def played(script: list[Any], **options: Any) -> tuple[list[Event], str | None]:
    """All events of a script, and what was wrong with it."""
    events: list[Event] = []
    try:
        for step in play(script, ids=counted_ids(), **FIXED, **options):
            events += step
    except ScriptError as error:
        return events, str(error)
    return events, None


def test_a_script_gives_a_transcript():
    """A request, deltas, and the end."""
    events, fault = played(
        lines(
            {"request": {"model": "tiny"}},
            {"content": "Hi"},
            {"finish_reason": "stop", "usage": {"input_tokens": 1, "output_tokens": 2}},
        )
    )

    assert fault is None
    assert not errors(events)
    assert "response.completed" == events[-1].type
    assert "tiny" == events[-1].response["model"]
    assert 3 == events[-1].response["usage"].total_tokens


def test_events_come_line_by_line():
    """Each line's as soon as it is read."""
    script = iter(lines({"request": {}}, {"content": "Hi"}, {"finish_reason": "stop"}))

    steps = [types(step) for step in play(script) if step]

    assert [
        ["created", "in_progress"],
        ["output_item.added", "content_part.added", "output_text.delta"],
        ["output_text.done", "content_part.done", "output_item.done", "completed"],
    ] == steps


def test_the_request_is_optional():
    """`options` may have one; the script's goes first."""
    without, _ = played(lines({"content": "Hi"}), request={"model": "a"})
    with_, _ = played(lines({"request": {"model": "b"}}), request={"model": "a"})

    assert "a" == without[0].response["model"]
    assert "b" == with_[0].response["model"]


def test_bytes_and_blank_lines():
    """A file's lines are bytes, and its last one may be empty."""
    events, fault = played(
        [b"\n", b'{"content": "Hi"}\r\n', b'{"finish_reason": "stop"}', ""]
    )

    assert fault is None
    assert "response.completed" == events[-1].type


@pytest.mark.parametrize("script", [[], lines({"request": {}}), lines({"content": "Hi"})])
def test_a_script_that_stops_is_an_input_that_ended_early(script):
    """That is a failure of the model server, and none of the script."""
    events, fault = played(script)

    assert fault is None
    assert "response.failed" == events[-1].type
    assert "without a finish reason" in events[-1].response["error"]["message"]


def test_an_error_fails_the_response():
    """With its code and message."""
    events, fault = played(lines({"error": {"message": "it broke", "code": "slow_down"}}))

    assert fault is None
    assert {"code": "slow_down", "message": "it broke"} == events[-1].response["error"]


def test_a_null_error_is_none():
    """JSON from another program has every key."""
    events, _ = played(
        lines(
            {"content": "Hi", "error": None, "finish_reason": None},
            {"finish_reason": "stop"},
        )
    )

    assert "response.completed" == events[-1].type


def test_what_the_last_line_says_is_not_lost():
    """A chat chunk may bring its last words together with the finish reason."""
    events, fault = played(lines({"content": "Hi", "finish_reason": "stop"}))

    assert fault is None
    assert 1 == len(events[-1].response["output"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not JSON"),
        ("[]", "line 2: a JSON list; expected an object"),
        (b"\xff", "line 2: not JSON"),
        ("[" * 100_000, "line 2: not JSON"),
        ('{"content": 5}', "line 2: content is int; expected a string"),
        ('{"request": {}}', "line 2: a second request"),
        ('{"finish_reason": "tired"}', "line 2: finish reason is 'tired'; expected"),
        ('{"finish_reason": "stop", "usage": 5}', "line 2: usage is int; expected"),
    ],
    ids=range(8),
)
def test_a_bad_line_is_named_and_the_transcript_ends(line, message):
    """A client that listens is never left without an end."""
    events, fault = played([*lines({"content": "Hi"}), line, *lines({"content": "more"})])

    assert fault.startswith(message)
    assert "response.failed" == events[-1].type
    assert fault == events[-1].response["error"]["message"]
    assert not errors(events)


@pytest.mark.parametrize("request_", [5, None, {"created_at": "x"}, {"created_at": True}])
def test_a_bad_request_is_named_and_the_transcript_ends(request_):
    """Also where the first line is wrong already."""
    events, fault = played(lines({"request": request_}))

    assert fault is None or fault.startswith("line 1: ")
    assert "response.failed" == events[-1].type


def test_a_line_behind_the_end_is_named():
    """The transcript is over: nothing is added to it."""
    events, fault = played(lines({"finish_reason": "stop"}, {"content": "more"}))

    assert fault.startswith("line 2: output_text in state FINISHED")
    assert "response.completed" == events[-1].type


@given(
    st.lists(
        noise().map(json.dumps)
        | JSON.map(json.dumps)
        | st.dictionaries(
            st.sampled_from(["request", "error", "finish_reason", "usage"]), JSON
        ).map(json.dumps)
        | st.text(max_size=5)
        | st.binary(max_size=5),
        max_size=5,
    )
)
def test_any_lines_give_a_whole_transcript(script):
    """ScriptError is all that is raised, and the transcript ends before it."""
    events, _ = played(script)

    kinds = {"response-shape", "status"}  # What a request may say that is no request.
    assert events[-1].type in (
        "response.completed",
        "response.failed",
        "response.incomplete",
    )
    assert {found.rule for found in errors(events)} <= kinds

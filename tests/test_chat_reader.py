"""Bytes of a chat server's answer become events of a response."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from gateway_frames import COUNTED, DONE, HELLO, ROLE, STOP, Script, chunk, said
from gateway_scripts import STREAMED
from helpers import accumulate, fixed_stream, frames, over_the_wire, violations
from hypothesis import given
from hypothesis import strategies as st

from responses_stream import Event
from responses_stream.chat.failures import read_failure
from responses_stream.chat.reader import ChatReader


def read(body: Iterable[bytes]) -> list[Event]:
    """All events that come of a body."""
    reader = ChatReader(fixed_stream(order="interleaved"))
    events = [event for piece in body for event in reader.feed(piece)]
    return [*events, *reader.close()]


def test_an_answer_becomes_a_response():
    """The normal case, before the official accumulator."""
    response = accumulate(read(HELLO))

    assert "Hello" == response.output_text
    assert "completed" == response.status
    assert response.usage is not None
    assert (7, 5) == (response.usage.input_tokens, response.usage.output_tokens)


@pytest.mark.parametrize("script", STREAMED.values(), ids=list(STREAMED))
def test_where_the_bytes_are_cut_does_not_matter(script: Script):
    """Whole, byte by byte, or as they came: the same events, number for number."""
    body = b"".join(script.body)
    whole = frames(read([body]))

    assert whole == frames(read(script.body))
    assert whole == frames(read(body[i : i + 1] for i in range(len(body))))
    assert [] == [v for v in violations(over_the_wire(read([body]))) if v.level == "error"]


@pytest.mark.parametrize("cut", range(1, len(b"".join(HELLO))))
def test_a_cut_at_every_byte_is_no_matter(cut):
    """One of the seeds' troubles: a frame in two reads."""
    body = b"".join(HELLO)

    assert frames(read([body])) == frames(read([body[:cut], body[cut:]]))


@given(st.binary(max_size=200), st.sampled_from(list(STREAMED)))
def test_garbage_gives_a_clean_transcript(garbage, name):
    """Whatever comes, alone or in the midst of an answer, nothing is raised."""
    body = b"".join(STREAMED[name].body)
    half = len(body) // 2

    for pieces in ([garbage], [body[:half], garbage, body[half:]]):
        wires = over_the_wire(read(pieces))
        assert [] == [v for v in violations(wires) if v.level == "error"]


def test_every_truncation_fails_the_response():
    """However much of an answer has come before its finish reason, it is no completion."""
    body = b"".join(HELLO)
    finish = body.index(b'"stop"')

    for cut in range(finish):
        assert "response.failed" == read([body[:cut]])[-1].type


def test_the_end_comes_with_done():
    """Not with the finish reason: usage may follow."""
    reader = ChatReader(fixed_stream())
    reader.feed(ROLE + b"".join(said("Hi")))

    assert () == reader.feed(STOP)
    assert reader.finished
    assert not reader.ended
    assert "response.completed" == reader.feed(DONE)[-1].type
    assert reader.ended


def test_the_end_comes_with_usage_alone():
    """A server that sends no [DONE] may leave its connection open."""
    reader = ChatReader(fixed_stream())
    reader.feed(ROLE + STOP)

    assert "response.completed" == reader.feed(COUNTED)[-1].type


def test_nothing_follows_the_end():
    """Neither more of the body, nor its end, nor a failure."""
    reader = ChatReader(fixed_stream())
    reader.feed(b"".join(HELLO))

    assert () == reader.feed(chunk({"content": "more"}))
    assert () == reader.close()
    assert () == reader.fail(read_failure("late"))
    assert reader.failure is None


def test_a_failure_is_kept():
    """Its status is what an HTTP error needs."""
    reader = ChatReader(fixed_stream())
    reader.feed(b'data: {"error": {"message": "slow down", "code": 429}}\n\n')

    assert reader.failure is not None
    assert 429 == reader.failure.status


def test_usage_reaches_a_failed_response():
    """What was counted before the failure is told."""
    reader = ChatReader(fixed_stream())
    reader.feed(COUNTED)
    (*_, last) = reader.fail(read_failure("broke"))

    assert 12 == last.to_dict()["response"]["usage"]["total_tokens"]

"""Events and frames are two forms of one transcript; both know how many there were."""

from __future__ import annotations

import gc
import weakref
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import noise

from responses_stream import (
    FrameStream,
    LocalProtocolError,
    ResponseStream,
    counted_ids,
    encode,
)
from responses_stream.sse import split

TOOLS = {"tools": [{"type": "custom", "name": "c"}]}
OPTIONS = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["strict", "interleaved"]),
        "dialect": st.sampled_from(["openai", "openresponses", "codex"]),
        "reasoning": st.sampled_from(["text", "summary", "both"]),
    }
)
ENDS = st.sampled_from(["stop", "length", "error", None])


def stream(kind, options):
    return kind(TOOLS, ids=counted_ids(), clock=lambda: 1.0, **options)


def outcomes(stream, script, end):
    """What follows from each step of a script; a refusal is its message."""
    for delta in script:
        try:
            yield stream.feed(delta)
        except LocalProtocolError as error:
            yield str(error)
    yield stream.keep_alive()
    if end is not None:
        yield stream.finish(end)


@given(st.lists(noise(), max_size=20), OPTIONS, ENDS)
@settings(max_examples=300)
def test_a_frame_stream_encodes_what_a_response_stream_says(script, options, end):
    """Whatever is said: the same events, at the same time, and the same refusals."""
    events = outcomes(stream(ResponseStream, options), script, end)
    frames = outcomes(stream(FrameStream, options), script, end)
    encoded = [
        said if isinstance(said, str) else tuple(map(encode, said)) for said in events
    ]

    assert encoded == list(frames)


@given(st.lists(noise(), max_size=20), OPTIONS, ENDS)
def test_frames_that_were_joined_can_be_split(script, options, end):
    """Whatever they say: no blank line stands in one."""
    frames = [
        frame
        for said in outcomes(stream(FrameStream, options), script, end)
        if not isinstance(said, str)
        for frame in said
    ]

    assert frames == split(b"".join(frames))


@given(st.lists(noise(), max_size=20), OPTIONS, ENDS)
@settings(max_examples=300)
def test_all_events_are_counted(script, options, end):
    """By type, at any time, short way or long."""
    response = stream(ResponseStream, options)
    seen: Counter[type] = Counter()
    for said in outcomes(response, script, end):
        if not isinstance(said, str):
            seen.update(map(type, said))

        assert seen == response.counts


@pytest.mark.parametrize("kind", [ResponseStream, FrameStream])
def test_a_stream_goes_with_its_last_reference(kind):
    """No cycle keeps it, and what it has said, until the garbage collector comes."""
    response = stream(kind, {})
    call = {"index": 0, "id": "c", "function": {"name": "c", "arguments": '{"input": '}}
    for delta in ({"reasoning": "a"}, {"content": "b"}, {"tool_calls": [call]}):
        response.feed(delta)
    left = weakref.ref(response)
    gc.disable()
    try:
        del response

        assert left() is None
    finally:
        gc.enable()


def test_a_stream_tells_whether_an_item_is_out():
    """White space is none yet."""
    response = stream(FrameStream, {})

    assert not response.has_output
    response.feed({"content": " "})
    assert not response.has_output
    response.feed({"content": "a"})
    assert response.has_output
    response.finish("stop")
    assert response.has_output

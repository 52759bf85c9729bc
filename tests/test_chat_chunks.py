"""One chunk, as what it says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chat_strategies import json_values, odd_chunks
from gateway_frames import call, chunk
from hypothesis import example, given
from hypothesis import strategies as st

from responses_stream.chat.chunks import Said, finish_reason, read_chunk
from responses_stream.chat.failures import Failure
from responses_stream.deltas import Delta, FullDelta, ToolCallDelta
from responses_stream.errors import RemoteProtocolError
from responses_stream.items import Logprob


def text_of(frame: bytes) -> str:
    """The JSON text of a frame."""
    return frame.decode().removeprefix("data: ").strip()


def delta_of(**delta: Any) -> Delta | None:
    said = read_chunk(text_of(chunk(delta)))
    assert isinstance(said, Said)
    return said.delta


def test_a_chunk_of_text():
    """The common case, with all that stands around it."""
    said = read_chunk(text_of(chunk({"content": "Hi"}, "stop", usage={"total_tokens": 1})))

    assert Said(Delta(content="Hi"), "stop", {"total_tokens": 1}) == said


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ({}, None),
        ({"role": "assistant"}, None),
        ({"role": "assistant", "content": ""}, None),
        ({"content": None}, None),
        ({"content": "a"}, Delta(content="a")),
        ({"reasoning": "a"}, Delta("a")),
        ({"reasoning_content": "a"}, Delta("a")),
        ({"reasoning": "a", "reasoning_content": "a"}, Delta("a")),
        ({"reasoning": "", "reasoning_content": "a"}, Delta("a")),
        ({"reasoning": "a", "content": "b"}, Delta("a", "b")),
        ({"refusal": "no"}, FullDelta(refusal="no")),
        (
            {"tool_calls": [call(0, "c", "f", "{}"), call(1, arguments="x")]},
            Delta(
                tool_calls=(
                    ToolCallDelta(0, "c", "f", "{}"),
                    ToolCallDelta(1, "", "", "x"),
                )
            ),
        ),
        ({"tool_calls": [{"index": 0}]}, Delta(tool_calls=(ToolCallDelta(0),))),
        ({"tool_calls": []}, None),
        ({"tool_calls": None}, None),
        (
            {"tool_calls": [call(0, "c", "f", {"a": 1})]},
            Delta(tool_calls=(ToolCallDelta(0, "c", "f", '{"a":1}'),)),
        ),
        (
            {"function_call": {"name": "f", "arguments": "{"}},
            Delta(tool_calls=(ToolCallDelta(0, "", "f", "{"),)),
        ),
        ({"content": [{"type": "text", "text": "a"}, {"text": "b"}]}, Delta(content="ab")),
        (
            {"content": [{"type": "thinking", "thinking": [{"text": "a"}]}]},
            Delta("a"),
        ),
        ({"content": ["a", 1, {"type": "image"}]}, Delta()),
    ],
    ids=repr,
)
def test_a_delta_in_each_shape(delta, expected):
    """Common and rare, what is there is read."""
    assert expected == delta_of(**delta)


def test_logprobs_belong_to_text():
    """A chunk without text has no place for them."""
    entry = {"token": "a", "logprob": -1, "bytes": [97]}
    for delta, expected in (
        ({"content": "a"}, (Logprob("a", -1.0, (97,)),)),
        ({"reasoning": "a"}, ()),
    ):
        choice = {"index": 0, "delta": delta, "logprobs": {"content": [entry]}}
        said = read_chunk(json.dumps({"choices": [choice]}))
        assert isinstance(said, Said)
        assert said.delta is not None
        assert expected == said.delta.logprobs


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("content_filter", "content_filter"),
        ("abort", "abort"),
        ("error", "error"),
        ("eos_token", "stop"),
        ("end_turn", "stop"),
        ("MAX_TOKENS", "length"),
        ("tool_use", "tool_calls"),
        ("insufficient_system_resource", "error"),
        ("whatever", "stop"),
        ({"type": "length", "length": 5}, "length"),
        ("", None),
        (" ", None),
        ("null", None),
        (None, None),
        (0, None),
        ({}, None),
    ],
    ids=repr,
)
def test_finish_reasons_are_put_into_openais_words(said, reason):
    """An unknown one is still an end."""
    assert reason == finish_reason(said)


@pytest.mark.parametrize(
    "wire",
    [
        {"error": {"message": "no"}},
        {"error": "no"},
        {"object": "error", "message": "no"},
        {"detail": "no"},
        {"message": "no"},
        {"choices": [], "error": {"message": "no"}},
        "no",
    ],
    ids=repr,
)
def test_an_error_in_each_shape(wire):
    """Whatever tells of an error instead of choices is a failure."""
    said = read_chunk(json.dumps(wire))

    assert isinstance(said, Failure)
    assert "no" == said.message


@pytest.mark.parametrize("wire", [{}, {"type": "ping"}, {"choices": None}, {"error": None}])
def test_an_object_without_meaning_says_nothing(wire):
    """It is passed over."""
    assert Said(has_choices=False) == read_chunk(json.dumps(wire))


@pytest.mark.parametrize("text", ["", "{", "nonsense", b"\xff", "[" * 100_000])
def test_what_is_no_json_is_the_servers_fault(text):
    """It is quoted, but not at length."""
    with pytest.raises(RemoteProtocolError) as raised:
        read_chunk(text)

    assert len(str(raised.value)) < 500


@given(odd_chunks | json_values)
@example({"choices": [{"delta": {"tool_calls": 5}}]})
@example({"choices": [{"delta": {"tool_calls": {"a": 1}}}]})
@example({"choices": [{"delta": {"tool_calls": [{"function": 1}]}}]})
@example({"choices": [{"delta": {"content": "a"}, "logprobs": {"content": 5}}]})
@example({"choices": [{"index": [], "delta": {"content": "a"}}]})
def test_no_json_raises_anything_else(wire):
    """Only a RemoteProtocolError leaves, whatever a server sends."""
    try:
        said = read_chunk(json.dumps(wire))
    except RemoteProtocolError:
        return
    assert isinstance(said, Said | Failure)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "content": st.none() | st.text(),
            "reasoning": st.none() | st.text(),
            "tool_calls": st.none()
            | st.lists(
                st.fixed_dictionaries(
                    {"function": st.fixed_dictionaries({}, optional={"name": st.text()})},
                    optional={"index": st.integers(0, 9), "id": st.text()},
                )
            ),
        },
    )
)
def test_the_short_way_and_the_long_way_agree(delta):
    """A field that is rare sends a chunk the long way; it says the same there."""
    short, long = delta_of(**delta), delta_of(**delta, refusal="x")

    assert long is not None
    assert (short or Delta()) == Delta(long.reasoning, long.content, long.tool_calls)

"""A chat stream is what OpenAI would have sent, whatever the chat server sends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest
from chat_strategies import json_values, odd_chunks
from gateway_frames import (
    CALLED,
    COUNTED,
    DONE,
    HELLO,
    ROLE,
    STOP,
    USAGE,
    Script,
    call,
    calls,
    chunk,
    data,
    said,
)
from gateway_scripts import STREAMED
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionChunk

from responses_stream import SSEDecoder
from responses_stream.chat.alignment import ChatAligner
from responses_stream.chat.failures import read_failure
from responses_stream.chat.whole import ChatFolder


def aligned(body: Iterable[bytes], **options: Any) -> bytes:
    """All frames that come of a body."""
    aligner = ChatAligner(**{"wants_usage": True, **options})
    frames = [frame for piece in body for frame in aligner.feed(piece)]
    return b"".join([*frames, *aligner.close()])


def chunks(body: bytes) -> list[dict[str, Any]]:
    """The chunks of a stream that ends as it must."""
    assert body.endswith(DONE)
    assert body.count(b"[DONE]") == 1
    return [json.loads(event.data) for event in SSEDecoder().feed(body)[:-1]]


def deltas(body: bytes) -> list[dict[str, Any]]:
    return [choice["delta"] for found in chunks(body) for choice in found["choices"]]


def reasons(body: bytes) -> list[str | None]:
    return [c["finish_reason"] for found in chunks(body) for c in found["choices"]]


RIGHT = {
    "text": HELLO,
    "call": (
        ROLE,
        calls(call(0, "call_a", "get_time", "")),
        calls(call(0, arguments="{}")),
        CALLED,
        COUNTED,
        DONE,
    ),
    "comments": (b": ping\n\n", *HELLO),
    "thoughts": (ROLE, *said("Hm", field="reasoning_content"), *HELLO[1:]),
    "extras": (
        chunk({"role": "assistant", "content": ""}, service_tier="default", usage=None),
        chunk({"content": "Hi"}, usage=None),
        chunk({}, "stop", usage=None),
        DONE,
    ),
    "vllm": (ROLE, *said("Hi"), chunk({"content": ""}, "stop"), COUNTED, DONE),
    "crlf": tuple(frame.replace(b"\n", b"\r\n") for frame in HELLO[:-1]) + (DONE,),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_goes_through_byte_for_byte(name):
    """However it is cut."""
    body = b"".join(RIGHT[name])

    assert body == aligned([body])
    assert body == aligned(body[i : i + 1] for i in range(len(body)))


def test_the_stream_of_lightllm_is_aligned():
    """Its role is on every chunk, its usage was not asked for, and it sends no [DONE]."""
    lightllm = (
        chunk({"role": "assistant", "content": "Hel"}),
        chunk({"role": "assistant", "content": "lo"}),
        chunk({"role": "assistant", "content": ""}, "stop"),
        COUNTED,
    )

    got = aligned(lightllm, wants_usage=False)

    assert deltas(got) == [
        {"role": "assistant", "content": ""},
        {"content": "Hel"},
        {"content": "lo"},
        {"content": ""},
    ]
    assert [None, None, None, "stop"] == reasons(got)
    assert b"usage" not in got


@pytest.mark.parametrize("name", STREAMED)
def test_each_script_is_aligned(name):
    """Every script comes out in OpenAI's order and types, or as an error."""
    script: Script = STREAMED[name]
    got = aligned(script.body)
    found = chunks(got)
    failed = "error" in found[-1]

    assert (script.ends == "failed") <= (failed or name in NOT_SEEN)
    for wire in found[:-1] if failed else found:
        ChatCompletionChunk.model_validate(wire)
    choices = list(first_choice(found))
    roles = [bool(choice["delta"].get("role")) for choice in choices]
    assert roles == [True] * bool(choices) + [False] * (len(choices) - 1)
    assert not any(choices[0]["delta"].get("content") or "" for _ in choices[:1])
    finishes = [choice["finish_reason"] is not None for choice in choices]
    assert finishes.count(True) == (0 if failed else 1)
    assert len({wire["id"] for wire in found if "id" in wire}) <= 1
    usage = [i for i, wire in enumerate(found) if wire.get("usage")]
    assert usage in ([], [len(found) - 1])


@pytest.mark.parametrize("name", STREAMED)
def test_what_is_aligned_is_right(name):
    """Aligning once more changes nothing."""
    once = aligned(STREAMED[name].body)

    assert once == aligned([once])


NOT_SEEN = {"nameless_call_alone"}
"""Failures that show only in a response."""


def first_choice(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The choices number 0."""
    for wire in found:
        for choice in wire.get("choices", ()):
            if choice["index"] == 0:
                yield choice


def test_each_choice_has_its_role_and_finish():
    """With n = 2, both choices are whole."""

    def both(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choices = [{"index": i, "delta": delta, "finish_reason": finish} for i in (0, 1)]
        return b"data: " + msgspec.json.encode({"id": "c", "choices": choices}) + b"\n\n"

    got = aligned([both({"role": "assistant", "content": "A"}), both({}, "stop"), DONE])

    for index in (0, 1):
        found = [c for wire in chunks(got) for c in wire["choices"] if c["index"] == index]
        assert [c["delta"] for c in found] == [
            {"role": "assistant", "content": ""},
            {"content": "A"},
            {},
        ]


@pytest.mark.parametrize(
    ("options", "usages"),
    [
        ({"wants_usage": False}, []),
        ({"wants_usage": True}, [USAGE]),
        ({"wants_usage": True, "wants_usage_always": True}, [USAGE, USAGE, USAGE]),
    ],
    ids=repr,
)
def test_usage_comes_where_it_was_asked_for(options, usages):
    """Never unasked, at the end, or on every chunk."""
    body = (
        chunk({"role": "assistant", "content": ""}, usage=USAGE),
        chunk({"content": "Hi"}, "stop", usage=USAGE),
    )
    got = chunks(aligned(body, **options))

    assert usages == [wire["usage"] for wire in got if wire.get("usage")]


def test_usage_before_the_finish_goes_behind_it():
    """Byte for byte, if it is right in itself."""
    assert aligned([ROLE, COUNTED, STOP, DONE]) == b"".join([ROLE, STOP, COUNTED, DONE])


def test_a_stream_without_a_finish_ends_in_an_error():
    """The client must not take it for whole."""
    got = chunks(aligned([ROLE, *said("Hi"), DONE]))

    assert "without a finish reason" in got[-1]["error"]["message"]


def test_a_broken_connection_ends_in_an_error():
    """`fail` says it, once; nothing follows."""
    aligner = ChatAligner()
    aligner.feed(ROLE)
    frames = aligner.fail(read_failure("broke off"))

    assert "broke off" == chunks(b"".join(frames))[-1]["error"]["message"]
    assert [] == aligner.fail(read_failure("again"))
    assert [] == aligner.feed(STOP)
    assert [] == aligner.close()


@given(st.lists(odd_chunks | json_values, max_size=4))
def test_no_json_raises_anything(wires):
    """The frames end with [DONE], once, and aligning them again changes nothing."""
    once = aligned(data(wire) for wire in wires)

    assert chunks(once)
    assert once == aligned([once])
    folder = ChatFolder()
    folder.feed(once)
    folder.close()
    folder.completion()


@pytest.mark.parametrize("event", [b":\ndata\n\n", b": x\nid: 5\n\n", b":\nevent: x\n\n"])
def test_an_event_without_data_is_no_comment(event):
    """Clients would look for JSON in it; so it does not reach them."""
    right = b"".join(HELLO)

    assert right == aligned([*HELLO[:1], event, *HELLO[1:]])


@pytest.mark.parametrize(
    "odd",
    [
        # A line goes on behind a frame that ended in CR, to who knows LF alone.
        ROLE.replace(b"\n", b"\r") + b"junk: x\n\n",
        # White space is not the end of a line.
        ROLE + b" : x\n\n",
    ],
)
def test_no_cut_makes_a_comment(odd):
    """What stands behind other things on its line is none, however the body is cut."""
    body = b"".join((odd, *said("Hi"), STOP, DONE))
    whole = aligned([body])

    assert deltas(whole) == [{"role": "assistant", "content": ""}, {"content": "Hi"}, {}]
    for at in range(len(body)):
        assert whole == aligned([body[:at], body[at:]])


def test_half_a_surrogate_pair_stays_an_escape():
    """The other half may be in the next chunk; joined, they are whole again."""
    body = [
        b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"\\udc4b"}}]}\n\n',
        STOP,
    ]
    got = aligned(body)

    assert b"\\ud83d" in got
    assert b"\\udc4b" in got

"""What a chat server must not send: it fails the response, and breaks nothing else."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from gateway_frames import ROLE, STOP, chunk
from helpers import errors, fixed_stream, over_the_wire
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import ANY_TEXT

from responses_stream import DONE
from responses_stream.chat.alignment import ChatAligner
from responses_stream.chat.failures import read_failure
from responses_stream.chat.reader import ChatReader
from responses_stream.chat.whole import ChatFolder

DEEP = 100_000
NESTED = b"[" * DEEP + b"]" * DEEP


def frame(text: bytes) -> bytes:
    return b"data: " + text + b"\n\n"


def in_place(field: str, text: bytes) -> bytes:
    """A frame with `text` as one of the values that a chunk may have anywhere."""
    told = {"id": "c", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    choice: dict[str, Any] = told["choices"][0]  # type: ignore[assignment]
    where: dict[str, Any] = {
        "chunk": told,
        "choice": choice,
        "delta": choice["delta"],
    }[field.partition(".")[0]]
    where[field.partition(".")[2]] = "HERE"
    return frame(json.dumps(told).encode().replace(b'"HERE"', text))


PLACES = [
    *("chunk.error", "chunk.usage", "chunk.choices", "chunk.created", "chunk.model"),
    *("choice.index", "choice.delta", "choice.message", "choice.finish_reason"),
    *("choice.logprobs", "delta.content", "delta.reasoning", "delta.refusal"),
    *("delta.tool_calls", "delta.function_call", "delta.annotations", "delta.surprise"),
]

HOSTILE = {
    "100,000 levels": NESTED,
    "500 levels": b"[" * 500 + b"]" * 500,
    "500 objects": b'{"error":' * 500 + b'"x"' + b"}" * 500,
    "a number of 5,000 digits": b"9" * 5000,
    "5,000 digits in quotes": b'"' + b"9" * 5000 + b'"',
    "a number beyond floats": b"1e999",
    "no number": b"NaN",
    "half a surrogate pair": b'"\\ud800"',
    "half of one as a key": b'{"\\udc00": "\\ud800", "message": ["\\ud800"]}',
    "half of one in bytes": b'"\xed\xa0\x80"',
    "NUL": b'"\\u0000"',
    "a bare NUL": b'"\x00"',
    "keys twice": b'{"message": "a", "message": "b", "index": 0, "index": 1}',
    "line ends": b'"\\r\\ndata: [DONE]\\r\\n\\r\\n"',
    "ten megabytes": b'"' + b"x" * 10_000_000 + b'"',
    "calls of numbers": b'[{"index": "' + b"9" * 5000 + b'", "function": {"name": 1}}]',
}


def answer(middle: bytes) -> bytes:
    return ROLE + middle + STOP + DONE


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_value_is_taken_or_fails_the_response(place, name):
    """Wherever it stands, every event can be written, and the transcript is clean."""
    reader = ChatReader(fixed_stream({}, order="interleaved"))
    events = reader.feed(answer(in_place(place, HOSTILE[name]))) + reader.close()
    wires = over_the_wire(events)

    assert wires[-1]["type"] in ("response.completed", "response.failed")
    assert [] == errors(wires)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", HOSTILE)
def test_an_aligned_stream_ends_as_well(place, name):
    """Each of its frames is one, with JSON in it."""
    aligner = ChatAligner()
    said = aligner.feed(answer(in_place(place, HOSTILE[name]))) + aligner.close()

    assert DONE == said[-1]
    for told in said[:-1]:
        assert 1 == told.count(b"\n\n")
        json.loads(told.removeprefix(b"data: "))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_folded_answer_is_json_or_a_failure(place, name):
    """The same for a client that asked for no stream."""
    folder = ChatFolder()
    folder.feed(answer(in_place(place, HOSTILE[name])))
    folder.close()
    told = folder.completion()

    json.loads(told if isinstance(told, bytes) else msgspec.json.encode(told.in_http()))


JSON_OF_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["error", "message", "code", "param", "detail", "type", "msg"]),
        JSON_OF_ANYTHING,
    ),
    st.none() | st.integers(400, 599),
)
@example({"error": {"code": "4" * 5000, "message": "x"}}, None)
@example({"error": {"detail": [{"msg": "\ud800"}]}}, 400)
@example({"error": {"message": "x", "param": "\ud800"}}, 400)
def test_whatever_a_server_says_went_wrong_can_be_passed_on(said, status):
    """By HTTP and in a stream: a message of bounded length, and a status of an error."""
    failure = read_failure(said, status)

    msgspec.json.encode([failure.in_http(), failure.in_stream()])
    assert failure.message
    assert len(failure.message) <= 2000
    assert 400 <= failure.status < 600


@given(st.binary(max_size=40), st.sampled_from(PLACES))
def test_no_bytes_break_anything(value, place):
    """Whatever stands where a value should."""
    text = in_place(place, value)
    reader = ChatReader(fixed_stream({}, order="interleaved"))
    wires = over_the_wire(reader.feed(answer(text)) + reader.close())
    aligner = ChatAligner()

    assert [] == errors(wires)
    assert DONE == (aligner.feed(answer(text)) + aligner.close())[-1]


def test_a_long_message_is_searched_in_no_time():
    """What a server says of its error is cut before it is read for a meaning."""
    message = "max model " * 100_000

    assert 2000 == len(read_failure({"error": {"message": message}}).message)


def test_half_a_pair_in_one_chunk_and_half_in_the_next_is_a_whole():
    """It is no hostile value, although it looks like one."""
    reader = ChatReader(fixed_stream({}))
    halves = b"".join(
        chunk({"content": "HALF"}).replace(b"HALF", half)
        for half in (b"\\ud83d", b"\\ude00")
    )
    (*_, last) = reader.feed(answer(halves)) + reader.close()

    assert "\N{GRINNING FACE}" in json.dumps(last.to_dict(), ensure_ascii=False)

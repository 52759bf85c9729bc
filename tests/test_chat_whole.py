"""A completion in one piece, whatever the chat server made of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from gateway_frames import (
    COUNTED,
    DONE,
    HELLO,
    ROLE,
    USAGE,
    WHOLE,
    call,
    calls,
    chunk,
    data,
)
from gateway_scripts import STREAMED
from openai.types.chat import ChatCompletion

from responses_stream.chat.failures import Failure, read_failure
from responses_stream.chat.whole import ChatFolder


def whole_completion(*body: bytes) -> bytes | Failure:
    """What comes of a body."""
    folder = ChatFolder()
    for piece in body:
        assert [] == folder.feed(piece)
    assert [] == folder.close()
    return folder.completion()


def whole(*body: bytes) -> dict[str, Any]:
    """The completion in a body."""
    found = whole_completion(*body)
    assert isinstance(found, bytes)
    wire: dict[str, Any] = json.loads(found)
    ChatCompletion.model_validate(wire)
    return wire


def message(*body: bytes) -> dict[str, Any]:
    found: dict[str, Any] = whole(*body)["choices"][0]["message"]
    return found


@pytest.mark.parametrize("indent", [None, 2])
def test_a_whole_completion_is_left_alone(indent):
    """Byte for byte."""
    body = json.dumps(WHOLE, indent=indent).encode()

    assert body == whole_completion(body)


def test_a_stream_is_folded():
    """From a server that streams without being asked."""
    got = whole(*HELLO)

    assert {"role": "assistant", "content": "Hello"} == got["choices"][0]["message"]
    assert "stop" == got["choices"][0]["finish_reason"]
    assert "chat.completion" == got["object"]
    assert USAGE == got["usage"]


def test_json_lines_are_folded():
    """The same chunks, one a line."""
    assert "Hello" == message(*(frame[6:-1] for frame in HELLO[:-1]))["content"]


def test_calls_are_folded():
    """Each to the call of its index, in order."""
    got = message(
        ROLE,
        calls(call(0, "call_a", "get_weather", '{"city":')),
        calls(call(0, arguments='"Paris"}'), call(1, "call_b", "get_time", "{}")),
        chunk({}, "tool_calls"),
    )

    assert got["content"] in (None, "")
    assert got["tool_calls"] == [
        {
            "type": "function",
            "id": "call_a",
            "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'},
        },
        {
            "type": "function",
            "id": "call_b",
            "function": {"name": "get_time", "arguments": "{}"},
        },
    ]


def test_choices_and_logprobs_are_folded():
    """Every choice for itself, every list appended."""

    def token(index: int, text: str) -> bytes:
        entry = {"token": text, "logprob": -1.0, "bytes": None, "top_logprobs": []}
        choice = {"index": index, "delta": {"content": text}}
        return data({"choices": [{**choice, "logprobs": {"content": [entry]}}]})

    ends = [{"index": i, "delta": {}, "finish_reason": "stop"} for i in (0, 1)]
    got = whole(token(0, "A"), token(1, "B"), token(0, "C"), data({"choices": ends}))

    assert ["AC", "B"] == [c["message"]["content"] for c in got["choices"]]
    assert ["A", "C"] == [t["token"] for t in got["choices"][0]["logprobs"]["content"]]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[1]",
        b"{",
        b'{"a": 1}',
        b'{"error": "no"}',
        b'{"detail": "no"}',
        ROLE,
        ROLE + COUNTED + DONE,
        b'data: {"error": "no"}\n\n',
    ],
    ids=repr,
)
def test_what_is_no_completion_is_a_failure(body):
    """Never a completion that was not one."""
    found = whole_completion(body)

    assert isinstance(found, Failure)
    assert found.status >= 400


@pytest.mark.parametrize("name", STREAMED)
def test_each_script_is_whole_or_a_failure(name):
    """The official type takes every completion."""
    found = whole_completion(b"".join(STREAMED[name].body))

    if isinstance(found, bytes):
        ChatCompletion.model_validate_json(found)
    else:
        assert STREAMED[name].ends == "failed"


def test_a_broken_connection_is_a_failure():
    """What came before it is no completion."""
    folder = ChatFolder()
    folder.feed(ROLE)
    assert [] == folder.fail(read_failure("broke off"))

    assert folder.ended
    found = folder.completion()
    assert isinstance(found, Failure)
    assert "broke off" == found.message


def test_behind_the_finish_nothing_is_missed():
    """`finished` says when the rest is worth no more waiting."""
    folder = ChatFolder()
    folder.feed(b"".join(HELLO[:-2]))

    assert folder.finished
    assert not folder.ended

"""The frames of a chat server, and scripts: an answer made of them, and what it comes to.

A script is a body, how it is framed, and what a Responses client must get of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

Fields = dict[str, Any]

DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


@dataclass(frozen=True)
class Script:
    """A chat server's answer, and what is to come of it."""

    body: tuple[bytes, ...]
    """Each is one write."""
    status: int = 200
    headers: tuple[str, ...] = ("content-type: text/event-stream",)
    framing: Literal["chunked", "close", "length"] = "chunked"
    ending: Literal["clean", "cut", "reset", "open"] = "clean"
    """`cut` closes where more was promised, `open` leaves the connection open."""
    keep: bool = False
    """Whether the connection may serve another request."""
    gate: Literal["none", "head", "rest"] = "none"
    """What waits for ScriptedServer.gate: the headers, or all but the first write."""
    pause: float = 0.0
    """Before each write but the first."""

    ends: str = "completed"
    """The terminal event, or the status of an HTTP error."""
    text: str = ""
    thoughts: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Name and arguments, or input, of each."""
    reason: str = ""
    """Of an incomplete response; of a failed one its code."""
    says: str = ""
    """A part of the error's message."""
    usage: tuple[int, int] | None = (7, 5)


def chunk(delta: Fields | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One chunk as vLLM writes it."""
    choice = {
        "index": 0,
        "delta": delta or {},
        "logprobs": None,
        "finish_reason": finish,
    }
    return data({**COMMON, "choices": [choice], **more})


def data(value: Any) -> bytes:
    """One frame."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


COMMON = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1795215516,
    "model": "m",
}
ROLE = chunk({"role": "assistant", "content": ""})
STOP = chunk(finish="stop")
CALLED = chunk(finish="tool_calls")
COUNTED = data({**COMMON, "choices": [], "usage": USAGE})
END = (COUNTED, DONE)


def said(*words: str, field: str = "content") -> tuple[bytes, ...]:
    return tuple(chunk({field: word}) for word in words)


def call(
    index: int | None = 0,
    id_: str | None = None,
    name: str | None = None,
    arguments: Any = None,
) -> Fields:
    """An entry of `tool_calls`, without what is None."""
    function = {"name": name, "arguments": arguments}
    function = {key: value for key, value in function.items() if value is not None}
    entry = {"index": index, "id": id_, "function": function or None}
    return {key: value for key, value in entry.items() if value is not None}


def calls(*entries: Fields) -> bytes:
    return chunk({"tool_calls": list(entries)})


HELLO = (ROLE, *said("Hel", "lo"), STOP, *END)
"""An answer with nothing wrong."""

WEATHER = ("get_weather", '{"city":"Paris"}')
TIME = ("get_time", "{}")
ONE_CALL = (
    calls(call(0, "call_a", "get_weather", "")),
    calls(call(0, arguments='{"city":')),
    calls(call(0, arguments='"Paris"}')),
)

WHOLE = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1795215516,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello"},
            "finish_reason": "stop",
        }
    ],
    "usage": USAGE,
}


def with_choice(**choice: Any) -> Fields:
    return {**WHOLE, "choices": [{"index": 0, **choice}]}


def hello(*body: bytes, **more: Any) -> Script:
    """An answer that says Hello, however it is sent."""
    return Script(body or HELLO, text="Hello", **more)


def failed(*body: bytes, **more: Any) -> Script:
    return Script(
        body,
        **{"ends": "failed", "reason": "server_error", "usage": None, **more},
    )

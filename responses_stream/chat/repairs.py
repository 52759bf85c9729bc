"""Pieces of a chat chunk, as OpenAI writes them.

What is right already comes back equal, so that a caller can tell whether anything was
repaired. RemoteProtocolError for what cannot be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

import msgspec

from responses_stream.errors import LocalProtocolError, RemoteProtocolError
from responses_stream.finish_reasons import FAILED
from responses_stream.usage import Usage

from .chunks import finish_reason, flat_content, whole_number

Fields = dict[str, Any]

TEXTS = ("role", "content", "reasoning", "reasoning_content", "refusal")
"""The fields of a delta that are strings, or null."""


def is_error(chunk: Mapping[str, Any]) -> bool:
    """Whether a chunk, or what stands in its place, tells of an error."""
    has_content = "choices" in chunk or "usage" in chunk
    return bool(chunk.get("error")) or chunk.get("object") == "error" or not has_content


def objects(values: object) -> Iterable[Fields]:
    """The objects in a list; none, if it is something else."""
    entries = values if isinstance(values, list) else []
    return (entry for entry in entries if isinstance(entry, dict))


def common_fields(chunk: Mapping[str, Any]) -> Fields:
    """What every chunk of the stream has to repeat, by one of them."""
    return {
        "id": chunk.get("id") or f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion.chunk",
        "created": chunk.get("created") or 0,
        "model": chunk.get("model") or "unknown",
    }


def whole_usage(usage: object) -> Fields | None:
    """Usage with its three counters as integers; None if they are not to be read."""
    if not isinstance(usage, dict):
        return None
    try:
        read = Usage.read(usage) or Usage()
    except LocalProtocolError:
        return None
    return {
        **usage,
        "prompt_tokens": read.input_tokens,
        "completion_tokens": read.output_tokens,
        "total_tokens": read.total_tokens,
    }


def whole_index(index: object) -> int | None:
    """An index, also one in digits; None if it is none."""
    if isinstance(index, str):
        return whole_number(index)
    return index if type(index) is int and index >= 0 else None


class CallNumbers:
    """Numbers the calls of a choice, where the server does not."""

    def __init__(self) -> None:
        self._last = 0
        self._next = 0

    def number(self, call: Fields) -> Fields:
        """`call` with an index: a new one for an id or a name, else the last one."""
        index = whole_index(call.get("index"))
        if index is None:
            name = call.get("function", {}).get("name")
            index = self._next if call.get("id") or name else self._last
        self._last, self._next = index, max(self._next, index + 1)
        return {**call, "index": index}


def whole_choice(choice: Fields, numbers: CallNumbers) -> Fields:
    """A choice with all that a chunk's has. A whole message is a delta, too."""
    rest = dict(choice)
    message = rest.pop("message", None)
    said, reason = rest.get("delta") or message, finish_reason(rest.get("finish_reason"))
    if reason in FAILED:
        raise RemoteProtocolError(f"the model server ended with {reason!r}")
    return {
        **rest,
        "index": whole_index(rest.get("index")) or 0,
        "delta": _whole_delta(said, numbers) if isinstance(said, dict) else {},
        "finish_reason": reason,
    }


def piece(index: int, delta: Fields, reason: str | None = None) -> Fields:
    """A choice that there was none of, but should have been."""
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}


def _whole_delta(said: Fields, numbers: CallNumbers) -> Fields:
    delta = dict(said)
    content = said.get("content")
    if isinstance(content, list):
        delta |= {"content": None, **flat_content(content)}
    for name in TEXTS:
        if not isinstance(delta.get(name), str | None):
            found = type(delta[name]).__name__
            raise RemoteProtocolError(f"{name} is {found}; expected a string")
    if said.get("tool_calls"):
        calls = map(_whole_call, objects(said["tool_calls"]))
        delta["tool_calls"] = [numbers.number(call) for call in calls]
    return delta


def _whole_call(call: Fields) -> Fields:
    function = call.get("function")
    if not isinstance(function, dict):
        return {**call, "function": {}}
    arguments = function.get("arguments")
    if isinstance(arguments, dict):
        arguments = msgspec.json.encode(arguments).decode()
        return {**call, "function": {**function, "arguments": arguments}}
    return call

"""A chunk of a chat-completions answer, as what it says.

A chunk that adds text and calls is decoded into the Structs below, at the cost of a few
microseconds; whatever does not fit them is read key by key. It takes what real servers
send (clients.md section 5): `reasoning` or `reasoning_content`, usage with or without
choices, finish reasons in other words, whole messages where deltas are due, legacy
`function_call`, content in parts, errors in every shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from responses_stream.deltas import Delta, as_delta, tool_call_delta
from responses_stream.errors import LocalProtocolError, RemoteProtocolError
from responses_stream.finish_reasons import REASONS

from .body import read_json
from .failures import Failure, read_failure

SAME_REASONS: Final[Mapping[str, str]] = {
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "safety": "content_filter",
    "cancelled": "abort",
    "insufficient_system_resource": "error",
}
"""Finish reasons in other words than OpenAI's.

One that stands nowhere counts as `stop`: the server did say that the answer had ended, and
to fail it would only make clients ask for it again."""

NO_REASON: Final = ("", "null", "none")
"""What some servers write on every chunk that is not the last."""


MOST_DIGITS: Final = 18
"""Python reads no number of thousands of digits."""


class FunctionDelta(msgspec.Struct, frozen=True, gc=False):
    """The function of a call, or more of it."""

    name: str | None = None
    arguments: str | None = None


class CallDelta(msgspec.Struct, frozen=True, gc=False):
    """A call, or more of it."""

    index: int | None = None
    id: str | None = None
    function: FunctionDelta | None = None


class ChoiceDelta(msgspec.Struct, frozen=True):
    """What a chunk adds. Of what is rare it only matters whether it is there."""

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[CallDelta] | None = None
    refusal: Any = None
    function_call: Any = None
    annotations: Any = None


class Choice(msgspec.Struct, frozen=True):
    """One of the answers. Only the first one counts."""

    index: int | None = 0
    delta: ChoiceDelta | None = None
    finish_reason: str | None = None
    logprobs: Any = None
    message: Any = None


class Chunk(msgspec.Struct, frozen=True):
    """A `chat.completion.chunk`."""

    choices: list[Choice]
    usage: dict[str, Any] | None = None
    error: Any = None


class Said(msgspec.Struct, frozen=True):
    """What a chunk comes to."""

    delta: Delta | None = None
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    has_choices: bool = True
    """The last chunk before `[DONE]` has none, only usage."""


_decode: Final = msgspec.json.Decoder(Chunk).decode


def read_chunk(data: str | bytes) -> Said | Failure:
    """What one JSON text of an answer says; RemoteProtocolError if it is no JSON."""
    try:
        chunk = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _said_otherwise(data)
    if chunk.error:
        return _said_otherwise(data)
    for choice in chunk.choices:
        if not choice.index:
            break
    else:
        return Said(usage=chunk.usage, has_choices=bool(chunk.choices))
    if choice.message or choice.logprobs:
        return _said_otherwise(data)
    reason = choice.finish_reason
    if reason is not None:
        reason = finish_reason(reason)
    said = choice.delta
    if said is not None and (said.refusal or said.function_call or said.annotations):
        return _said_otherwise(data)
    return Said(_common_delta(said), reason, chunk.usage)


def _common_delta(said: ChoiceDelta | None) -> Delta | None:
    if said is None:
        return None
    reasoning = said.reasoning or said.reasoning_content or ""
    content = said.content or ""
    calls = tuple(map(tool_call_delta, said.tool_calls)) if said.tool_calls else ()
    if reasoning or content or calls:
        return Delta(reasoning, content, calls)
    return None


# What is rare ---------------------------------------------------------------------------


def _said_otherwise(data: str | bytes) -> Said | Failure:
    """What a chunk says that is not of the common shape."""
    chunk = read_json(data)
    if not isinstance(chunk, Mapping):
        return read_failure(chunk)
    choices, usage = chunk.get("choices"), chunk.get("usage")
    usage = usage if isinstance(usage, Mapping) else None
    if chunk.get("error") or chunk.get("object") == "error":
        return read_failure(chunk)
    if not isinstance(choices, list):
        words = ("message", "detail", "msg")
        is_failure = usage is None and any(chunk.get(word) for word in words)
        return read_failure(chunk) if is_failure else Said(usage=usage, has_choices=False)
    choice = next(filter(_is_first, choices), None)
    if choice is None:
        return Said(usage=usage, has_choices=bool(choices))
    return Said(_delta(choice), finish_reason(choice.get("finish_reason")), usage)


def _is_first(choice: object) -> bool:
    return isinstance(choice, Mapping) and choice.get("index") in (0, None, "0")


def _delta(choice: Mapping[str, Any]) -> Delta | None:
    """What a choice adds; RemoteProtocolError if a field is not to be understood."""
    said = choice.get("delta") or choice.get("message")
    if not isinstance(said, Mapping):
        return None
    fields = dict(said)
    if isinstance(said.get("content"), list):
        fields |= flat_content(said["content"])
    if isinstance(said.get("tool_calls"), list):
        fields["tool_calls"] = [_whole_index(call) for call in said["tool_calls"]]
    elif isinstance(said.get("function_call"), Mapping):
        fields["tool_calls"] = [{"index": 0, "function": said["function_call"]}]
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, Mapping) and fields.get("content"):
        # Of thoughts and calls there is no place for them.
        fields["logprobs"] = logprobs.get("content")
    try:
        return as_delta(fields)
    except LocalProtocolError as error:
        raise RemoteProtocolError(f"the model server's {error}") from error


def flat_content(content: list[Any]) -> dict[str, str]:
    """What content in parts says, as Mistral sends it, thoughts among them."""
    return {
        "content": "".join(_texts(content, "text")),
        "reasoning": "".join(_texts(content, "thinking")),
    }


def _texts(parts: list[Any], kind: str) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Mapping) and part.get("type", "text") == kind:
            said = part.get(kind)
            if isinstance(said, list):
                yield from _texts(said, "text")
            elif isinstance(said, str):
                yield said


def _whole_index(call: Any) -> Any:
    if isinstance(call, Mapping) and isinstance(index := call.get("index"), str):
        return {**call, "index": whole_number(index)}
    return call


def whole_number(digits: str) -> int | None:
    """The number that `digits` say; None if they are none, or more than anybody means."""
    is_number = digits.isdecimal() and len(digits) <= MOST_DIGITS
    return int(digits) if is_number else None


def finish_reason(said: object) -> str | None:
    """A server's finish reason in the words of ResponseStream.finish."""
    if isinstance(said, Mapping):
        said = said.get("type")
    if not isinstance(said, str):
        return None
    reason = said.strip().lower()
    if reason in NO_REASON:
        return None
    reason = SAME_REASONS.get(reason, reason)
    return reason if reason in REASONS else "stop"

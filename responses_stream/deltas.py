"""What a parser says: one small addition to what the model has said so far.

`Delta` is the shape that `ResponseStream.feed` works on. vLLM's `DeltaMessage`, an OpenAI
chat delta, a dict or a SimpleNamespace with the same names are read into it by `as_delta`,
without importing whoever made them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, Protocol

import msgspec
from msgspec.structs import replace

from .code_points import mend, mend_all
from .errors import LocalProtocolError
from .items import Logprob, TopLogprob


class ToolCallDelta(msgspec.Struct, frozen=True, gc=False):
    """More of a tool call. Which one: see calls.py; every field may be missing."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""


class Delta(msgspec.Struct, frozen=True, gc=False):
    """More of a response. A compound delta counts in the order of these fields."""

    reasoning: str = ""
    content: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()

    refusal: ClassVar[str] = ""
    logprobs: ClassVar[tuple[Logprob, ...]] = ()
    annotations: ClassVar[tuple[dict[str, Any], ...]] = ()


class FullDelta(Delta, frozen=True, kw_only=True):
    """A delta that may also say what is rare. A refusal stands behind the content."""

    # Fields, where common deltas have constants.
    refusal: str = ""  # type: ignore[misc]
    logprobs: tuple[Logprob, ...] = ()  # type: ignore[misc]
    """Of the tokens of `content`."""
    annotations: tuple[dict[str, Any], ...] = ()  # type: ignore[misc]
    """On the message's text, in the Responses API's shape."""


class CheckedFunction(Protocol):
    """The function of a CheckedCall, or more of it."""

    @property
    def name(self) -> str | None:
        """Its name."""

    @property
    def arguments(self) -> str | None:
        """More of its arguments."""


class CheckedCall(Protocol):
    """More of a chat call whose types its maker has checked: vLLM's models, our Structs."""

    @property
    def index(self) -> int | None:
        """The call's number."""

    @property
    def id(self) -> str | None:
        """The call's id."""

    @property
    def function(self) -> CheckedFunction | None:
        """What is called."""


LEAST_LOGPROB: Final = -9999.0
"""What stands for minus infinity, and for a value that is no number."""

Get = Callable[[str], Any]


def as_delta(said: object) -> Delta:
    """Reads anything with the names of a chat delta, as attributes or as keys.

    Raises LocalProtocolError, which names the field, what was found and what was expected.
    """
    if isinstance(said, Delta):
        return said
    get = _getter(said)
    reasoning = get("reasoning") or get("reasoning_content")
    content, calls = get("content"), get("tool_calls")
    # Most deltas have one of these, and nothing is called for what is not there.
    reasoning = "" if reasoning is None else _text("reasoning", reasoning)
    content = "" if content is None else _text("content", content)
    if calls is not None:
        calls = tuple(map(_tool_call, _list("tool_calls", calls)))
    refusal, logprobs, annotations = get("refusal"), get("logprobs"), get("annotations")
    if not (refusal or logprobs or annotations):
        return Delta(reasoning, content, calls or ())
    return FullDelta(
        reasoning,
        content,
        calls or (),
        refusal=_text("refusal", refusal),
        logprobs=tuple(map(logprob, _list("logprobs", logprobs))),
        annotations=tuple(map(_annotation, _list("annotations", annotations))),
    )


def tool_call_delta(call: CheckedCall) -> ToolCallDelta:
    """A call that needs no check, as ours. Checks take most of the time of as_delta."""
    function = call.function
    if function is None:
        return ToolCallDelta(call.index, call.id or "")
    return ToolCallDelta(
        call.index, call.id or "", function.name or "", function.arguments or ""
    )


def logprob(entry: object) -> Logprob:
    """One token of a chat completion's `logprobs.content`."""
    if isinstance(entry, Logprob):
        return entry
    get = _getter(entry)
    top = _list("top_logprobs", get("top_logprobs"))
    return Logprob(*_token(get), tuple(TopLogprob(*_token(_getter(t))) for t in top))


def mended(entry: Logprob) -> Logprob:
    """The same with whole code points: its `bytes` tell what a token was cut from."""
    top = tuple(replace(t, token=mend(t.token)) for t in entry.top_logprobs)
    return replace(entry, token=mend(entry.token), top_logprobs=top)


def _token(get: Get) -> tuple[str, float, tuple[int, ...]]:
    value = get("logprob")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LocalProtocolError(f"logprob is {value!r}; expected a number")
    # JSON knows no infinity, and a null breaks every client; vLLM clamps there too.
    value = max(float(value), LEAST_LOGPROB) if math.isfinite(value) else LEAST_LOGPROB
    bytes_ = tuple(_list("bytes", get("bytes")))
    if not all(isinstance(byte, int) for byte in bytes_):
        raise LocalProtocolError(f"bytes is {bytes_!r}; expected integers")
    return _text("token", get("token")), value, bytes_


def _tool_call(call: object) -> ToolCallDelta:
    if isinstance(call, ToolCallDelta):
        return call
    get = _getter(call)
    index, said_id, function = get("index"), get("id"), get("function")
    if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
        raise LocalProtocolError(f"tool call index is {index!r}; expected an integer")
    get_function = get if function is None else _getter(function)
    name, arguments = get_function("name"), get_function("arguments")
    return ToolCallDelta(
        index,
        "" if said_id is None else mend(_text("id", said_id)),
        "" if name is None else mend(_text("name", name)),
        "" if arguments is None else _arguments(arguments),
    )


def _arguments(said: object) -> str:
    if isinstance(said, str):
        return said
    if not isinstance(said, Mapping):
        raise _unlike("arguments", said, "a string")
    # Some servers parse the arguments for us; the wire has them as text.
    try:
        return msgspec.json.encode(mend_all(said)).decode()
    except (TypeError, ValueError) as error:
        raise LocalProtocolError(f"arguments are no JSON: {error}") from error


def _annotation(entry: object) -> dict[str, Any]:
    """A chat citation nests its fields under its own type; the Responses API does not."""
    if not isinstance(entry, Mapping):
        raise _unlike("annotation", entry, "a mapping")
    kind = entry.get("type")
    nested = entry.get(kind) if isinstance(kind, str) else None
    return {"type": kind, **nested} if isinstance(nested, Mapping) else dict(entry)


def _getter(said: object) -> Get:
    if type(said) is dict:
        return said.get
    if hasattr(type(said), "__pydantic_fields__"):
        # A pydantic model takes microseconds to say that it has no such attribute.
        extra = getattr(said, "__pydantic_extra__", None)
        return {**said.__dict__, **extra}.get if extra else said.__dict__.get
    if isinstance(said, Mapping):
        return said.get
    if said is None or isinstance(said, (str, bytes, int, float, list, tuple)):
        raise _unlike("delta", said, "an object or a mapping with a chat delta's names")
    return lambda name: getattr(said, name, None)


def _text(name: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _unlike(name, value, "a string")
    return value


def _list(name: str, value: object) -> Iterable[Any]:
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise _unlike(name, value, "a list")
    return value


def _unlike(name: str, found: object, expected: str) -> LocalProtocolError:
    return LocalProtocolError(f"{name} is {type(found).__name__}; expected {expected}")

"""A chat completion in one piece, also from a server that streams without being asked."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

import msgspec

from responses_stream.code_points import mend_all
from responses_stream.errors import RemoteProtocolError
from responses_stream.sse import SSEDecoder

from .alignment import ChatAligner
from .body import read_json
from .failures import Failure
from .limits import DEFAULTS, AnswerLimits
from .repairs import objects

Fields = dict[str, Any]

ONCE: Final = ("role", "type", "id", "name")
"""Fields of a delta that are not said in pieces."""


class ChatFolder:
    """Bytes of a chat server's answer in; at the end one completion.

    `feed`, `close` and `fail` return nothing to send: there is nothing before the end.
    """

    def __init__(self, limits: AnswerLimits = DEFAULTS) -> None:
        self._aligner = ChatAligner(wants_usage=True, limits=limits)
        self._body: list[bytes] = []
        self._frames: list[bytes] = []

    @property
    def finished(self) -> bool:
        """Whether every choice has its finish reason."""
        return self._aligner.finished

    @property
    def ended(self) -> bool:
        """Whether nothing can follow any more."""
        return self._aligner.ended

    @property
    def failure(self) -> Failure | None:
        """Why there is no completion, if there is none."""
        return self._aligner.failure

    def feed(self, data: bytes) -> list[bytes]:
        """Takes more of the body."""
        self._body.append(data)
        self._frames += self._aligner.feed(data)
        return []

    def close(self) -> list[bytes]:
        """The body has ended."""
        self._frames += self._aligner.close()
        return []

    def fail(self, failure: Failure) -> list[bytes]:
        """Something broke on the way."""
        self._aligner.fail(failure)
        return []

    def completion(self) -> bytes | Failure:
        """The completion, once ended; byte for byte, if it came as one JSON document."""
        if self._aligner.failure is not None:
            return self._aligner.failure
        body = b"".join(self._body)
        return body if _is_completion(body) else _folded(b"".join(self._frames))


def _is_completion(body: bytes) -> bool:
    """Whether a body that was understood is one document, and no chunk."""
    try:
        found = read_json(body.removeprefix(b"\xef\xbb\xbf"))
    except RemoteProtocolError:
        return False
    return bool(found.get("object") != "chat.completion.chunk")


def _folded(frames: bytes) -> bytes:
    """The completion that an aligned stream comes to."""
    whole: Fields = {}
    choices: dict[int, _Choice] = {}
    for frame in SSEDecoder(len(frames)).feed(frames)[:-1]:
        chunk = read_json(frame.data)
        said = chunk.pop("choices")
        whole |= {key: value for key, value in chunk.items() if value is not None}
        for choice in said:
            choices.setdefault(choice["index"], _Choice()).fold(choice)
    whole["object"] = "chat.completion"
    whole["choices"] = [{"index": i, **choices[i].whole()} for i in sorted(choices)]
    return msgspec.json.encode(mend_all(whole))


class _Choice:
    """One answer, as it grows."""

    def __init__(self) -> None:
        self._message: Fields = {"content": None}
        self._calls: dict[int, Fields] = {}
        self._logprobs: Fields = {}
        self._reason: str | None = None

    def fold(self, choice: Fields) -> None:
        """Adds what a chunk says."""
        delta = choice["delta"]
        for call in objects(delta.pop("tool_calls", None)):
            _fold(self._calls.setdefault(call.pop("index"), {}), call)
        _fold(self._message, delta)
        if isinstance(choice.get("logprobs"), dict):
            _fold(self._logprobs, choice["logprobs"])
        self._reason = choice["finish_reason"] or self._reason

    def whole(self) -> Fields:
        """The choice of the completion."""
        calls = [_whole_call(self._calls[index]) for index in sorted(self._calls)]
        return {
            "message": self._message | ({"tool_calls": calls} if calls else {}),
            "logprobs": self._logprobs or None,
            "finish_reason": self._reason,
        }


def _fold(whole: Fields, delta: Fields) -> None:
    """Adds text to text, list to list, object to object."""
    for key, said in delta.items():
        before = whole.get(key)
        match before, said:
            case _, None:
                pass
            case dict(), dict():
                _fold(before, said)
            case str(), str() if key in ONCE:
                whole[key] = said or before
            case (str(), str()) | (list(), list()):
                whole[key] = before + said
            case _:
                whole[key] = said


def _whole_call(call: Fields) -> Fields:
    """A call with all that its type wants."""
    function = call.get("function") or {}
    return {
        "type": "function",
        **call,
        "id": call.get("id") or f"call_{uuid4().hex}",
        "function": {
            "name": function.get("name") or "",
            "arguments": function.get("arguments") or "{}",
        },
    }

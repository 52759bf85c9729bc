"""A chat stream, as OpenAI would have sent it.

For clients that speak chat completions themselves. Each choice begins with one chunk that
holds nothing but the role, says what it says, and ends with a chunk that holds the finish
reason; usage comes last, if it was asked for, then `[DONE]`. A chunk that is right already
goes out as it came, byte for byte, and so does a comment.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from responses_stream.errors import ProtocolError
from responses_stream.sse import DONE as DONE_FRAME

from .body import DONE, ChatBody, ChatText, read_json, texts_of
from .failures import Failure, read_failure
from .limits import DEFAULTS, AnswerLimits
from .repairs import (
    CallNumbers,
    common_fields,
    is_error,
    objects,
    piece,
    whole_choice,
    whole_index,
    whole_usage,
)

Fields = dict[str, Any]

_LINES: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BLANK_LINE: Final = (b"\n\n", b"\r\n\r\n")


class ChatAligner:
    """Bytes of a chat server's answer in, frames out.

    Its methods raise nothing: what is not to be understood fails the stream.

    Args:
        wants_usage: Whether the client asked for usage (`stream_options.include_usage`).
        wants_usage_always: Whether it asked for usage on every chunk, which vLLM gives.
        limits: How much of an answer is taken.
    """

    def __init__(
        self,
        *,
        wants_usage: bool = False,
        wants_usage_always: bool = False,
        limits: AnswerLimits = DEFAULTS,
    ) -> None:
        self.ended = False
        """Whether `[DONE]` is out."""
        self.failure: Failure | None = None
        """Why the stream failed, if it did."""
        self._wants_usage = wants_usage
        self._wants_usage_always = wants_usage_always
        self._body = _RawBody(limits)
        self._common: Fields = {}
        """What all chunks of the stream have in common."""
        self._numbers: defaultdict[int, CallNumbers] = defaultdict(CallNumbers)
        self._begun: set[int] = set()
        self._finished: set[int] = set()
        self._usage: list[bytes] = []
        """The frame of the last usage, until the end."""

    @property
    def finished(self) -> bool:
        """Whether every choice has its finish reason, or the stream has failed."""
        is_whole = bool(self._begun) and self._begun == self._finished
        return is_whole or self.failure is not None

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that follow from more of the body."""
        return self._taken(lambda: self._body.feed(data))

    def close(self) -> list[bytes]:
        """The body has ended, and so has the stream."""
        return self._taken(self._body.close) + self._end()

    def fail(self, failure: Failure) -> list[bytes]:
        """Something broke: the frames that say so, unless the stream has ended."""
        if self.ended:
            return []
        self.ended, self.failure = True, failure
        return [_frame(failure.in_http()), DONE_FRAME]

    def _taken(self, read: Callable[[], list[ChatText]]) -> list[bytes]:
        try:
            texts = read()
        except ProtocolError as error:
            return self._misread(error)
        return [frame for text in texts for frame in self._take(text)]

    def _take(self, text: ChatText) -> list[bytes]:
        if self.ended:
            return []
        if not text.data:
            return [text.raw]
        if text.data == DONE:
            return self._end()
        try:
            chunk = read_json(text.data)
            if text.event == "error" or not isinstance(chunk, dict) or is_error(chunk):
                return self.fail(read_failure(chunk))
            return self._align(text, chunk)
        except ProtocolError as error:
            return self._misread(error)

    def _misread(self, error: ProtocolError) -> list[bytes]:
        # Behind the finish nothing matters that much.
        return [] if self.finished else self.fail(read_failure(str(error)))

    def _align(self, text: ChatText, chunk: Fields) -> list[bytes]:
        """The frames of one chunk: its own, if that is right."""
        choices = [
            whole_choice(choice, self._numbers[whole_index(choice.get("index")) or 0])
            for choice in objects(chunk.get("choices"))
        ]
        if choices and not self._common:
            self._common = common_fields(chunk)
        head = {**chunk, **self._common}
        if head.get("usage") and not (choices and self._wants_usage_always):
            self._keep_usage(text, chunk, head)
            if not choices:
                return []
        pieces = [piece for choice in choices for piece in self._pieces(choice)]
        if pieces != choices:
            return [_frame({**head, "choices": [piece]}) for piece in pieces]
        head["choices"] = pieces
        return [_raw(text) if head == chunk else _frame(head)]

    def _keep_usage(self, text: ChatText, chunk: Fields, head: Fields) -> None:
        """Moves the usage of `head` to the end of the stream, if it is wanted at all."""
        usage = whole_usage(head.pop("usage"))
        if self._wants_usage and usage:
            alone = {**head, "choices": [], "usage": usage}
            self._usage = [_raw(text) if alone == chunk else _frame(alone)]
        if self._wants_usage:
            head["usage"] = None

    def _pieces(self, choice: Fields) -> Iterator[Fields]:
        """A choice of one chunk, cut into its role, what it says, and its finish."""
        index, reason = choice["index"], choice["finish_reason"]
        said = dict(choice["delta"])
        role = said.pop("role", None)
        is_said = any(said.values())
        if index not in self._begun:
            self._begun.add(index)
            if role and not is_said and reason is None:
                yield choice
                return
            yield piece(index, {"role": role or "assistant", "content": ""})
        if is_said and reason is None:
            yield {**choice, "delta": said}
        elif is_said:
            yield {**choice, "delta": said, "finish_reason": None}
            yield piece(index, {}, reason)
        elif reason is not None:
            yield {**choice, "delta": said}
        if reason is not None:
            self._finished.add(index)

    def _end(self) -> list[bytes]:
        if self.ended:
            return []
        if not self.finished:
            message = "the model server's stream ended without a finish reason"
            return self.fail(read_failure(message))
        self.ended = True
        return [*self._usage, DONE_FRAME]


class _RawBody(ChatBody):
    """Keeps the frame of each text, and comments as frames without a text."""

    def __init__(self, limits: AnswerLimits) -> None:
        super().__init__(limits)
        self._raw: list[bytes] = []
        self._cr = b""

    def read_events(self, data: bytes) -> list[ChatText]:
        """See ChatBody.read_events."""
        texts: list[ChatText] = []
        data = self._cr + data
        # Whether an LF belongs to it, the next byte tells.
        self._cr = b"\r" if data.endswith(b"\r") else b""
        for line in _LINES.findall(data.removesuffix(b"\r")):
            self._raw.append(line)
            found = [t for event in self.events.feed(line) for t in texts_of(event)]
            if not found and line.strip(b"\r\n"):
                # Not joined before its end: an event may have millions of lines.
                continue
            raw = b"".join(self._raw)
            is_frame = raw.endswith(_BLANK_LINE)
            if len(found) == 1 and is_frame:
                found = [ChatText(found[0].data, found[0].event, raw)]
            elif is_frame and _is_comment(raw):
                found = [ChatText("", raw=raw)]
            texts += found
            self._raw = [] if found or is_frame or not raw.strip(b"\r\n") else [raw]
        return texts


def _is_comment(frame: bytes) -> bool:
    """Whether it is nothing else: an event without data is one that no client can read."""
    return all(line.startswith(b":") for line in frame.splitlines() if line)


def _raw(text: ChatText) -> bytes:
    data = text.data.encode() if isinstance(text.data, str) else text.data
    return text.raw or b"data: %b\n\n" % data


def _frame(chunk: Mapping[str, Any]) -> bytes:
    try:
        return b"data: %b\n\n" % msgspec.json.encode(chunk)
    except UnicodeEncodeError:
        # Half a surrogate pair: only an escape can hold it.
        return b"data: %b\n\n" % json.dumps(chunk).encode()

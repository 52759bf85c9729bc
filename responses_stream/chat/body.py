"""The JSON texts in the body of a chat server's answer, whatever its framing.

A stream should be server-sent events. Servers and proxies also send them as
`application/json`, send one whole document where a stream was asked for, or one document
a line. So the content type is not asked: the first bytes tell.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, Literal

import msgspec

from responses_stream.errors import RemoteProtocolError
from responses_stream.json_text import DEEPEST, is_deep
from responses_stream.sse import ServerSentEvent, SSEDecoder

from .limits import DEFAULTS, AnswerLimits

DONE: Final = "[DONE]"
"""The text that ends a stream; no JSON."""

Framing = Literal["unknown", "events", "first line", "lines", "document"]

_NUMBERS: Final = {"-Infinity": -9999.0}
"""OpenAI's number for the log probability of what cannot be; null for the others."""

_BOM: Final = b"\xef\xbb\xbf"
_IN_FRONT: Final = re.compile(rb"\A(?:\xef\xbb\xbf|\s)+")
"""What means nothing in front of any framing, in any order: what has been passed over is
not remembered."""
_SHOWN: Final = 200
"""How many bytes of a body that is neither are worth quoting."""


class ChatText(msgspec.Struct, frozen=True, gc=False):
    """One JSON text of a body, or `[DONE]`."""

    data: str | bytes
    event: str = "message"
    """What the frame is called; `error` says that the text is one."""
    raw: bytes = b""
    """The frame itself, where somebody cares (alignment.py)."""


class ChatBody:
    """Bytes in, cut anywhere; JSON texts out.

    `feed` and `close` raise RemoteProtocolError for a text or a body that is too long, and
    `close` for a body that held nothing of what was to be expected.
    """

    def __init__(self, limits: AnswerLimits = DEFAULTS) -> None:
        self.framing: Framing = "unknown"
        """What the first bytes told."""
        self.events = SSEDecoder(limits.max_event)
        self._limits = limits
        self.received = 0
        """How many bytes have come."""
        self._held: list[bytes] = []
        """What has come of a line, or of the document."""
        self._held_bytes = 0
        self._shown = b""
        self._found = False

    def feed(self, data: bytes) -> list[ChatText]:
        """The texts that `data` completes."""
        self.received += len(data)
        if self.received > self._limits.max_answer:
            raise _too_long("an answer", self.received, self._limits.max_answer)
        if self._found and self.framing == "events":
            return self.read_events(data)
        if len(self._shown) < _SHOWN:
            self._shown += data[: _SHOWN - len(self._shown)]
        if self.framing == "unknown":
            data = self._recognise(data)
        if self.framing == "first line":
            data = self._first_line(data)
        match self.framing:
            case "events":
                texts = self.read_events(data)
            case "lines":
                texts = self._lines(data)
            case _:
                self._hold(data)
                texts = []
        self._found = self._found or bool(texts)
        return texts

    def close(self) -> list[ChatText]:
        """The texts that only the end of the input completes."""
        if self.framing == "events":
            # An event without its blank line is void by the standard; not to us: it may
            # hold the finish of a server that forgets the line.
            texts = self.read_events(b"\n\n")
        else:
            rest = self._release()
            texts = [ChatText(rest)] if rest.strip() else []
        if self._found or (texts and self.framing != "unknown"):
            return texts
        shown = self._shown.decode(errors="replace").strip()
        raise RemoteProtocolError(
            f"the model server's answer begins with {shown!r}; expected server-sent"
            " events or JSON"
            if shown
            else "the model server's answer is empty; expected server-sent events or JSON"
        )

    def read_events(self, data: bytes) -> list[ChatText]:
        """The texts of the server-sent events that `data` completes."""
        line = self.events.one_line(data)
        if line is not None and line[:1] == b"{":
            return [ChatText(line)]
        if line is not None:
            return texts_of(ServerSentEvent(line.decode(errors="replace")))
        return [text for event in self.events.feed(data) for text in texts_of(event)]

    def _recognise(self, data: bytes) -> bytes:
        """Sets the framing once it is plain; returns what is to be read by it."""
        text = _IN_FRONT.sub(b"", self._release() + data)
        if text.startswith((b"{", b"[")):
            self.framing = "first line"
        elif not _BOM.startswith(text):
            self.framing = "events"
        return text

    def _first_line(self, data: bytes) -> bytes:
        """Tells one document over several lines from one a line."""
        if b"\n" in data:
            data = self._release() + data
            line = data.split(b"\n", 1)[0]
            self.framing = "lines" if _is_json(line) else "document"
        return data

    def _lines(self, data: bytes) -> list[ChatText]:
        *ended, rest = data.split(b"\n")
        lines = []
        for piece in ended:
            self._hold(piece)
            lines.append(self._release())
        self._hold(rest)
        return [ChatText(line) for line in lines if line.strip()]

    def _hold(self, data: bytes) -> None:
        self._held_bytes += len(data)
        if self._held_bytes > self._limits.max_event:
            raise _too_long("a text", self._held_bytes, self._limits.max_event)
        if data:
            self._held.append(data)

    def _release(self) -> bytes:
        held, self._held, self._held_bytes = b"".join(self._held), [], 0
        return held


def _too_long(what: str, found: int, most: int) -> RemoteProtocolError:
    return RemoteProtocolError(
        f"the model server sent {what} of {found} bytes and more; expected at most {most}"
    )


def texts_of(event: ServerSentEvent) -> list[ChatText]:
    """The text of one event; several where a server forgets the blank lines."""
    data = event.data
    if "\n" in data:
        lines = data.split("\n")
        if _is_json(lines[0]):
            return [ChatText(line, event.event) for line in lines if line.strip()]
    return [ChatText(data, event.event)] if data.strip() else []


def _is_json(line: str | bytes) -> bool:
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def read_json(data: str | bytes) -> Any:
    """What a JSON text says; RemoteProtocolError if it is none.

    More than JSON allows is let through: half a surrogate pair, as the other half may be
    in the next chunk, and what Python writes for numbers that JSON has none for.
    """
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = _read_more_than_json(data)
    if is_deep(data, found):
        message = f"the model server sent JSON of more than {DEEPEST} levels"
        raise RemoteProtocolError(message)
    return found


def _read_more_than_json(data: str | bytes) -> Any:
    text = data if isinstance(data, str) else data.decode(errors="replace")
    try:
        return json.loads(text, parse_constant=_NUMBERS.get)
    except (ValueError, RecursionError) as error:
        message = f"the model server sent {text[:_SHOWN]!r}; expected JSON ({error})"
        raise RemoteProtocolError(message) from error

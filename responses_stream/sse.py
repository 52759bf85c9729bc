"""Server-sent events: events to bytes, and bytes cut anywhere to events.

The decoder follows the WHATWG standard to the letter (section 9.2, "Server-sent events"):
https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from __future__ import annotations

from typing import Final

import msgspec

from .errors import RemoteProtocolError
from .wire import DeltaEvent, Event, Place

DONE: Final = b"data: [DONE]\n\n"
"""The last frame of a body. Open Responses wants it, OpenAI sends none, all accept it."""

MAX_EVENT_BYTES: Final = 64 * 1024 * 1024
"""What a decoder holds of one event before it gives up."""

RETRY_DIGITS: Final = 9
"""Of a reconnection time in milliseconds; a longer one is no time that anybody waits."""

# As numbers: to find a byte takes a tenth of the time that it takes to find bytes.
_LF, _CR = b"\n\r"

_json = msgspec.json.Encoder().encode


def encode(event: Event) -> bytes:
    """One whole frame: `event:`, `data:` and the blank line that sends it off.

    LF only, and one write for each frame: a reader of Open Responses loses an event that
    comes with CRLF or in two writes (clients.md 1.2).
    """
    place = event.place
    if place is None:
        return b"".join((event.head, _json(event), b"\n\n"))
    # Only a delta has a place. To ask isinstance would cost half as much as all the rest.
    said: DeltaEvent = event  # type: ignore[assignment]
    return b"".join(
        (place.head, _json(said.delta), place.tail, _json(said.sequence_number), b"}\n\n")
    )


def encode_delta(place: Place, delta: str, sequence_number: int) -> bytes:
    """The frame of a delta event with these fields."""
    return b"".join(
        (place.head, _json(delta), place.tail, _json(sequence_number), b"}\n\n")
    )


def split(frames: bytes) -> list[bytes]:
    """The frames that were joined, each as `encode` made it."""
    return [frame + b"\n\n" for frame in frames.split(b"\n\n")[:-1]]


def encode_comment(text: str) -> bytes:
    """A frame that no client sees. It keeps a line alive, but not codex's patience."""
    return b": %b\n\n" % text.replace("\n", " ").replace("\r", " ").encode()


class ServerSentEvent(msgspec.Struct, frozen=True, gc=False):
    """What a frame said."""

    data: str
    event: str = "message"
    last_event_id: str = ""
    line: int = 0
    """Where in the stream the frame's first field stands; the first line is 1."""


class SSEDecoder:
    """Bytes in, events out.

    `feed` raises RemoteProtocolError for an event of more than `max_event_bytes`; it is
    over with the stream then, and the decoder must not be fed again.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.pending = 0
        """Bytes of the event that has not ended. At the end of the input they are lost:
        an event without its blank line is to be discarded (9.2.6)."""
        self.retry: int | None = None
        """The reconnection time that the server asked for, in milliseconds."""
        self._max = max_event_bytes
        self._line: list[bytes] = []
        """The line that has not ended, in pieces."""
        self._line_number = 0
        self._after_cr = False
        self._event = ""
        self._data: list[str] = []
        self._begun_at = 0
        self._last_event_id = ""

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that `data` completes."""
        if (line := self.one_line(data)) is not None:
            text, begun_at = line.decode(errors="replace"), self._line_number - 1
            return [ServerSentEvent(text, "message", self._last_event_id, begun_at)]
        if self._after_cr and data:
            # The CR has ended the line already; an LF right behind it belongs to it.
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        events: list[ServerSentEvent] = []
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._hold(piece)
            line, self._line = b"".join(self._line), []
            self._line_number += 1
            if self._line_number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line:
                self._field(line.decode(errors="replace"))
            else:
                self._dispatch(events)
        self._hold(rest)
        return events

    def one_line(self, data: bytes) -> bytes | None:
        """The short way of nearly all that comes: one event, of one line, all there.

        Its data, or None: then nothing was taken, and it must be fed.
        """
        line = data[6:-2]
        if (
            data[:6] != b"data: "
            or data[-2:] != b"\n\n"
            or _LF in line
            or _CR in line
            # A byte order mark may stand before the first line.
            or not self._line_number
            or self.pending
            or self._after_cr
            or len(line) > self._max - 6
        ):
            return None
        self._line_number += 2
        return line

    def _hold(self, piece: bytes) -> None:
        self.pending += len(piece)
        if self.pending > self._max:
            raise RemoteProtocolError(
                f"an event of {self.pending} bytes and more; expected at most {self._max}"
            )
        if piece:
            self._line.append(piece)

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        if name and self._begun_at == 0:
            self._begun_at = self._line_number
        value = value.removeprefix(" ")
        match name:
            case "data":
                self._data.append(value)
            case "event":
                self._event = value
            case "id" if "\0" not in value:
                self._last_event_id = value
            case "retry" if (
                value.isascii() and value.isdigit() and len(value) <= RETRY_DIGITS
            ):
                self.retry = int(value)

    def _dispatch(self, events: list[ServerSentEvent]) -> None:
        if self._data:
            events.append(
                ServerSentEvent(
                    "\n".join(self._data),
                    self._event or "message",
                    self._last_event_id,
                    self._begun_at,
                )
            )
        self._event, self._data, self._begun_at, self.pending = "", [], 0, 0

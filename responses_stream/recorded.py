"""Judges a recorded transcript: the bytes of a body, as curl or a proxy kept them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from .checker import TranscriptChecker, Violation
from .sse import ServerSentEvent, SSEDecoder
from .state import Order

DONE_DATA = "[DONE]"


class Finding(msgspec.Struct, frozen=True):
    """A violation, and the line of the recording where its event begins."""

    line: int
    violation: Violation


class Recording(msgspec.Struct, frozen=True):
    """A recorded transcript, and what is wrong with it."""

    events: tuple[dict[str, Any], ...]
    """Every frame that holds a JSON object, in order."""
    findings: tuple[Finding, ...]

    def count(self, level: str) -> int:
        """How many violations are of this level."""
        return sum(finding.violation.level == level for finding in self.findings)


def read(
    body: bytes, *, order: Order = "interleaved", starting_after: int | None = None
) -> Recording:
    """Reads and judges a whole body. See TranscriptChecker for the options.

    LF or CRLF, with or without `event:` lines and `[DONE]`. Raises nothing.
    """
    checker = TranscriptChecker(order=order, starting_after=starting_after)
    decoder = SSEDecoder(max_event_bytes=max(len(body), 1))
    findings = [Finding(1, violation) for violation in _framing(body)]
    events: list[dict[str, Any]] = []
    done = False
    for frame in decoder.feed(body):
        if frame.data == DONE_DATA:
            done = True
            continue
        if done:
            findings.append(_finding(frame, "an event behind [DONE]; clients stop there"))
        try:
            wire = msgspec.json.decode(frame.data)
        except (msgspec.DecodeError, RecursionError) as error:
            findings.append(_finding(frame, f"data is not JSON: {error}"))
            continue
        if isinstance(wire, dict):
            events.append(wire)
            if frame.event not in ("message", wire.get("type")):
                message = f"event is {frame.event!r}; expected {wire.get('type')!r}"
                findings.append(_finding(frame, message))
        findings += (Finding(frame.line, found) for found in checker.feed(wire))
    last = body.count(b"\n") + 1
    if decoder.pending:
        message = "no blank line behind the last frame; expected one, or it is lost"
        findings.append(Finding(last, Violation("frame", message)))
    findings += (Finding(last, found) for found in checker.close())
    return Recording(tuple(events), tuple(findings))


def _finding(frame: ServerSentEvent, message: str) -> Finding:
    return Finding(frame.line, Violation("frame", message))


def _framing(body: bytes) -> Iterator[Violation]:
    """What codex breaks on before it sees a single event (codex.md section 4)."""
    if body.startswith(b"\xef\xbb\xbf"):
        yield Violation("frame", "a byte order mark; expected none")
    if b"\r" in body.replace(b"\r\n", b""):
        yield Violation("frame", "a line that ends in CR alone; expected LF or CRLF")
    try:
        body.decode()
    except UnicodeDecodeError as error:
        yield Violation("frame", f"not UTF-8: {error.reason} at byte {error.start}")

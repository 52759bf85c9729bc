"""Delta scripts: what a parser said, as JSON lines.

    {"request": {"model": "tiny", "tools": [...]}}        optional, first
    {"reasoning": "Hm."}                                  deltas, see deltas.as_delta
    {"content": "Hi", "tool_calls": [...]}
    {"finish_reason": "stop", "usage": {...}}             or: {"error": {"message": "..."}}

A script that stops before its last line is an input that ended early.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from .errors import LocalProtocolError, RemoteProtocolError
from .stream import ResponseStream
from .wire import Events


class ScriptError(RemoteProtocolError):
    """A line that cannot be played. The transcript before it ended as failed."""


def play(lines: Iterable[bytes | str], **options: Any) -> Iterator[Events]:
    """The events of each line as it comes, and of the end.

    Args:
        lines: The script; blank lines are passed over.
        options: For ResponseStream; `request` is what a script without one has.

    At a line that is wrong the transcript fails, and when its last events have been taken
    ScriptError is raised.
    """
    stream: ResponseStream | None = None
    fault = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = _entry(line)
            if stream is None:
                request = entry.get("request", options.get("request"))
                stream = ResponseStream(**{**options, "request": request})
                if "request" in entry:
                    yield stream.start()
                    continue
            yield from _steps(stream, entry)
        except LocalProtocolError as error:
            fault = f"line {number}: {error}"
            break
    if stream is None:
        stream = ResponseStream(**{"request": None, **options})
    yield stream.close() if fault is None or stream.ended else stream.fail(fault)
    if fault is not None:
        raise ScriptError(fault)


def _steps(stream: ResponseStream, entry: Mapping[str, Any]) -> Iterator[Events]:
    if "request" in entry:
        raise LocalProtocolError("a second request; expected deltas or a finish_reason")
    yield stream.feed(entry)
    if entry.get("finish_reason") is not None:
        yield stream.finish(entry["finish_reason"], entry.get("usage"))
    elif entry.get("error") is not None:
        yield stream.fail(entry["error"], entry.get("usage"))


def _entry(line: bytes | str) -> Mapping[str, Any]:
    try:
        entry = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LocalProtocolError(f"not JSON: {error}") from error
    if not isinstance(entry, dict):
        raise LocalProtocolError(f"a JSON {type(entry).__name__}; expected an object")
    return entry

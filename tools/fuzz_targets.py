"""What is fuzzed: for each machine, what must hold whatever it is given.

A target takes bytes and raises nothing, unless something is wrong. Only the documented
exceptions are caught: RemoteProtocolError of what a peer sent, LocalProtocolError of what
the caller gave, InvalidRequest of a request.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec
from fuzz_choices import Choices

from responses_stream import (
    DONE,
    Event,
    LocalProtocolError,
    RemoteProtocolError,
    ResponseStream,
    SSEDecoder,
    TranscriptChecker,
    counted_ids,
    encode,
)
from responses_stream.chat.alignment import ChatAligner
from responses_stream.chat.body import read_json
from responses_stream.chat.chunks import read_chunk
from responses_stream.chat.failures import Failure
from responses_stream.chat.reader import ChatReader
from responses_stream.chat.request import ChatOptions, InvalidRequest, to_chat_request
from responses_stream.chat.whole import ChatFolder
from responses_stream.delta_script import ScriptError, play
from responses_stream.recorded import read
from responses_stream.state import TERMINALS

TOOLS = [
    {"type": "function", "name": "f", "parameters": {}},
    {"type": "custom", "name": "patch"},
    {
        "type": "namespace",
        "name": "agents",
        "tools": [{"type": "function", "name": "wait"}],
    },
]


def sse(data: bytes) -> None:
    """Server-sent events: however the bytes are cut, the events are the same.

    So is what is left of them, and whether they are too long; and an event that is written
    down again is read as the same.
    """
    events = _decoded([data])
    assert events == _decoded(_cut(data))
    limit = 1 + zlib.crc32(data) % 32
    assert _decoded([data], limit) == _decoded(_cut(data), limit)
    assert events is not None
    again = b"".join(map(_written, events[0]))
    found = SSEDecoder().feed(again)
    assert [(e.event, e.data) for e in found] == [(e.event, e.data) for e in events[0]]


def chunks(data: bytes) -> None:
    """The body of a chat server's answer: one clean transcript, however it is cut.

    The same for the aligned chat stream, which comes out as it is when it goes in again;
    and for the folded completion, which is JSON, or a failure.
    """
    with suppress(RemoteProtocolError):
        read_chunk(data)
    body = _responded([data])
    assert body == _responded(_cut(data))
    _judge(body)
    aligned, failed = _aligned([data])
    assert (aligned, failed) == _aligned(_cut(data))
    assert aligned.endswith(DONE)
    # Of an error's two names, type and code, the one that we know counts.
    assert failed or (aligned, False) == _aligned([aligned])
    folder = ChatFolder()
    for piece in (*_cut(data), None):
        assert (folder.close() if piece is None else folder.feed(piece)) == []
    whole = folder.completion()
    assert isinstance(whole, Failure) or isinstance(read_json(whole), dict)


def request(data: bytes) -> None:
    """A request: a chat request and a response, or InvalidRequest; itself unchanged."""
    asked = _asked(data)
    if asked is None:
        return
    before = repr(asked)
    numbers = Choices(data[::-1])
    options = ChatOptions(
        system_role=numbers.one_of(("system", "developer", "user")),
        late_system_role=numbers.one_of(("system", "developer", "user")),
        join_system=numbers.one_of((True, False)),
        join_roles=numbers.one_of((True, False)),
    )
    with suppress(InvalidRequest):
        msgspec.json.encode(to_chat_request(asked, options))
        stream = ResponseStream(asked, ids=counted_ids(), clock=lambda: 1.0)
        _encoded([*stream.start(), *stream.close()])
    assert repr(asked) == before


def checker(data: bytes) -> None:
    """Anybody's transcript, and a good one that something has happened to."""
    read(data)
    read(data, order="strict", starting_after=1)
    wires = list(_mangled(data))
    judge = TranscriptChecker(order="strict" if len(data) % 2 else "interleaved")
    found = [violation for wire in wires for violation in judge.feed(wire)]
    for violation in found + judge.close():
        assert violation.level in ("error", "warning")


def emit(data: bytes) -> None:
    """What a parser says, or a delta script: the transcript is clean."""
    events: list[Event] = []
    options: dict[str, Any] = {"ids": counted_ids(), "clock": lambda: 1.0}
    with suppress(ScriptError):
        for said in play(data.split(b"\n"), **options):
            events += said
    _judge(_encoded(events) + DONE)
    _judge(_encoded(_streamed(data)) + DONE)


MADE_IDS = re.compile(rb"(chatcmpl-|call_)[0-9a-f]{32}")
"""What the aligner makes up where a server has said none: never the same twice."""

TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (sse, chunks, request, checker, emit)
}


# What the targets do --------------------------------------------------------------------


def _cut(data: bytes) -> list[bytes]:
    """The same bytes in pieces; the same pieces for the same bytes."""
    chance = random.Random(zlib.crc32(data))
    if chance.random() < 0.25 and len(data) < 200:  # noqa: PLR2004
        return [data[at : at + 1] for at in range(len(data))]
    places = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(1, 6)))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


def _decoded(pieces: Iterable[bytes], limit: int = 1 << 26) -> tuple[Any, ...] | None:
    decoder = SSEDecoder(limit)
    try:
        events = [event for piece in pieces for event in decoder.feed(piece)]
    except RemoteProtocolError:
        return None
    return events, decoder.pending, decoder.retry


def _written(event: Any) -> bytes:
    lines = [f"event: {event.event}", *(f"data: {x}" for x in event.data.split("\n"))]
    return "\n".join([*lines, "", ""]).encode()


def _encoded(events: Iterable[Event]) -> bytes:
    return b"".join(map(encode, events))


def _judge(body: bytes) -> None:
    """The transcript must be clean, and end once."""
    recording = read(body)
    assert recording.count("error") == 0, recording.findings
    ends = [wire["type"] for wire in recording.events if wire["type"] in TERMINALS]
    assert len(ends) == 1, ends


def _responded(pieces: Iterable[bytes]) -> bytes:
    stream = ResponseStream(
        {"tools": TOOLS}, order="interleaved", ids=counted_ids(), clock=lambda: 1.0
    )
    reader = ChatReader(stream)
    events = [event for piece in pieces for event in reader.feed(piece)]
    return _encoded([*events, *reader.close()]) + DONE


def _aligned(pieces: Iterable[bytes]) -> tuple[bytes, bool]:
    """The aligned stream, and whether it failed."""
    aligner = ChatAligner(wants_usage=True)
    frames = [frame for piece in pieces for frame in aligner.feed(piece)]
    body = b"".join(frames + aligner.close())
    return MADE_IDS.sub(rb"\1", body), aligner.failure is not None


def _asked(data: bytes) -> dict[str, Any] | None:
    """The input as a JSON object: as it stands there, or as choices."""
    if not data.startswith(b"{"):
        data = json.dumps(Choices(data).object()).encode()
    try:
        asked = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return asked if isinstance(asked, dict) else None


def _streamed(data: bytes) -> list[Event]:
    """What comes of deltas, of a keep-alive now and then, and of an end."""
    choices = Choices(data)
    stream = ResponseStream(
        {"tools": TOOLS},
        order=choices.one_of(("interleaved", "strict")),
        dialect=choices.one_of(("openai", "openresponses")),
        reasoning=choices.one_of(("text", "summary", "both")),
        ids=counted_ids(),
        clock=lambda: 1.0,
    )
    ends = choices.number(5)
    events: list[Event] = []
    for number, delta in enumerate(choices.deltas()):
        with suppress(LocalProtocolError):
            events += stream.feed(delta)
        if number % 8 == 7:  # noqa: PLR2004
            events += stream.keep_alive()
    match ends:
        case 0:
            events += stream.finish("stop", {"prompt_tokens": 1})
        case 1:
            events += stream.finish("length")
        case 2:
            events += stream.finish("content_filter")
        case 3:
            events += stream.fail({"code": "slow_down", "message": "later"})
    return [*events, *stream.close()]


def _mangled(data: bytes) -> Iterator[Any]:
    """The events of a good transcript: some left out, repeated, or altered."""
    half = len(data) // 2
    choices = Choices(data[half:])
    for event in _streamed(data[:half]):
        wire = msgspec.json.decode(msgspec.json.encode(event.to_dict()))
        match choices.number(8):
            case 1:
                continue
            case 2:
                yield wire
            case 3:
                wire[choices.one_of([*wire])] = choices.value()
            case 4:
                wire |= choices.object()
            case 5:
                inner = choices.one_of([*wire.values()])
                if isinstance(inner, dict) and inner:
                    inner[choices.one_of([*inner])] = choices.value()
            case 6:
                yield choices.value()
        yield wire

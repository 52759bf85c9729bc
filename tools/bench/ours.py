"""Our own ways from a delta to bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec

from responses_stream import (
    DONE,
    Delta,
    ResponseStream,
    encode,
)
from responses_stream.chat.failures import Failure
from responses_stream.gateway.answers import EventAnswer
from responses_stream.gateway.exchange import Exchange
from responses_stream.gateway.limits import OpenStreams
from responses_stream.gateway.settings import Settings
from responses_stream.gateway.upstream import Question
from responses_stream.stream import FrameStream

from .loop import run
from .workload import REQUEST

USAGE = {"prompt_tokens": 10, "completion_tokens": 2_002, "total_tokens": 2_012}
REASON = "tool_calls"


def stream() -> ResponseStream:
    """A stream as the gateway and the plugin make them."""
    return ResponseStream(REQUEST, order="interleaved")


def typed(deltas: Sequence[Delta]) -> list[bytes]:
    """`feed` and `encode`, as a library's user calls them."""
    response = stream()
    frames: list[bytes] = []
    for delta in deltas:
        for event in response.feed(delta):
            frames.append(encode(event))  # noqa: PERF401  (this is what is measured)
    frames += map(encode, response.finish(REASON, USAGE))
    frames.append(DONE)
    return frames


def one_generator(deltas: Sequence[Delta]) -> list[bytes]:
    """Frames from one async generator, as an ASGI framework wants them."""

    async def said() -> AsyncIterator[Delta]:
        for delta in deltas:
            yield delta

    async def writes() -> AsyncIterator[bytes]:
        response = FrameStream(REQUEST, order="interleaved")
        async for delta in said():
            if frames := response.feed(delta):
                yield b"".join(frames)
        yield b"".join((*response.finish(REASON, USAGE), DONE))

    async def read() -> list[bytes]:
        return [frames async for frames in writes()]

    return run(read())


# The gateway ----------------------------------------------------------------------------


class Parsed:
    """A Machine of the gateway whose chat server speaks in deltas, not in bytes."""

    def __init__(self, response: FrameStream) -> None:
        self._response = response
        self.feed = response.feed
        self.finished = False
        self.failure: Failure | None = None

    @property
    def ended(self) -> bool:
        """See Machine."""
        return self._response.ended

    def close(self) -> tuple[bytes, ...]:
        """See Machine."""
        return self._response.finish(REASON, USAGE)

    def fail(self, failure: Failure) -> tuple[bytes, ...]:
        """See Machine."""
        return self._response.fail(failure.in_stream())


class Replayed:
    """A chat server whose answer is all there: an Upstream and its Reply."""

    def __init__(self, answer: Iterable[Any]) -> None:
        self._answer = iter(answer)

    @asynccontextmanager
    async def chat(self, _body: bytes, _headers: Mapping[str, str]) -> AsyncIterator[Any]:
        """See Upstream."""
        yield self

    async def read(self) -> Any:
        """See Reply."""
        return next(self._answer, b"")

    def finish(self) -> None:
        """See Reply."""


class Unsent(EventAnswer):
    """An answer that keeps its frames: to send them is not in vLLM's figure either."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.frames: list[bytes] = []

    async def say(self, said: Sequence[bytes], *, last: bool = False) -> None:
        """See EventAnswer."""
        self.frames.append(b"".join(said) + self.END if last else b"".join(said))


class Client:
    """What an ASGI server is to its application."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []

    async def send(self, message: Mapping[str, Any]) -> None:
        """Takes the body."""
        if message["type"] == "http.response.body":
            self.writes.append(message["body"])


A = TypeVar("A", bound=EventAnswer)


def _gateway(answer: Iterable[Any], kind: type[A]) -> A:
    """The gateway's answer to a request; the chat server's is there already."""
    response = FrameStream(REQUEST, order="interleaved")
    exchange, streams = Exchange("req_1", "/v1/responses"), OpenStreams(0, 0)
    exchange.stream = response
    question = Question(Replayed(answer), b"", {}, exchange, streams)  # type: ignore[arg-type]
    return kind(question, response, Settings())


def gateway(deltas: Sequence[Delta]) -> list[bytes]:
    """What the gateway runs between its parser and its sender."""

    async def answer() -> list[bytes]:
        gateway = _gateway(deltas, Unsent)
        gateway.machine = Parsed(gateway.stream)
        await gateway.answer(Client().send)
        return gateway.frames

    return run(answer())


def gateway_asgi(deltas: Sequence[Delta]) -> list[bytes]:
    """The same up to the ASGI server."""

    async def answer() -> list[bytes]:
        gateway, client = _gateway(deltas, EventAnswer), Client()
        gateway.machine = Parsed(gateway.stream)
        await gateway.answer(client.send)
        return client.writes

    return run(answer())


def gateway_from_bytes(chunks: Sequence[bytes]) -> list[bytes]:
    """The same from the bytes of the chat server, each chunk a read."""

    async def answer() -> list[bytes]:
        client = Client()
        await _gateway(chunks, EventAnswer).answer(client.send)
        return client.writes

    return run(answer())


def chat_chunks(deltas: Iterable[Delta]) -> list[bytes]:
    """The deltas as a chat server sends them, each a server-sent event."""
    chunks = [_chunk([{"index": 0, "delta": _chat(delta)}]) for delta in deltas]
    chunks.append(_chunk([{"index": 0, "delta": {}, "finish_reason": REASON}]))
    chunks.append(_chunk([], USAGE))
    chunks.append(b"data: [DONE]\n\n")
    return chunks


def _chunk(choices: list[dict[str, Any]], usage: Mapping[str, int] | None = None) -> bytes:
    """As vLLM writes it."""
    whole = {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion.chunk",
        "created": 1_795_215_516,
        "model": REQUEST["model"],
        "choices": [
            {"logprobs": None, "finish_reason": None, **choice} for choice in choices
        ],
        "usage": usage,
    }
    return b"data: %b\n\n" % msgspec.json.encode(whole)


def _chat(delta: Delta) -> dict[str, Any]:
    if delta.reasoning:
        return {"reasoning": delta.reasoning}
    if delta.content:
        return {"content": delta.content}
    [call] = delta.tool_calls
    if call.name:
        function = {"name": call.name, "arguments": ""}
        begun = {"id": call.id, "type": "function", "index": call.index}
        return {"tool_calls": [begun | {"function": function}]}
    function = {"arguments": call.arguments}
    return {"tool_calls": [{"index": call.index, "function": function}]}

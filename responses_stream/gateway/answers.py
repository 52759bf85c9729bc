"""The ways to answer: a response as events or whole, a chat stream aligned.

All of them ask the chat server and run a machine over what it says, to the end. They
differ in what they send of it, and in how long a failure can still be told by an HTTP
status: until the first byte is out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, Generic, Protocol, TypeVar

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from responses_stream.chat.alignment import ChatAligner
from responses_stream.chat.failures import Failure, read_failure
from responses_stream.chat.reader import ChatReader
from responses_stream.chat.whole import ChatFolder
from responses_stream.sse import DONE, encode, encode_comment
from responses_stream.stream import ResponseStream
from responses_stream.wire import Event

from .hang_up import unless_gone
from .refusals import BROKEN, Refused, error_response
from .settings import Settings
from .upstream import Question, Reply

EVENT_STREAM: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
"""Without the last two, nginx and CDNs hold a stream back (clients.md 5.1, 41)."""

logger = logging.getLogger(__name__)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Answer:
    """An ASGI application that answers one request."""

    def __init__(self, question: Question, settings: Settings) -> None:
        self.question = question
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, unless the client hangs up: that ends the chat request too."""

        async def work() -> None:
            response = await self.answer(send)
            if response is not None:
                await response(scope, receive, send)

        await unless_gone(work(), receive)

    async def answer(self, send: Send) -> Response | None:
        """Asks the chat server; returns the response, unless it is out already."""
        raise NotImplementedError

    def refusal(self, failure: Failure) -> Response:
        """The response that tells of a failure."""
        return error_response(failure, self.settings.dialect, self.question.id)

    def whole(self, body: bytes) -> Response:
        """The response that holds one JSON document."""
        headers = {"x-request-id": self.question.id}
        return Response(body, headers=headers, media_type="application/json")


class Machine(Protocol[T_co]):
    """What turns a chat server's answer into ours."""

    @property
    def finished(self) -> bool:
        """Whether all that matters has come."""

    @property
    def ended(self) -> bool:
        """Whether nothing can follow any more."""

    def feed(self, data: bytes) -> Sequence[T_co]:
        """What follows from more of the body."""

    def close(self) -> Sequence[T_co]:
        """What follows from its end."""

    def fail(self, failure: Failure) -> Sequence[T_co]:
        """What follows from a failure on the way."""


class RelayedAnswer(Answer, Generic[T]):
    """Answers with what a machine makes of the chat server's answer."""

    def __init__(self, question: Question, machine: Machine[T], settings: Settings) -> None:
        super().__init__(question, settings)
        self.machine = machine
        self._clock = asyncio.get_running_loop().time

    async def begin(self) -> None:
        """The chat server has accepted the request."""

    async def say(self, said: Sequence[T]) -> None:
        """Something has followed from what it said."""

    async def relay(self) -> None:
        """Asks, and runs the machine to its end. Raises Refused if the asking fails."""
        machine = self.machine
        async with self.question.ask() as reply:
            await self.begin()
            while not machine.finished and (data := await reply.read()):
                await self.say(machine.feed(data))
            until = self._clock() + self.settings.linger
            while not machine.ended and (data := await self._linger(reply, until)):
                await self.say(machine.feed(data))
            await self.say(machine.close())
            if machine.finished:
                reply.finish()

    async def _linger(self, reply: Reply, until: float) -> bytes:
        """What else comes: usage and [DONE] are welcome, but not worth a failure."""
        with suppress(TimeoutError, Refused):
            async with asyncio.timeout_at(until):
                return await reply.read()
        return b""


class ChatWholeAnswer(RelayedAnswer[bytes]):
    """Answers POST /v1/chat/completions with the completion of the chat server."""

    def __init__(self, question: Question, settings: Settings) -> None:
        self.folder = ChatFolder()
        super().__init__(question, self.folder, settings)

    async def answer(self, send: Send) -> Response:  # noqa: ARG002  (returned whole)
        """See Answer."""
        try:
            await self.relay()
        except Refused as refused:
            return self.refusal(refused.failure)
        whole = self.folder.completion()
        return self.refusal(whole) if isinstance(whole, Failure) else self.whole(whole)


class WholeAnswer(RelayedAnswer[Event]):
    """Answers POST /v1/responses with the finished response."""

    def __init__(
        self, question: Question, stream: ResponseStream, settings: Settings
    ) -> None:
        self.stream = stream
        self.reader = ChatReader(stream)
        super().__init__(question, self.reader, settings)

    async def answer(self, send: Send) -> Response:  # noqa: ARG002  (returned whole)
        """See Answer."""
        try:
            await self.relay()
        except Refused as refused:
            return self.refusal(refused.failure)
        response = self.stream.response
        if response["status"] == "failed":
            failure = self.reader.failure or read_failure(response["error"])
            return self.refusal(failure)
        return self.whole(msgspec.json.encode(response))


class StreamedAnswer(RelayedAnswer[T]):
    """Answers with server-sent events, as they come."""

    def __init__(self, question: Question, machine: Machine[T], settings: Settings) -> None:
        super().__init__(question, machine, settings)
        self.begun = False
        """Whether our headers are out, and with them the status."""
        self._send: Send

    def encode(self, said: Iterable[T]) -> bytes:
        """The frames of what was said, the end of the body included."""
        raise NotImplementedError

    async def answer(self, send: Send) -> Response | None:
        """See Answer."""
        self._send = send
        try:
            await self.relay()
        except Refused as refused:
            if not self.begun:
                return self.refusal(refused.failure)
            await self.say(self.machine.fail(refused.failure))
        except Exception:
            # A bug, but the client still gets an end to its stream.
            logger.exception("request %s broke the gateway", self.question.id)
            if not self.begun:
                return self.refusal(BROKEN)
            await self.say(self.machine.fail(BROKEN))
        return None

    async def begin(self) -> None:
        """See Answer. Sends our headers, unless they are out."""
        if self.begun:
            return
        self.begun = True
        headers = [*EVENT_STREAM, (b"x-request-id", self.question.id.encode())]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})

    async def say(self, said: Sequence[T]) -> None:
        """See Answer. What is there together leaves in one write."""
        if said:
            await self.write(self.encode(said))

    async def write(self, frames: bytes) -> None:
        """Sends frames; the body ends with the last of them."""
        more = not self.machine.ended
        await self._send({"type": "http.response.body", "body": frames, "more_body": more})


class ChatStreamAnswer(StreamedAnswer[bytes]):
    """Answers POST /v1/chat/completions with the stream of the chat server, aligned."""

    def __init__(
        self, question: Question, request: dict[str, Any], settings: Settings
    ) -> None:
        options = request.get("stream_options")
        options = options if isinstance(options, dict) else {}
        aligner = ChatAligner(
            wants_usage=options.get("include_usage") is True,
            wants_usage_always=options.get("continuous_usage_stats") is True,
        )
        super().__init__(question, aligner, settings)

    def encode(self, said: Iterable[bytes]) -> bytes:
        """See StreamedAnswer."""
        return b"".join(said)


class EventAnswer(StreamedAnswer[Event]):
    """Answers POST /v1/responses with events, and keeps a silent line alive."""

    def __init__(
        self, question: Question, stream: ResponseStream, settings: Settings
    ) -> None:
        super().__init__(question, ChatReader(stream), settings)
        self.stream = stream
        self._sent_at = self._clock()
        self._waiting = 0
        """How many writes wait for the client to read."""

    async def answer(self, send: Send) -> Response | None:
        """See Answer."""
        pulse = asyncio.ensure_future(self._keep_alive())
        try:
            return await super().answer(send)
        finally:
            pulse.cancel()

    async def begin(self) -> None:
        """See Answer. Sends our headers and the first events, unless they are out."""
        await super().begin()
        await self.say(self.stream.start())

    def encode(self, said: Iterable[Event]) -> bytes:
        """See StreamedAnswer."""
        frames = b"".join(map(encode, said))
        return frames + DONE if self.machine.ended else frames

    async def write(self, frames: bytes) -> None:
        """See StreamedAnswer."""
        self._sent_at = self._clock()
        self._waiting += 1
        await super().write(frames)
        self._waiting -= 1

    async def _keep_alive(self) -> None:
        """Says something whenever nothing was said for a while."""
        interval = self.settings.keep_alive
        if self.settings.keep_alive_mode == "none" or interval <= 0:
            return
        while not self.machine.ended:
            left = self._sent_at + interval - self._clock()
            if left > 0:
                await asyncio.sleep(left)
            elif not self.begun:
                await self.begin()
            elif self._waiting:
                # A client that does not read is not waiting for us.
                await asyncio.sleep(interval)
            else:
                await self._beat()

    async def _beat(self) -> None:
        events: list[Event] = []
        if self.settings.keep_alive_mode == "event":
            events = self.stream.keep_alive()
        # Open Responses knows no second response.in_progress.
        frames = self.encode(events) if events else encode_comment("keep-alive")
        await self.write(frames)

"""The ways to answer: here a response, as events or whole; see chat_answers.py.

All of them ask the chat server and run a machine over what it says, to the end. They
differ in what they send of it, and in how long a failure can still be told by an HTTP
status: until the first byte is out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Final, Generic, Protocol, TypeVar

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from responses_stream.chat.failures import Failure, read_failure
from responses_stream.chat.reader import ChatReader
from responses_stream.pulse import UNBUFFERED, WRITING, Pulse
from responses_stream.sse import DONE, encode_comment
from responses_stream.stream import FrameStream, ResponseStream
from responses_stream.wire import Event

from .hang_up import unless_gone
from .refusals import BROKEN, Refused, error_response
from .settings import Settings
from .upstream import Question, Reply

EVENT_STREAM: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    *((name.encode(), value.encode()) for name, value in UNBUFFERED.items()),
)

logger = logging.getLogger(__name__)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Answer:
    """An ASGI application that answers one request."""

    def __init__(self, question: Question, settings: Settings) -> None:
        self.question = question
        self.exchange = question.exchange
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, unless the client hangs up: that ends the chat request too."""

        async def work() -> None:
            response = await self.answer(send)
            if response is not None:
                await response(scope, receive, send)

        self.exchange.gone = not await unless_gone(work(), receive)

    async def answer(self, send: Send) -> Response | None:
        """Asks the chat server; returns the response, unless it is out already."""
        raise NotImplementedError

    def refusal(self, failure: Failure) -> Response:
        """The response that tells of a failure."""
        self.exchange.failure = failure
        return error_response(failure, self.settings.dialect, self.exchange.id)

    def refuse(self, refused: Refused) -> Response:
        """The same for one that kept the chat server from answering."""
        self.exchange.upstream_error = refused.upstream_error
        return self.refusal(refused.failure)

    def whole(self, body: bytes) -> Response:
        """The response that holds one JSON document."""
        headers = {"x-request-id": self.exchange.id}
        return Response(body, headers=headers, media_type="application/json")


class Machine(Protocol[T_co]):
    """What turns a chat server's answer into ours."""

    @property
    def finished(self) -> bool:
        """Whether all that matters has come."""

    @property
    def failure(self) -> Failure | None:
        """Why the answer is none, if it is none."""

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

    async def begin(self) -> None:
        """The chat server has accepted the request."""

    async def say(self, said: Sequence[T], *, last: bool = False) -> None:
        """Something has followed from what it said; nothing more will if `last`."""

    async def relay(self) -> None:
        """Asks, and runs the machine to its end.

        Raises Refused if the asking fails, or if it takes too long.
        """
        machine, feed, say = self.machine, self.machine.feed, self.say
        async with self.question.streams.timed(), self.question.ask() as reply:
            await self.begin()
            read = reply.read
            while data := await read():
                said = feed(data)
                if machine.finished:
                    await self._say_rest(said)
                    await self._linger(reply)
                    break
                if said:
                    await say(said)
            await self._say_rest(machine.close())
            if machine.failure is None:
                reply.finish()
            else:
                self.exchange.failure = machine.failure
                self.exchange.upstream_error = "answer"

    async def _say_rest(self, said: Sequence[T]) -> None:
        if said:
            await self.say(said, last=self.machine.ended)

    async def _linger(self, reply: Reply) -> None:
        """What else comes: usage and [DONE] are welcome, but not worth a failure."""
        until = asyncio.get_running_loop().time() + self.settings.linger
        while not self.machine.ended and (data := await _read_until(until, reply)):
            await self._say_rest(self.machine.feed(data))


async def _read_until(until: float, reply: Reply) -> bytes:
    """More of the body; b"" if it takes too long or breaks off."""
    with suppress(TimeoutError, Refused):
        async with asyncio.timeout_at(until):
            return await reply.read()
    return b""


class WholeAnswer(RelayedAnswer[Event]):
    """Answers POST /v1/responses with the finished response."""

    def __init__(
        self, question: Question, stream: ResponseStream, settings: Settings
    ) -> None:
        self.stream = stream
        self.reader = ChatReader(stream, settings.answer)
        super().__init__(question, self.reader, settings)

    async def answer(self, send: Send) -> Response:  # noqa: ARG002  (returned whole)
        """See Answer."""
        try:
            await self.relay()
        except Refused as refused:
            return self.refuse(refused)
        response = self.stream.response
        if response["status"] == "failed":
            failure = self.reader.failure or read_failure(response["error"])
            return self.refusal(failure)
        return self.whole(msgspec.json.encode(response))


class StreamedAnswer(RelayedAnswer[bytes]):
    """Answers with server-sent events, as they come."""

    END = b""
    """What the body ends with, behind the last frame."""

    def __init__(
        self, question: Question, machine: Machine[bytes], settings: Settings
    ) -> None:
        super().__init__(question, machine, settings)
        self.pulse = Pulse(settings.keep_alive)
        self._unsent = b""
        """Frames that were on their way when the time was up."""
        self._send: Send

    async def answer(self, send: Send) -> Response | None:
        """See Answer."""
        self._send = send
        try:
            await self.relay()
        except Refused as refused:
            if not self.exchange.begun:
                return self.refuse(refused)
            await self.break_off(refused)
        except Exception:
            # A bug, but the client still gets an end to its stream.
            logger.exception("the gateway broke")
            if not self.exchange.begun:
                return self.refusal(BROKEN)
            self.exchange.failure = BROKEN
            await self.say(self.machine.fail(BROKEN), last=True)
        return None

    async def begin(self) -> None:
        """See Answer. Sends our headers, unless they are out."""
        if self.exchange.begun:
            return
        self.exchange.begun = True
        headers = [*EVENT_STREAM, (b"x-request-id", self.exchange.id.encode())]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})

    async def say(self, said: Sequence[bytes], *, last: bool = False) -> None:
        """See Answer. What is there together leaves in one write."""
        if self.exchange.first_delta_seconds is None:
            self.exchange.note_first_delta()
        frames = b"".join(said)
        if self._unsent:
            frames, self._unsent = self._unsent + frames, b""
        body = frames + self.END if last else frames
        pulse, send = self.pulse, self._send
        pulse.written_at = WRITING
        try:
            await send({"type": "http.response.body", "body": body, "more_body": not last})
        except asyncio.CancelledError:
            # Nothing of it is out: a server waits before it writes, not behind it.
            self._unsent = frames
            raise
        pulse.written_at = monotonic()

    async def break_off(self, refused: Refused) -> None:
        """Tells of a failure; behind the finish reason it is none."""
        machine = self.machine
        if machine.finished:
            said = machine.close()
        else:
            self.exchange.failure = refused.failure
            self.exchange.upstream_error = refused.upstream_error
            said = machine.fail(refused.failure)
        if said or self._unsent:
            await self.say(said, last=True)


class EventAnswer(StreamedAnswer):
    """Answers POST /v1/responses with events, and keeps a silent line alive."""

    END = DONE

    def __init__(self, question: Question, stream: FrameStream, settings: Settings) -> None:
        super().__init__(question, ChatReader(stream, settings.answer), settings)
        self.stream = stream

    async def answer(self, send: Send) -> Response | None:
        """See Answer."""
        if self.settings.keep_alive_mode == "none" or self.settings.keep_alive <= 0:
            return await super().answer(send)
        watch = asyncio.ensure_future(self.pulse.watch(self._beat))
        try:
            return await super().answer(send)
        finally:
            watch.cancel()

    async def begin(self) -> None:
        """See Answer. Sends our headers and the first events, unless they are out."""
        await super().begin()
        if said := self.stream.start():
            await self.say(said)

    async def _beat(self) -> bool:
        """Breaks the silence. Tells whether the body goes on."""
        if self.machine.ended:
            return False
        if not self.exchange.begun:
            await self.begin()
            return True
        frames: tuple[bytes, ...] = ()
        if self.settings.keep_alive_mode == "event":
            frames = self.stream.keep_alive()
        # Open Responses knows no second response.in_progress.
        await self.say(frames or (encode_comment("keep-alive"),))
        return True

"""A chat-completions answer, as the response that it tells.

`ChatReader` is fed the body of POST /v1/chat/completions as it comes and drives a
`ResponseStream`. Usage may come before or after the finish reason or never, and `[DONE]`
may be missing. An answer without a finish reason is a failure, never an end: it was cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar

from responses_stream.deltas import Delta
from responses_stream.drafts import Drafts
from responses_stream.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from responses_stream.finish_reasons import FAILED
from responses_stream.usage import Usage

from .body import DONE, ChatBody, ChatText, read_json
from .chunks import Said, read_chunk
from .failures import Failure, read_failure
from .limits import DEFAULTS, AnswerLimits

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Response(Protocol[T_co]):
    """What a reader drives: a ResponseStream."""

    @property
    def ended(self) -> bool:
        """Whether the terminal event is out."""

    @property
    def drafts(self) -> Drafts:
        """See ResponseStream.drafts."""

    def feed(self, said: Delta, /) -> tuple[T_co, ...]:
        """See ResponseStream.feed."""

    def finish(self, reason: str, usage: Usage | None, /) -> tuple[T_co, ...]:
        """See ResponseStream.finish."""

    def fail(self, error: Mapping[str, Any], usage: Usage | None, /) -> tuple[T_co, ...]:
        """See ResponseStream.fail."""


class ChatReader(Generic[T]):
    """Feeds `response` what a chat server answers.

    Its methods return the events that follow and raise nothing: what is not to be
    understood fails the response. Once that has ended they return none.
    """

    def __init__(self, response: Response[T], limits: AnswerLimits = DEFAULTS) -> None:
        self.failure: Failure | None = None
        """Why the response failed, if it did."""
        self._response = response
        self._limits = limits
        self._body = ChatBody(limits)
        self._reason: str | None = None
        self._usage: Usage | None = None

    @property
    def ended(self) -> bool:
        """Whether the terminal event is out."""
        return self._response.ended

    @property
    def finished(self) -> bool:
        """Whether all that matters has come: usage may still follow, and `[DONE]`."""
        return self._reason is not None or self.failure is not None

    def feed(self, data: bytes) -> tuple[T, ...]:
        """The events that follow from more of the body."""
        try:
            texts = self._body.feed(data)
        except ProtocolError as error:
            return self._misread(error)
        if len(texts) == 1:
            events = self._take(texts[0])
        else:
            events = tuple(event for text in texts for event in self._take(text))
        # No more can wait than has come.
        if (
            self._body.received > self._limits.max_held
            or self._response.drafts.calls_begun > self._limits.max_calls
        ):
            events += self._check_limits()
        return events

    def close(self) -> tuple[T, ...]:
        """The body has ended, and so has the response."""
        try:
            texts = self._body.close()
        except ProtocolError as error:
            return self._misread(error) + self._end()
        events = [event for text in texts for event in self._take(text)]
        return (*events, *self._end())

    def fail(self, failure: Failure) -> tuple[T, ...]:
        """Something broke on the way, and so has the response."""
        if self.ended:
            return ()
        self.failure = failure
        return self._response.fail(failure.in_stream(), self._usage)

    def _check_limits(self) -> tuple[T, ...]:
        if self.ended:
            return ()
        drafts, limits = self._response.drafts, self._limits
        if drafts.held > limits.max_held:
            message = (
                f"the model server's calls make {drafts.held} characters wait;"
                f" expected at most {limits.max_held}"
            )
        elif drafts.calls_begun > limits.max_calls:
            message = f"the model began more than {limits.max_calls} calls"
        else:
            return ()
        return self.fail(read_failure(message))

    def _take(self, text: ChatText) -> tuple[T, ...]:
        if text.data == DONE:
            return self._end()
        if text.event == "error":
            return self.fail(read_failure(_json_or_text(text.data)))
        try:
            return self._say(read_chunk(text.data))
        except ProtocolError as error:
            return self._misread(error)

    def _say(self, said: Said | Failure) -> tuple[T, ...]:
        if isinstance(said, Failure):
            return self.fail(said)
        if said.usage is not None:
            self._usage = _usage(said.usage) or self._usage
        if said.finish_reason is not None:
            self._reason = said.finish_reason
        events = () if said.delta is None else self._response.feed(said.delta)
        if not said.has_choices and self.finished:
            events += self._end()
        return events

    def _misread(self, error: ProtocolError) -> tuple[T, ...]:
        # Behind the finish nothing matters that much.
        return () if self.finished else self.fail(read_failure(str(error)))

    def _end(self) -> tuple[T, ...]:
        if self.ended:
            return ()
        if self._reason is None:
            message = "the model server's stream ended without a finish reason"
            return self.fail(read_failure(message))
        if self._reason in FAILED:
            message = f"the model server ended with {self._reason!r}"
            return self.fail(read_failure(message))
        return self._response.finish(self._reason, self._usage)


def _usage(said: Mapping[str, Any]) -> Usage | None:
    """The counters, if they are any: an answer is not worth less without them."""
    try:
        return Usage.read(said)
    except LocalProtocolError:
        return None


def _json_or_text(data: str | bytes) -> object:
    try:
        return read_json(data)
    except RemoteProtocolError:
        return data if isinstance(data, str) else data.decode(errors="replace")

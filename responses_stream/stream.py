"""Parser deltas in, one transcript out.

`ResponseStream` is a machine without I/O: each of its methods returns the events that
follow, in order. Whatever is said, it does three things: close what is open and is not
meant, open what is, append. What may come when is decided by the tables of state.py; how
each kind is written, by the rows of kinds.py; this file knows how to wait.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, ClassVar, Final, TypeVar

from .calls import CallIndex, GrowingCall, call_maker
from .deltas import Delta, ToolCallDelta
from .drafts import Drafts
from .errors import LocalProtocolError
from .finish_reasons import FAILED, INCOMPLETE, REASONS
from .forms import EVENTS, FRAMES, Form
from .growing import GrowingMessage, GrowingReasoning, GrowingText
from .growing_parts import Annotations, Logprobs
from .ids import Clock, Ids, random_ids
from .items import Status
from .kinds import DIALECTS, NOTHING, TEXT_PARTS, Dialect, PartKind, ReasoningAs
from .state import ORDERS, START, STRICT, Machine, Order, Speech, is_phantom
from .tail import ShortWay
from .transcript import SERVER_ERROR, Transcript, read_error
from .usage import Usage
from .wire import Event

EVERYTHING: Final = len(STRICT[START])
"""How many exits a row has that refuses nothing."""


T = TypeVar("T")


class BaseStream(ShortWay[T]):
    """One response, from its first event to its last, in one form.

    Args:
        request: The request's JSON object. `model`, `tools` and all else that a response
            echoes is taken from it, also `id` and `created_at` if they are there.
        order: `strict` allows reasoning, then text, then calls, once each;
            `interleaved` lets each come again as a new item.
        dialect: `openai`, or `openresponses` for its names where the two differ, or
            `codex` for what that client wants of OpenAI's: refusals as text, and no done
            event for an item that a failure or a limit cut short.
        reasoning: Whether thoughts go out as they are, as a summary, or as both.
        ids: Makes ids; `counted_ids()` makes a stream that can be repeated.
        clock: Tells the time, in seconds since the epoch.

    Every method that returns events may be called at any time and raises nothing but
    LocalProtocolError, for what is not legal now. Nothing was emitted then, and the stream
    goes on as if the call had not been made.
    """

    form: ClassVar[Form[Any]]
    """What each event is given out as, a T."""

    def __init__(  # noqa: PLR0913  (each is a choice of its own)
        self,
        request: Mapping[str, Any] | None = None,
        *,
        order: Order = "strict",
        dialect: Dialect = "openai",
        reasoning: ReasoningAs = "text",
        ids: Ids = random_ids,
        clock: Clock = time.time,
    ) -> None:
        super().__init__()
        request = {} if request is None else request
        if not isinstance(request, Mapping):
            raise LocalProtocolError(
                f"request is {type(request).__name__}; expected a mapping"
            )
        self._transcript: Transcript[T] = Transcript(
            self.form, request, dialect, ids, clock
        )
        self._order = Machine(ORDERS[order], LocalProtocolError)
        self._rules = DIALECTS[dialect]
        self._reasoning = self._rules.reasoning_parts(reasoning)
        self.drafts = Drafts()
        """What was said and no event has told of yet."""
        make = call_maker(request, self._rules.call, lambda: ids("call"))
        # Not a method of ours: a stream is to go with its last reference.
        add = self.drafts.add_call
        self._calls = CallIndex(lambda: add(make()))

    @property
    def response(self) -> dict[str, Any]:
        """The response object of the last event about the response.

        Its `output` holds the item values of items.py, the very ones that were streamed.
        """
        return self._transcript.response

    @property
    def ended(self) -> bool:
        """Whether the terminal event is out."""
        return self._transcript.ended

    @property
    def has_output(self) -> bool:
        """Whether an item is out."""
        return self._transcript.has_output

    @property
    def inside_call(self) -> bool:
        """Whether the last thing said is a call whose JSON is not complete."""
        last = self.drafts.last or self._transcript.open
        return last is not None and last.cut

    @property
    def counts(self) -> dict[type[Event], int]:
        """How many events of each type were made."""
        return self._transcript.counts

    def start(self) -> tuple[T, ...]:
        """`response.created` and `response.in_progress`, unless they are out already.

        Every other method starts the stream too; call this to start it before there is
        anything to say.
        """
        self._transcript.start()
        return self._transcript.drain()

    def keep_alive(self) -> tuple[T, ...]:
        """One more `response.in_progress`, for a silent line.

        Nothing once the response has ended, and nothing in the Open Responses dialect,
        whose checker knows no second one: send a comment there.
        """
        self._transcript.keep_alive()
        return self._transcript.drain()

    def _feed(self, delta: Delta) -> tuple[T, ...]:
        """The long way, for a delta that says anything new."""
        if len(self._order.exits) < EVERYTHING or delta.tool_calls:
            self._check(delta)
        if self._order.state is START:
            self._transcript.start()
        if delta.reasoning:
            self._text("reasoning", self._reasoning, delta.reasoning)
        known = (delta.logprobs, delta.annotations)
        if delta.content or any(known):
            self._text("output_text", TEXT_PARTS, delta.content, *known)
        if delta.refusal:
            self._text("output_text", self._rules.refused, delta.refusal)
        for call_delta in delta.tool_calls:
            self._call(call_delta)
        if self.drafts:
            self._advance()
        self._find_tail()
        return self._transcript.drain()

    def finish(
        self, reason: str, usage: Usage | Mapping[str, Any] | None = None
    ) -> tuple[T, ...]:
        """The model is done; what is still held comes out, then the terminal event.

        Args:
            reason: A chat completion's `finish_reason`: `stop`, `tool_calls` and
                `function_call` complete the response, `length` and `content_filter` leave
                it and its open item incomplete, `abort` and `error` fail it.
            usage: See Usage.read. Unknown counters of a response that did not fail are 0.
        """
        if reason not in REASONS:
            raise LocalProtocolError(
                f"finish reason is {reason!r}; expected {', '.join(REASONS[:-1])} or"
                f" {REASONS[-1]}"
            )
        counted = Usage.read(usage)
        if reason in FAILED:
            return self._fail(
                SERVER_ERROR, f"the model server ended with {reason!r}", counted
            )
        self._order.advance("finish")
        if reason in INCOMPLETE:
            self._settle("incomplete", self._rules.left_open_when_cut)
            self._transcript.cut(INCOMPLETE[reason], counted)
            return self._transcript.drain()
        self._settle("completed")
        if not self._transcript.has_output and (unsaid := self.drafts.unsaid()):
            # The model meant to act and said nothing else: no answer would be a lie.
            message = f"the model called a tool without naming it: {unsaid!r}"
            self._transcript.fail(SERVER_ERROR, message, counted)
        else:
            self._transcript.complete(counted)
        return self._transcript.drain()

    def fail(
        self,
        error: BaseException | Mapping[str, Any] | str,
        usage: Usage | Mapping[str, Any] | None = None,
    ) -> tuple[T, ...]:
        """Something broke: the open item becomes incomplete, the response failed.

        Args:
            error: An exception, a message, or a mapping with `message` and `code`.
                Without a code it is `server_error`.
            usage: See Usage.read.
        """
        return self._fail(*read_error(error), Usage.read(usage))

    def _fail(self, code: str, message: str, usage: Usage | None) -> tuple[T, ...]:
        self._order.advance("finish")
        self._settle("incomplete", self._rules.left_open_when_failed)
        self._transcript.fail(code, message, usage)
        return self._transcript.drain()

    def close(self) -> tuple[T, ...]:
        """The input ended. Without a finish before, that is a failure, never an end."""
        if self.ended:
            return ()
        return self.fail("the model server's stream ended without a finish reason")

    # What is said ---------------------------------------------------------------------

    def _check(self, delta: Delta) -> None:
        """Raises for a delta that is not legal now, before anything is done with it."""
        legal = self._order.exits
        if delta.reasoning and "reasoning" not in legal:
            self._refuse("reasoning", delta.reasoning)
        if (delta.content or delta.refusal) and "output_text" not in legal:
            self._refuse("output_text", delta.content + delta.refusal)
        if delta.tool_calls:
            if "tool_call" not in legal:
                self._order.advance("tool_call")
            self._calls.check(delta.tool_calls)

    def _refuse(self, speech: Speech, text: str) -> None:
        # White space is held, and may turn out to be nothing.
        if self.ended or not is_phantom(text):
            self._order.advance(speech)

    def _text(
        self,
        speech: Speech,
        kinds: tuple[PartKind, ...],
        text: str,
        logprobs: Logprobs = (),
        annotations: Annotations = (),
    ) -> None:
        item = self._text_item(speech)
        item.say(kinds, text, self._transcript, logprobs, annotations)
        if item.ready:
            self._order.advance(speech)

    def _text_item(self, speech: Speech) -> GrowingText:
        """The item that this speech continues, or a new draft.

        A draft that is not ready may still be nothing, so what was said before it goes on.
        """
        open_ = self._transcript.open
        if (draft := self.drafts.text(speech)) is not None:
            return draft
        if (
            isinstance(open_, GrowingText)
            and open_.speech == speech
            and self.drafts.is_white_space
        ):
            return open_
        if speech == "output_text":
            return self.drafts.add(GrowingMessage())
        return self.drafts.add(GrowingReasoning(self._reasoning))

    def _call(self, delta: ToolCallDelta) -> None:
        call = self._calls.find(delta)
        if call.ready and self.drafts.is_nameless(call):
            self._order.advance("tool_call")
            self.drafts.name(call)
        if delta.arguments and not call.closed:
            call.say(delta.arguments, self._transcript)

    # What comes of it -----------------------------------------------------------------

    def _advance(self) -> None:
        """Announces every draft that need not wait any longer."""
        while (draft := self.drafts.next()) is not None:
            if self._transcript.open is not None and not self._transcript.open.closable:
                return
            self.drafts.take(draft)
            self._transcript.close_open("completed")
            self._transcript.announce(draft)

    def _find_tail(self) -> None:
        """Where a delta goes on that only says more of what is open, if that is sure."""
        self._text_tail = self._call_tail = None
        item = self._transcript.open
        if item is None or self.drafts or not self._order.stays(item.speech):
            return
        if isinstance(item, GrowingText):
            self._text_tail = item.tail(self._transcript)
        elif isinstance(item, GrowingCall) and self._calls.continues(item):
            self._call_tail = item.tail(self._transcript)

    def _settle(self, status: Status, left_open: frozenset[Speech] = NOTHING) -> None:
        """At the end nothing is worth waiting for: all that is held comes out.

        But what is left open stays the last item.
        """
        self._transcript.start()
        self._text_tail = self._call_tail = None
        for draft in self.drafts.take_all():
            self._transcript.close_open(status, left_open)
            if self._transcript.open is None:
                self._transcript.announce(draft)
        self._transcript.close_open(status, left_open)


class ResponseStream(BaseStream[Event]):
    """Parser deltas in, events out. See BaseStream."""

    form = EVENTS


class FrameStream(BaseStream[bytes]):
    """Parser deltas in, the frames of the events out: what a server sends.

    Each frame is `encode` of the event that a ResponseStream would have returned.
    """

    form = FRAMES

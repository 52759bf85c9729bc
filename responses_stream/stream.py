"""Parser deltas in, one transcript out.

`ResponseStream` is a machine without I/O: each of its methods returns the events that
follow, in order. Whatever is said, it does three things: close what is open and is not
meant, open what is, append. What may come when is decided by the tables of state.py; how
each kind is written, by the rows of kinds.py; this file knows how to wait.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from typing import Any, Final

from .calls import CallIds, CallIndex, GrowingCall
from .code_points import is_whole, mend_all
from .deltas import Delta, ToolCallDelta, as_delta, mended
from .drafts import Drafts
from .errors import LocalProtocolError
from .finish_reasons import FAILED, INCOMPLETE, REASONS
from .growing import Annotations, GrowingMessage, GrowingReasoning, GrowingText, Logprobs
from .ids import Clock, Ids, random_ids
from .items import Status
from .kinds import DIALECTS, NOTHING, TEXT_PARTS, CallKind, Dialect, PartKind, ReasoningAs
from .state import ORDERS, START, STRICT, Machine, Order, Speech, is_phantom
from .tail import CallTail, TextTail
from .tools import Tool, ToolIndex, said_call_ids
from .transcript import SERVER_ERROR, Transcript
from .usage import Usage
from .wire import Events

EVERYTHING: Final = len(STRICT[START])
"""How many exits a row has that refuses nothing."""


class ResponseStream:
    """One response, from its first event to its last.

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
        request = {} if request is None else request
        if not isinstance(request, Mapping):
            raise LocalProtocolError(
                f"request is {type(request).__name__}; expected a mapping"
            )
        self._transcript = Transcript(request, dialect, ids, clock)
        self._order = Machine(ORDERS[order], LocalProtocolError)
        self._rules = DIALECTS[dialect]
        self._reasoning = self._rules.reasoning_parts(reasoning)
        call_ids = CallIds(said_call_ids(request), lambda: ids("call"))
        tools = ToolIndex(request)

        def find_tool(name: str) -> tuple[Tool, CallKind]:
            tool = tools.resolve(name)
            return tool, self._rules.call(tool.kind)

        call_numbers = itertools.count()

        def new_call() -> GrowingCall:
            call = GrowingCall(next(call_numbers), find_tool, call_ids)
            self._drafts.add_call(call)
            return call

        self._drafts = Drafts()
        self._calls = CallIndex(new_call)
        self._text_tail: TextTail | None = None
        self._call_tail: CallTail | None = None
        """Where most deltas go on; None while anything is in doubt."""

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
    def drafts(self) -> Drafts:
        """What was said and no event has told of yet."""
        return self._drafts

    def start(self) -> Events:
        """`response.created` and `response.in_progress`, unless they are out already.

        Every other method starts the stream too; call this to start it before there is
        anything to say.
        """
        self._transcript.start()
        return self._transcript.drain()

    def keep_alive(self) -> Events:
        """One more `response.in_progress`, for a silent line.

        Nothing once the response has ended, and nothing in the Open Responses dialect,
        whose checker knows no second one: send a comment there.
        """
        self._transcript.keep_alive()
        return self._transcript.drain()

    def feed(self, said: object) -> Events:
        """The events that follow from one delta: ours, or anything that as_delta reads."""
        if type(said) is not Delta:
            said = as_delta(said)
            if type(said) is not Delta:
                return self._feed(said)
        if said.tool_calls:
            return self._feed_call(said)
        if self._text_tail is not None:
            is_thought, (keep, event, place, next_number) = self._text_tail
            text, other = said.content, said.reasoning
            if is_thought:
                text, other = other, text
            if text and not other and (text.isascii() or is_whole(text)):
                keep(text)
                return (event(place, text, next_number()),)
        return self._feed(said)

    def _feed_call(self, delta: Delta) -> Events:
        tail = self._call_tail
        if tail is None or (text := tail.more(delta)) is None:
            return self._feed(delta)
        if not text:
            return ()
        keep, event, place, next_number = tail.end
        keep(text)
        return (event(place, text, next_number()),)

    def _feed(self, delta: Delta) -> Events:
        """The long way, for a delta that says anything new: see tail.py."""
        if len(self._order.exits) < EVERYTHING or delta.tool_calls:
            self._check(delta)
        if self._order.state is START:
            self._transcript.start()
        if delta.reasoning:
            self._text("reasoning", self._reasoning, delta.reasoning)
        if delta.logprobs or delta.annotations:
            self._text_with(delta.content, delta.logprobs, delta.annotations)
        elif delta.content:
            self._text("output_text", TEXT_PARTS, delta.content)
        if delta.refusal:
            self._text("output_text", self._rules.refused, delta.refusal)
        for call_delta in delta.tool_calls:
            self._call(call_delta)
        if self._drafts:
            self._advance()
        self._find_tail()
        return self._transcript.drain()

    def finish(self, reason: str, usage: Usage | Mapping[str, Any] | None = None) -> Events:
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
        if self._transcript.is_empty and (unsaid := self._drafts.unsaid()):
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
    ) -> Events:
        """Something broke: the open item becomes incomplete, the response failed.

        Args:
            error: An exception, a message, or a mapping with `message` and `code`.
                Without a code it is `server_error`.
            usage: See Usage.read.
        """
        code, message = SERVER_ERROR, str(error)
        if isinstance(error, Mapping):
            code = str(error.get("code") or SERVER_ERROR)
            message = str(error.get("message") or "the model server gave no reason")
        elif not message:
            message = type(error).__name__
        return self._fail(code, message, Usage.read(usage))

    def _fail(self, code: str, message: str, usage: Usage | None) -> Events:
        self._order.advance("finish")
        self._settle("incomplete", self._rules.left_open_when_failed)
        self._transcript.fail(code, message, usage)
        return self._transcript.drain()

    def close(self) -> Events:
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

    def _text(self, speech: Speech, kinds: tuple[PartKind, ...], text: str) -> None:
        item = self._text_item(speech)
        item.say(kinds, text, self._transcript)
        if item.ready:
            self._order.advance(speech)

    def _text_with(self, text: str, logprobs: Logprobs, annotations: Annotations) -> None:
        item = self._text_item("output_text")
        item.say_with(
            TEXT_PARTS,
            text,
            tuple(mended(entry) for entry in logprobs),
            tuple(mend_all(entry) for entry in annotations),
            self._transcript,
        )
        if item.ready:
            self._order.advance("output_text")

    def _text_item(self, speech: Speech) -> GrowingText:
        """The item that this speech continues, or a new draft.

        A draft that is not ready may still be nothing, so what was said before it goes on.
        """
        open_ = self._transcript.open
        if (draft := self._drafts.text(speech)) is not None:
            return draft
        if (
            isinstance(open_, GrowingText)
            and open_.speech == speech
            and self._drafts.is_white_space
        ):
            return open_
        new = (
            GrowingMessage()
            if speech == "output_text"
            else GrowingReasoning(self._reasoning)
        )
        self._drafts.add(new)
        return new

    def _call(self, delta: ToolCallDelta) -> None:
        call = self._calls.find(delta)
        if call.ready and self._drafts.is_nameless(call):
            self._order.advance("tool_call")
            self._drafts.name(call)
        if delta.arguments and not call.closed:
            call.say(delta.arguments, self._transcript)

    # What comes of it -----------------------------------------------------------------

    def _advance(self) -> None:
        """Announces every draft that need not wait any longer."""
        while (draft := self._drafts.next()) is not None:
            if self._transcript.open is not None and not self._transcript.open.closable:
                return
            self._drafts.take(draft)
            self._transcript.close_open("completed")
            self._transcript.announce(draft)

    def _find_tail(self) -> None:
        """Where a delta goes on that only says more of what is open, if that is sure."""
        self._text_tail = self._call_tail = None
        item = self._transcript.open
        if item is None or self._drafts or not self._order.stays(item.speech):
            return
        if isinstance(item, GrowingText):
            self._text_tail = item.tail(self._transcript.next_number)
        elif isinstance(item, GrowingCall) and self._calls.continues(item):
            self._call_tail = item.tail(self._transcript.next_number)

    def _settle(self, status: Status, left_open: frozenset[Speech] = NOTHING) -> None:
        """At the end nothing is worth waiting for: all that is held comes out.

        But what is left open stays the last item.
        """
        self._transcript.start()
        self._text_tail = self._call_tail = None
        for draft in self._drafts.take_all():
            self._transcript.close_open(status, left_open)
            if self._transcript.open is None:
                self._transcript.announce(draft)
        self._transcript.close_open(status, left_open)

"""An output item from its first word to its last.

An item is a *draft* while it is not announced: white space that may become a message, a
call whose name has not come, a call that must wait for the one before it. What is said to
a draft is held; `announce` sends it out, and from then on everything leaves at once.
`close` returns the finished item.

Each method takes `out`, which numbers the events and sends them: nobody else makes any.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, ClassVar, Protocol, TypeAlias

from msgspec import UNSET

from .code_points import CodePoints
from .errors import LocalProtocolError
from .events import OutputItemAdded, OutputItemDone, OutputTextAnnotationAdded
from .items import (
    Item,
    Logprob,
    Message,
    OutputText,
    Part,
    Reasoning,
    Status,
    SummaryText,
)
from .kinds import REFUSED, SUMMARY, TEXT, PartKind
from .state import (
    ABSENT,
    MESSAGE,
    REASONING_ITEM,
    ItemState,
    Machine,
    Speech,
    Table,
    is_phantom,
)
from .tail import CallTail, TextTail
from .wire import DeltaEvent, Event, Place

Logprobs: TypeAlias = tuple[Logprob, ...]
Annotations: TypeAlias = tuple[dict[str, Any], ...]


class Sender(Protocol):
    """Makes events, each with the next sequence number, and sends them."""

    def send(self, event: type[Event], *fields: Any, **more: Any) -> None:
        """Any event, of its fields but the number."""

    def send_delta(self, event: type[DeltaEvent], place: Place, delta: str) -> None:
        """The same for the one event that there are many of."""


class GrowingPart:
    """A part between its `added` and its `done`."""

    def __init__(self, kind: PartKind, *where: str | int) -> None:
        self.kind = kind
        self.where = where
        self.place = kind.delta.place_at(*where)
        self.machine = Machine(kind.table, LocalProtocolError)
        self.pieces: list[str] = []

    def open(self, out: Sender) -> None:
        """Announces the part, empty."""
        self.machine.advance(self.kind.added.type)
        out.send(self.kind.added, *self.where, self.kind.part(""))

    def append(self, text: str, out: Sender) -> None:
        """Says more."""
        self.machine.advance(self.kind.delta.type)
        self.pieces.append(text)
        out.send_delta(self.kind.delta, self.place, text)

    def append_with(
        self,
        text: str,
        logprobs: Logprobs,  # noqa: ARG002  (only a message's text can tell of them)
        annotations: Annotations,  # noqa: ARG002
        out: Sender,
    ) -> None:
        """Says more, and what is known about it."""
        if text:
            self.append(text, out)

    def close(self, out: Sender) -> Part:
        """Says it all once more, and ends the part."""
        self.machine.advance(self.kind.done.type)
        part = self.settle("".join(self.pieces), out)
        self.machine.advance(self.kind.closed.type)
        out.send(self.kind.closed, *self.where, part)
        return part

    def settle(self, text: str, out: Sender) -> Part:
        """Says all the text; returns the finished part."""
        out.send(self.kind.done, *self.where, text)
        return self.kind.part(text)


class GrowingOutputText(GrowingPart):
    """The one kind of part that says more than text."""

    def __init__(self, kind: PartKind, *where: str | int) -> None:
        super().__init__(kind, *where)
        self.logprobs: list[Logprob] = []
        self.annotations: list[dict[str, Any]] = []

    def append_with(
        self, text: str, logprobs: Logprobs, annotations: Annotations, out: Sender
    ) -> None:
        """Says more, and what is known about it."""
        if logprobs:
            self.machine.advance(self.kind.delta.type)
            self.pieces.append(text)
            self.logprobs += logprobs
            out.send(self.kind.delta, self.place, text, logprobs=logprobs)
        elif text:
            self.append(text, out)
        for annotation in annotations:
            self.machine.advance(OutputTextAnnotationAdded.type)
            number = len(self.annotations)
            self.annotations.append(annotation)
            out.send(OutputTextAnnotationAdded, *self.where, number, annotation)

    def settle(self, text: str, out: Sender) -> Part:
        """See GrowingPart.settle."""
        logprobs = tuple(self.logprobs)
        out.send(self.kind.done, *self.where, text, logprobs)
        return OutputText(text, tuple(self.annotations), logprobs)


class GrowingItem:
    """What all items have in common."""

    speech: ClassVar[Speech]
    """What a model says to make one, in the words of the order table."""

    def __init__(self, table: Table[ItemState]) -> None:
        self.machine = Machine(table, LocalProtocolError)
        self.id: str
        """Given by `announce`, and never changed."""
        self.output_index: int
        """Given by `announce`: its position in the final `output`."""
        self.held = 0
        """How many characters wait to be released."""

    @property
    def ready(self) -> bool:
        """Whether the draft may be announced: it would be no phantom."""
        raise NotImplementedError

    @property
    def closable(self) -> bool:
        """Whether another item may begin."""
        return True

    @property
    def prefix(self) -> str:
        """Of the id that `announce` wants."""
        raise NotImplementedError

    def announce(self, item_id: str, output_index: int, out: Sender) -> None:
        """Sends out the draft: from now on it is the open item."""
        self.id, self.output_index = item_id, output_index
        self.machine.advance(OutputItemAdded.type)
        out.send(OutputItemAdded, output_index, self.item("in_progress"))
        self.release(out)

    def release(self, out: Sender) -> None:
        """Says what was held."""
        raise NotImplementedError

    def tail(self, next_number: Callable[[], int]) -> TextTail | CallTail | None:
        """Where the open item goes on, if that is in one place. See tail.py."""
        raise NotImplementedError

    def close(self, status: Status, out: Sender) -> Item:
        """Ends the item; returns it as it was sent."""
        self.settle(status, out)
        self.machine.advance(OutputItemDone.type)
        item = self.item(status)
        out.send(OutputItemDone, self.output_index, item)
        return item

    def settle(self, status: Status, out: Sender) -> None:
        """Says what an item says before its end."""
        raise NotImplementedError

    def item(self, status: Status) -> Item:
        """The item as it is by now."""
        raise NotImplementedError


class GrowingText(GrowingItem):
    """An item that is made of parts: a message, or reasoning."""

    def __init__(self, table: Table[ItemState]) -> None:
        super().__init__(table)
        self.content: list[Part] = []
        self.summary: list[SummaryText] = []
        self._kinds: tuple[PartKind, ...] = ()
        self._open: list[GrowingPart] = []
        self._held: list[tuple[tuple[PartKind, ...], str, Logprobs, Annotations]] = []
        self._code_points = CodePoints()
        self._real = False

    @property
    def ready(self) -> bool:
        """Once it holds more than white space; half a code point is more."""
        return self._real or bool(self._code_points.half)

    def say(self, kinds: tuple[PartKind, ...], text: str, out: Sender) -> None:
        """Says more, in a part of each of `kinds`; holds it while a draft."""
        if kinds is not self._kinds:
            self._turn_to(kinds, out)
        text = self._code_points.feed(text)
        if not self._open:
            self._hold(text, (), ())
        elif text:
            for part in self._open:
                part.append(text, out)

    def say_with(
        self,
        kinds: tuple[PartKind, ...],
        text: str,
        logprobs: Logprobs,
        annotations: Annotations,
        out: Sender,
    ) -> None:
        """The same with what is known about the text."""
        if kinds is not self._kinds:
            self._turn_to(kinds, out)
        text = self._code_points.feed(text)
        if self._open:
            self._append_with(text, logprobs, annotations, out)
        else:
            self._hold(text, logprobs, annotations)

    def _turn_to(self, kinds: tuple[PartKind, ...], out: Sender) -> None:
        self._say_half(out)
        self._kinds = kinds
        if self.machine.state is not ABSENT:
            self._open_parts(kinds, out)

    def _say_half(self, out: Sender) -> None:
        """Half a code point, when the other half can come no more."""
        if rest := self._code_points.flush():
            self.say(self._kinds, rest, out)

    def _append_with(
        self, text: str, logprobs: Logprobs, annotations: Annotations, out: Sender
    ) -> None:
        for part in self._open:
            part.append_with(text, logprobs, annotations, out)

    def _hold(self, text: str, logprobs: Logprobs, annotations: Annotations) -> None:
        self._real = self._real or not is_phantom(text)
        self._held.append((self._kinds, text, logprobs, annotations))
        self.held += len(text)

    def release(self, out: Sender) -> None:
        """See GrowingItem.release: one delta for each run of one kind."""
        held, self._held, self.held = self._held, [], 0
        for kinds, run in groupby(held, key=itemgetter(0)):
            self._open_parts(kinds, out)
            _, texts, logprobs, annotations = zip(*run, strict=True)
            self._append_with(
                "".join(texts),
                tuple(chain.from_iterable(logprobs)),
                tuple(chain.from_iterable(annotations)),
                out,
            )
        self._open_parts(self._kinds, out)

    def _open_parts(self, kinds: tuple[PartKind, ...], out: Sender) -> None:
        """Makes parts of `kinds` the open ones."""
        if kinds == tuple(part.kind for part in self._open):
            return
        self._close_parts(out)
        for kind in kinds:
            index = len(self.summary if kind is SUMMARY else self.content)
            make = GrowingOutputText if kind is TEXT else GrowingPart
            part = make(kind, self.id, self.output_index, index)
            self.machine.advance(kind.added.type)
            part.open(out)
            self._open.append(part)

    def _close_parts(self, out: Sender) -> None:
        for part in self._open:
            self.machine.advance(part.kind.closed.type)
            finished = part.close(out)
            if isinstance(finished, SummaryText):
                self.summary.append(finished)
            else:
                self.content.append(finished)
        self._open = []

    def tail(self, next_number: Callable[[], int]) -> TextTail | None:
        """See GrowingItem.tail."""
        if len(self._open) != 1 or self._code_points.half:
            return None
        (part,) = self._open
        if part.kind is REFUSED:
            return None
        end = part.pieces.append, part.kind.delta, part.place, next_number
        return self.speech == "reasoning", end

    def settle(self, status: Status, out: Sender) -> None:  # noqa: ARG002
        """See GrowingItem.settle."""
        self._say_half(out)
        self._close_parts(out)


class GrowingMessage(GrowingText):
    """A message: text and refusals."""

    speech = "output_text"
    prefix = "msg"

    def __init__(self) -> None:
        super().__init__(MESSAGE)

    def item(self, status: Status) -> Message:
        """See GrowingItem.item."""
        return Message(self.id, status, tuple(self.content))


class GrowingReasoning(GrowingText):
    """Reasoning: thoughts, a summary of them, or both."""

    speech = "reasoning"
    prefix = "rs"

    def __init__(self, kinds: tuple[PartKind, ...]) -> None:
        super().__init__(REASONING_ITEM)
        self._has_content = kinds != (SUMMARY,)

    def item(self, status: Status) -> Reasoning:
        """See GrowingItem.item."""
        content = tuple(self.content) if self._has_content else UNSET
        return Reasoning(self.id, status, tuple(self.summary), content)

"""An output item from its first word to its last.

An item is a *draft* while it is not announced: white space that may become a message, a
call whose name has not come, a call that must wait for the one before it. What is said to
a draft is held; `announce` sends it out, and from then on everything leaves at once.
`close` returns the finished item.

Each method takes `out`, which numbers the events and sends them: nobody else makes any.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, groupby
from operator import itemgetter
from typing import ClassVar

from msgspec import UNSET

from .code_points import CodePoints, mend_all
from .deltas import mended
from .errors import LocalProtocolError
from .events import OutputItemAdded, OutputItemDone
from .growing_parts import Annotations, GrowingOutputText, GrowingPart, Logprobs, Sender
from .items import (
    Item,
    Message,
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
from .wire import Event


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
    def cut(self) -> bool:
        """Whether it is plainly not whole, if nothing more comes."""
        return False

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

    def tail(self, out: Sender) -> TextTail | CallTail | None:
        """Where the open item goes on, if that is in one place. See tail.py."""
        raise NotImplementedError

    @property
    def deltas(self) -> Iterable[tuple[type[Event], int]]:
        """How many deltas of which types it has said."""
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
        self._parts: list[GrowingPart] = []
        self._open: list[GrowingPart] = []
        """The last of them; with thoughts said in both ways, the last two."""
        self._held: list[tuple[tuple[PartKind, ...], str, Logprobs, Annotations]] = []
        self._code_points = CodePoints()
        self._real = False

    @property
    def ready(self) -> bool:
        """Once it holds more than white space; half a code point is more."""
        return self._real or bool(self._code_points.half)

    def say(
        self,
        kinds: tuple[PartKind, ...],
        text: str,
        out: Sender,
        logprobs: Logprobs = (),
        annotations: Annotations = (),
    ) -> None:
        """Says more, in a part of each of `kinds`; holds it while a draft."""
        if kinds is not self._kinds:
            self._turn_to(kinds, out)
        text = self._code_points.feed(text)
        logprobs = tuple(mended(entry) for entry in logprobs)
        annotations = tuple(mend_all(entry) for entry in annotations)
        if self._open:
            self._append(text, logprobs, annotations, out)
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

    def _append(
        self, text: str, logprobs: Logprobs, annotations: Annotations, out: Sender
    ) -> None:
        for part in self._open:
            part.append(text, logprobs, annotations, out)

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
            self._append(
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
        self._parts += self._open

    def _close_parts(self, out: Sender) -> None:
        for part in self._open:
            self.machine.advance(part.kind.closed.type)
            finished = part.close(out)
            if isinstance(finished, SummaryText):
                self.summary.append(finished)
            else:
                self.content.append(finished)
        self._open = []

    def tail(self, out: Sender) -> TextTail | None:
        """See GrowingItem.tail."""
        if len(self._open) != 1 or self._code_points.half:
            return None
        (part,) = self._open
        if part.kind is REFUSED:
            return None
        end = out.end(part.pieces.append, part.kind.delta, part.place)
        return self.speech == "reasoning", *end

    @property
    def deltas(self) -> Iterable[tuple[type[Event], int]]:
        """See GrowingItem.deltas."""
        return ((part.kind.delta, len(part.pieces)) for part in self._parts)

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

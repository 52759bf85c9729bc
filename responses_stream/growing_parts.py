"""A part of an item, from its `added` to its `done`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from .errors import LocalProtocolError
from .events import OutputTextAnnotationAdded
from .items import Logprob, OutputText, Part
from .kinds import PartKind
from .state import Machine
from .tail import End
from .wire import DeltaEvent, Event, Place

Logprobs: TypeAlias = tuple[Logprob, ...]
Annotations: TypeAlias = tuple[dict[str, Any], ...]


class Sender(Protocol):
    """Makes events, each with the next sequence number, and sends them."""

    def send(self, event: type[Event], *fields: Any) -> None:
        """Any event but a delta, of its fields but the number."""

    def send_delta(self, event: type[DeltaEvent], place: Place, delta: str) -> None:
        """The one event that there are many of."""

    def end(
        self, keep: Callable[[str], None], event: type[DeltaEvent], place: Place
    ) -> End:
        """Where more of such events can be made without this. See tail.py."""


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

    def append(
        self,
        text: str,
        logprobs: Logprobs,  # noqa: ARG002  (only a message's text can tell of them)
        annotations: Annotations,  # noqa: ARG002
        out: Sender,
    ) -> None:
        """Says more, and what is known about it."""
        if text:
            self.say(text, out)

    def say(self, text: str, out: Sender, place: Place | None = None) -> None:
        """Says more in one delta."""
        self.machine.advance(self.kind.delta.type)
        self.pieces.append(text)
        out.send_delta(self.kind.delta, place or self.place, text)

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

    def append(
        self, text: str, logprobs: Logprobs, annotations: Annotations, out: Sender
    ) -> None:
        """See GrowingPart.append."""
        if logprobs:
            self.logprobs += logprobs
            place = self.kind.delta.place_at(*self.where, logprobs=logprobs)
            self.say(text, out, place)
        elif text:
            self.say(text, out)
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

"""What all events have in common on the wire.

An event is a frozen value. A delta event holds its `Place`, the delta and the number: all
else in its frame is the same for every delta of the item and is made once, by the place
(performance.md). Only a delta with log probabilities has a place of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, get_args

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from openai.types.responses import ResponseStreamEvent


class Place(Struct, frozen=True, gc=False):
    """Where deltas go, with the bytes that their frames share."""

    where: dict[str, str | int]
    """`item_id`, `output_index` and the part's index, as on the wire."""
    extra: dict[str, Any]
    """What stands between the delta and the sequence number."""
    head: bytes
    """The frame up to the delta."""
    tail: bytes
    """The frame from the delta to the sequence number."""


class Event(Struct, frozen=True, gc=False, tag_field="type"):
    """One `response.*` object on the wire."""

    type: ClassVar[str]
    head: ClassVar[bytes]
    """The frame up to the data."""
    place: ClassVar[Place | None] = None
    """Where a delta goes; None for an event that is no delta."""

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON values: what stands in the frame's `data`."""
        # Not to_builtins: that leaves tuples, which are no JSON.
        wire: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return wire

    @classmethod
    def from_dict(cls, wire: Mapping[str, Any]) -> Self:
        """The event that `to_dict` made `wire` of; msgspec.ValidationError if of none."""
        return msgspec.convert(wire, cls)

    def to_openai(self) -> ResponseStreamEvent:
        """The event as openai-python's model; pydantic.ValidationError if it is unlike.

        KeyError for the Open Responses names, which that client does not know.
        """
        model: ResponseStreamEvent = openai_models()[self.type].model_validate(
            self.to_dict()
        )
        return model


Events: TypeAlias = tuple[Event, ...]
"""What follows from one thing that was said, in order; mostly one, or none."""


class DeltaEvent(Event, frozen=True):
    """More text for what is open at `place`."""

    # A field, where other events have a constant.
    place: Place  # type: ignore[misc]
    delta: str
    sequence_number: int

    keys: ClassVar[tuple[str, ...]] = ("item_id", "output_index", "content_index")
    """What says where, in the wire's order."""

    @classmethod
    def place_at(cls, *where: str | int, **extra: Any) -> Place:
        """The place of deltas of this type with these values for `keys`, and `extra`."""
        named = dict(zip(cls.keys, where, strict=True))
        data = msgspec.json.encode({"type": cls.type, **named})
        more = b"," + msgspec.json.encode(extra)[1:-1] if extra else b""
        return Place(
            named,
            extra,
            cls.head + data[:-1] + b',"delta":',
            more + b',"sequence_number":',
        )

    @property
    def item_id(self) -> str:
        """The item that grows."""
        return str(self.place.where["item_id"])

    @property
    def output_index(self) -> int:
        """Its position in the final `output`."""
        return int(self.place.where["output_index"])

    def to_dict(self) -> dict[str, Any]:
        """See Event.to_dict."""
        extra = msgspec.json.decode(msgspec.json.encode(self.place.extra))
        return {
            "type": self.type,
            **self.place.where,
            "delta": self.delta,
            **extra,
            "sequence_number": self.sequence_number,
        }

    @classmethod
    def from_dict(cls, wire: Mapping[str, Any]) -> Self:
        """See Event.from_dict."""
        where: list[str | int] = [msgspec.convert(wire[cls.keys[0]], str)]
        where += (msgspec.convert(wire[key], int) for key in cls.keys[1:])
        delta = msgspec.convert(wire["delta"], str)
        number = msgspec.convert(wire["sequence_number"], int)
        return cls(cls.place_at(*where, **cls.read_extra(wire)), delta, number)

    @classmethod
    def read_extra(cls, wire: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG003
        """What `wire` has for a place beside `keys`."""
        return {}


@cache
def openai_models() -> dict[str, Any]:
    """openai-python's class for each `type`. Its union is no discriminated one, so a
    frame must be given to the class that its `type` names (clients.md section 6).
    """
    # Half a second to load, and nobody needs it in production.
    from openai.types.responses import (  # noqa: PLC0415
        response_stream_event as module,
    )

    union = module.ResponseStreamEvent
    members = get_args(get_args(union)[0])
    return {get_args(cls.model_fields["type"].annotation)[0]: cls for cls in members}

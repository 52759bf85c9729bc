"""What a stream gives out for each event: the event, or the frame that says it.

Whoever only sends events on has no use for their objects. To write a delta's frame at once
costs a sixth less than to make its event and encode that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeAlias, TypeVar

from msgspec import Struct

from .sse import encode, encode_delta
from .wire import DeltaEvent, Event, Place

T = TypeVar("T")

MakeDelta: TypeAlias = Callable[[Place, str, int], T]
"""Makes one of a delta: where it goes, the text, the sequence number."""


class Form(Struct, Generic[T], frozen=True):
    """How a stream's events are given out."""

    of: Callable[[Event], T]
    of_delta: Callable[[type[DeltaEvent]], MakeDelta[T]]
    """The same as `of` for a delta of this type, without the event between."""


EVENTS: Final[Form[Event]] = Form(lambda event: event, lambda kind: kind)
FRAMES: Final[Form[bytes]] = Form(encode, lambda _: encode_delta)

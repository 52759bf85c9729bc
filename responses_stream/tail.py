"""Where what is open goes on: the short way of most deltas.

Of a thousand deltas, all but a few say more of the text, or of the arguments, that is open
already, and nothing else. Nothing is in doubt about them, so the stream makes their event
at once. Every other delta goes the long way, which would do the same with these, only
slower (tests/test_tail.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from .code_points import is_whole
from .deltas import Delta, as_delta
from .forms import MakeDelta
from .wire import Place


class Numbers(Protocol):
    """What counts the events."""

    next_number: int
    """The sequence number of the next one."""


End: TypeAlias = tuple[Callable[[str], None], MakeDelta[Any], Place, Numbers]
"""What it takes to say more: what keeps the text, what makes an event of it, where that
goes, and what numbers it. A tuple, for it is taken apart once for every delta."""

TextTail: TypeAlias = tuple[bool, *End]
"""The end of a part that waits for no half code point: whether it is of a thought."""

CallTail: TypeAlias = tuple[
    tuple[int | None, ...], Callable[[str], None], Callable[[str], str] | None, *End
]
"""The end of a call's arguments: the indices that say a delta is meant for it, what takes
the arguments as they are, and what reads them, unless they are what they say."""

T = TypeVar("T")


class ShortWay(Generic[T]):
    """What a stream does with most deltas; it is the stream that knows the long way."""

    def __init__(self) -> None:
        self._text_tail: TextTail | None = None
        self._call_tail: CallTail | None = None
        """Where deltas go on; None while anything is in doubt."""

    def feed(self, said: object) -> tuple[T, ...]:
        """The events that follow from one delta: ours, or anything that as_delta reads."""
        if type(said) is not Delta:
            said = as_delta(said)
            if type(said) is not Delta:
                return self._feed(said)
        if said.tool_calls:
            return self._feed_call(said)
        if self._text_tail is not None:
            is_thought, keep, make, place, numbers = self._text_tail
            text, other = said.content, said.reasoning
            if is_thought:
                text, other = other, text
            if text and not other and (text.isascii() or is_whole(text)):
                keep(text)
                number = numbers.next_number
                numbers.next_number = number + 1
                return (make(place, text, number),)
        return self._feed(said)

    def _feed_call(self, delta: Delta) -> tuple[T, ...]:
        calls = delta.tool_calls
        if self._call_tail is None or len(calls) > 1 or delta.content or delta.reasoning:
            return self._feed(delta)
        indices, hear, read, keep, make, place, numbers = self._call_tail
        (call,) = calls
        text = call.arguments
        if call.id or call.name or call.index not in indices:
            return self._feed(delta)
        if read is None and not (text.isascii() or is_whole(text)):
            return self._feed(delta)
        hear(text)
        if read is not None:
            text = read(text)
        if not text:
            return ()
        keep(text)
        number = numbers.next_number
        numbers.next_number = number + 1
        return (make(place, text, number),)

    def _feed(self, delta: Delta) -> tuple[T, ...]:
        """The long way."""
        raise NotImplementedError

"""Where what is open goes on: the short way of most deltas.

Of a thousand deltas, all but a few say more of the text, or of the arguments, that is open
already, and nothing else. Nothing is in doubt about them, so the stream makes their event
at once. Every other delta goes the long way, which would do the same with these, only
slower (tests/test_tail.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from .code_points import CodePoints
from .deltas import Delta
from .json_text import InputUnescaper
from .wire import DeltaEvent, Place

End: TypeAlias = tuple[Callable[[str], None], type[DeltaEvent], Place, Callable[[], int]]
"""What it takes to say more: what keeps the text, the class of the events, where they go,
and what gives them their numbers. A tuple, for it is taken apart once for every delta."""

TextTail: TypeAlias = tuple[bool, End]
"""The end of a part that waits for no half code point: whether it is of a thought."""


class CallTail:
    """The end of a call's arguments.

    Args:
        end: See End.
        index: The parser's number for the call, if it has one.
        keep: Takes its arguments as they come.
        reader: Makes what they say of them.
    """

    __slots__ = ("_index", "_keep", "_reader", "end")

    def __init__(
        self,
        end: End,
        index: int | None,
        keep: Callable[[str], None],
        reader: CodePoints | InputUnescaper,
    ) -> None:
        self.end = end
        self._index = index
        self._keep = keep
        self._reader = reader

    def more(self, delta: Delta) -> str | None:
        """What a delta says more of this; None if it says anything else."""
        calls = delta.tool_calls
        if len(calls) != 1 or delta.content or delta.reasoning:
            return None
        call = calls[0]
        if call.id or call.name or (call.index != self._index and call.index is not None):
            return None
        keep, arguments = self._keep, call.arguments
        keep(arguments)
        return self._reader.feed(arguments)

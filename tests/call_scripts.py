"""Scripts of tool calls, and what comes of them."""

from __future__ import annotations

from typing import Any

from helpers import errors, run

from responses_stream import Delta, OutputItemDone, ToolCallDelta
from responses_stream.items import FunctionCall

CUSTOM = {"tools": [{"type": "custom", "name": "c"}]}
STOP = {"finish_reason": "stop"}
TEXT = Delta(content="text")


def call(
    index: int | None = None, call_id: str = "", name: str = "", arguments: str = ""
) -> Delta:
    """A delta of one call; every field may be missing."""
    return Delta(tool_calls=(ToolCallDelta(index, call_id, name, arguments),))


def items(*steps: object, **options: Any) -> list[Any]:
    """The items that come of a script, which makes no error."""
    events = run(steps, order="interleaved", **options)
    assert not errors(event.to_dict() for event in events)
    return [event.item for event in events if isinstance(event, OutputItemDone)]


def calls(*deltas: Delta) -> list[tuple[str, str]]:
    """The name and the arguments of each call that comes of these deltas, in order."""
    return [
        (item.name, item.arguments)
        for item in items(*deltas, STOP)
        if isinstance(item, FunctionCall)
    ]

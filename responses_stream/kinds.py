"""The rows that tell a stream how each kind of part and call is said.

To support another kind: its table in state.py, its item, its events, and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

from msgspec import Struct

from .code_points import CodePoints
from .events import (
    ContentPartAdded,
    ContentPartDone,
    CustomToolCallInputDelta,
    CustomToolCallInputDone,
    FunctionCallArgumentsDelta,
    FunctionCallArgumentsDone,
    OutputTextDelta,
    OutputTextDone,
    ReasoningDelta,
    ReasoningDone,
    ReasoningSummaryPartAdded,
    ReasoningSummaryPartDone,
    ReasoningSummaryTextDelta,
    ReasoningSummaryTextDone,
    ReasoningTextDelta,
    ReasoningTextDone,
    RefusalDelta,
    RefusalDone,
)
from .items import (
    CustomToolCall,
    FunctionCall,
    OutputText,
    Part,
    ReasoningText,
    Refusal,
    SummaryText,
)
from .json_text import InputUnescaper
from .state import (
    CUSTOM_TOOL_CALL,
    FUNCTION_CALL,
    OUTPUT_TEXT,
    REASONING_TEXT,
    REFUSAL,
    SUMMARY_TEXT,
    ItemState,
    Table,
)
from .tools import ToolKind
from .wire import DeltaEvent, Event

Dialect = Literal["openai", "openresponses"]
ReasoningAs = Literal["text", "summary", "both"]


class PartKind(Struct, frozen=True):
    """How a part is opened, grows, settles and is closed."""

    table: Table[ItemState]
    part: Callable[[str], Part]
    added: type[Event]
    delta: type[DeltaEvent]
    done: type[Event]
    closed: type[Event]


TEXT: Final = PartKind(
    OUTPUT_TEXT,
    OutputText,
    ContentPartAdded,
    OutputTextDelta,
    OutputTextDone,
    ContentPartDone,
)
REFUSED: Final = PartKind(
    REFUSAL, Refusal, ContentPartAdded, RefusalDelta, RefusalDone, ContentPartDone
)
THOUGHTS: Final = PartKind(
    REASONING_TEXT,
    ReasoningText,
    ContentPartAdded,
    ReasoningTextDelta,
    ReasoningTextDone,
    ContentPartDone,
)
THOUGHTS_OPENRESPONSES: Final = PartKind(
    REASONING_TEXT,
    ReasoningText,
    ContentPartAdded,
    ReasoningDelta,
    ReasoningDone,
    ContentPartDone,
)
SUMMARY: Final = PartKind(
    SUMMARY_TEXT,
    SummaryText,
    ReasoningSummaryPartAdded,
    ReasoningSummaryTextDelta,
    ReasoningSummaryTextDone,
    ReasoningSummaryPartDone,
)

REASONING_PARTS: Final[Mapping[tuple[Dialect, ReasoningAs], tuple[PartKind, ...]]] = {
    ("openai", "text"): (THOUGHTS,),
    ("openai", "summary"): (SUMMARY,),
    ("openai", "both"): (THOUGHTS, SUMMARY),
    ("openresponses", "text"): (THOUGHTS_OPENRESPONSES,),
    ("openresponses", "summary"): (SUMMARY,),
    ("openresponses", "both"): (THOUGHTS_OPENRESPONSES, SUMMARY),
}
"""The parts that thoughts go out as. With `both`, each delta is said in both."""


class CallKind(Struct, frozen=True):
    """How a tool call is written."""

    table: Table[ItemState]
    prefix: str
    """Of its item's id."""
    item: type[FunctionCall | CustomToolCall]
    delta: type[DeltaEvent]
    done: type[Event]
    done_fields: Callable[[str, str], tuple[str, ...]]
    """What `done` says, of the tool's name and the whole text."""
    reader: Callable[[], CodePoints | InputUnescaper]
    """What makes the item's text of the arguments that the model writes."""
    nothing: str
    """The text of a finished call whose model wrote none: `{}`, where JSON is due."""


FUNCTION: Final = CallKind(
    FUNCTION_CALL,
    "fc",
    FunctionCall,
    FunctionCallArgumentsDelta,
    FunctionCallArgumentsDone,
    lambda name, text: (name, text),
    CodePoints,
    "{}",
)
CUSTOM: Final = CallKind(
    CUSTOM_TOOL_CALL,
    "ctc",
    CustomToolCall,
    CustomToolCallInputDelta,
    CustomToolCallInputDone,
    lambda _, text: (text,),
    InputUnescaper,
    "",
)

CALLS: Final[Mapping[tuple[Dialect, ToolKind], CallKind]] = {
    ("openai", "function"): FUNCTION,
    ("openai", "custom"): CUSTOM,
    # Open Responses knows no custom tools: such a call stays the function call that the
    # model wrote, with its `{"input": ...}` (clients.md 1.3).
    ("openresponses", "function"): FUNCTION,
    ("openresponses", "custom"): FUNCTION,
}

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
    Speech,
    Table,
)
from .tools import ToolKind
from .wire import DeltaEvent, Event

Dialect = Literal["openai", "openresponses", "codex"]
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
TEXT_PARTS: Final = (TEXT,)
"""The parts that a message's text goes out as."""
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

NOTHING: Final[frozenset[Speech]] = frozenset()


class DialectRules(Struct, frozen=True):
    """What one dialect's events have of their own."""

    thoughts: PartKind = THOUGHTS
    refused: tuple[PartKind, ...] = (REFUSED,)
    custom: CallKind = CUSTOM
    left_open_when_cut: frozenset[Speech] = NOTHING
    """What gets no done event, and no place in the final output, if it is unfinished when
    the response ends incomplete."""
    left_open_when_failed: frozenset[Speech] = NOTHING
    """The same when it fails."""

    def reasoning_parts(self, reasoning: ReasoningAs) -> tuple[PartKind, ...]:
        """The parts that thoughts go out as. With `both`, each delta is said in both."""
        return {
            "text": (self.thoughts,),
            "summary": (SUMMARY,),
            "both": (self.thoughts, SUMMARY),
        }[reasoning]

    def call(self, tool: ToolKind) -> CallKind:
        """How calls to such a tool are written."""
        return self.custom if tool == "custom" else FUNCTION


DIALECTS: Final[Mapping[Dialect, DialectRules]] = {
    "openai": DialectRules(),
    # It knows no custom tools: such a call stays the function call that the model wrote,
    # with its `{"input": ...}` (clients.md 1.3).
    "openresponses": DialectRules(thoughts=THOUGHTS_OPENRESPONSES, custom=FUNCTION),
    # It drops a message that holds a refusal, and takes any done item for a whole one: it
    # runs a call at once, half a script too, and when it asks again after a failure it
    # shows the model the half as something said (codex.md sections 3 and 5).
    "codex": DialectRules(
        refused=TEXT_PARTS,
        left_open_when_cut=frozenset({"tool_call"}),
        left_open_when_failed=frozenset({"reasoning", "output_text", "tool_call"}),
    ),
}

"""The grammar of a transcript.

Rule 1: everything that decides whether an event may come now stands in this file: in a
table where a table can say it, in a named rule below the tables where none can.

Rule 2: this file does not know who is asking. `ResponseStream` runs its own events
through these tables before it sends them, `TranscriptChecker` runs everybody's through
them; so what we send and what we accept cannot drift apart.

There are four kinds of machines. Each is a table: state -> event -> next state. An event
that is not in the row of the present state is illegal; a row without exits is an end; the
first row is the start.

- The *response*: one machine per transcript. `created`, `in_progress`, items, and one
  terminal event.
- The *order* of what a model says: one machine per transcript. It is the only one whose
  inputs are not events but kinds of speech, because white space and calls without a name
  are said and yet make no event. `STRICT` is the classical reasoning -> text -> calls;
  `INTERLEAVED` lets each come again as a new item, as models do that think between calls.
- An *item*: one machine per output item. It sees the item's own events and the opening
  and closing of its parts. Reasoning is the only item that may have two parts open at
  once: one of its content and one of its summary, both fed by the same thoughts.
- A *part*: one machine per part of a message or of reasoning.

What couples them: an item's events are legal while the response is IN_PROGRESS, a part's
deltas while its machine is OPEN. Hosted tools (web search, shell, MCP, ...) have states of
their own that no stream of ours makes; they are held to the item's life cycle alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from .errors import ProtocolError


class TableState(Enum):
    """A state of a table: the key of its row."""

    # Each step looks a row up, and Enum's own is written in Python.
    __hash__ = object.__hash__


State = TypeVar("State", bound=TableState)
Table: TypeAlias = Mapping[State, Mapping[str, State]]


class ResponseState(TableState):
    """How far a response is."""

    ABSENT = auto()
    CREATED = auto()
    QUEUED = auto()
    IN_PROGRESS = auto()
    ENDED = auto()


class OrderState(TableState):
    """What the model said last."""

    START = auto()
    REASONING = auto()
    TEXT = auto()
    CALLS = auto()
    FINISHED = auto()


class ItemState(TableState):
    """How far an item, or a part of one, is."""

    ABSENT = auto()  # not announced yet
    OPEN = auto()  # announced; may still grow
    IN_CONTENT = auto()  # a part of its content is open
    IN_SUMMARY = auto()  # a part of its summary is open
    IN_BOTH = auto()
    SETTLED = auto()  # its text is final
    DONE = auto()  # never mentioned again


CREATED = ResponseState.CREATED
QUEUED = ResponseState.QUEUED
IN_PROGRESS = ResponseState.IN_PROGRESS
ENDED = ResponseState.ENDED

RESPONSE: Final[Table[ResponseState]] = {
    ResponseState.ABSENT: {"response.created": CREATED},
    CREATED: {
        "response.queued": QUEUED,
        "response.in_progress": IN_PROGRESS,
    },
    QUEUED: {"response.in_progress": IN_PROGRESS},
    IN_PROGRESS: {
        # Again and again, to keep the line alive: codex's idle timer counts events.
        "response.in_progress": IN_PROGRESS,
        "response.output_item.added": IN_PROGRESS,
        "response.output_item.done": IN_PROGRESS,
        # codex ignores it, openai-python raises at it: only ever before `failed`.
        "error": IN_PROGRESS,
        "response.completed": ENDED,
        "response.incomplete": ENDED,
        "response.failed": ENDED,
    },
    ENDED: {},
}

Speech = Literal["reasoning", "output_text", "tool_call", "finish"]

START = OrderState.START
REASONING = OrderState.REASONING
TEXT = OrderState.TEXT
CALLS = OrderState.CALLS
FINISHED = OrderState.FINISHED

STRICT: Final[Table[OrderState]] = {
    START: {
        "reasoning": REASONING,
        "output_text": TEXT,
        "tool_call": CALLS,
        "finish": FINISHED,
    },
    REASONING: {
        "reasoning": REASONING,
        "output_text": TEXT,
        "tool_call": CALLS,
        "finish": FINISHED,
    },
    TEXT: {"output_text": TEXT, "tool_call": CALLS, "finish": FINISHED},
    CALLS: {"tool_call": CALLS, "finish": FINISHED},
    FINISHED: {},
}

# After anything, anything: each row is the start's.
INTERLEAVED: Final[Table[OrderState]] = {
    **dict.fromkeys((START, REASONING, TEXT, CALLS), STRICT[START]),
    FINISHED: {},
}

Order = Literal["strict", "interleaved"]
ORDERS: Final[Mapping[Order, Table[OrderState]]] = {
    "strict": STRICT,
    "interleaved": INTERLEAVED,
}

ABSENT = ItemState.ABSENT
OPEN = ItemState.OPEN
IN_CONTENT = ItemState.IN_CONTENT
IN_SUMMARY = ItemState.IN_SUMMARY
IN_BOTH = ItemState.IN_BOTH
SETTLED = ItemState.SETTLED
DONE = ItemState.DONE

MESSAGE: Final[Table[ItemState]] = {
    ABSENT: {"response.output_item.added": OPEN},
    OPEN: {
        "response.content_part.added": IN_CONTENT,
        "response.output_item.done": DONE,
    },
    IN_CONTENT: {"response.content_part.done": OPEN},
    DONE: {},
}

REASONING_ITEM: Final[Table[ItemState]] = {
    ABSENT: {"response.output_item.added": OPEN},
    OPEN: {
        "response.content_part.added": IN_CONTENT,
        "response.reasoning_summary_part.added": IN_SUMMARY,
        "response.output_item.done": DONE,
    },
    IN_CONTENT: {
        "response.content_part.done": OPEN,
        "response.reasoning_summary_part.added": IN_BOTH,
    },
    IN_SUMMARY: {
        "response.reasoning_summary_part.done": OPEN,
        "response.content_part.added": IN_BOTH,
    },
    IN_BOTH: {
        "response.content_part.done": IN_SUMMARY,
        "response.reasoning_summary_part.done": IN_CONTENT,
    },
    DONE: {},
}

FUNCTION_CALL: Final[Table[ItemState]] = {
    ABSENT: {"response.output_item.added": OPEN},
    OPEN: {
        "response.function_call_arguments.delta": OPEN,
        "response.function_call_arguments.done": SETTLED,
    },
    SETTLED: {"response.output_item.done": DONE},
    DONE: {},
}

CUSTOM_TOOL_CALL: Final[Table[ItemState]] = {
    ABSENT: {"response.output_item.added": OPEN},
    OPEN: {
        "response.custom_tool_call_input.delta": OPEN,
        "response.custom_tool_call_input.done": SETTLED,
    },
    SETTLED: {"response.output_item.done": DONE},
    DONE: {},
}

HOSTED: Final[Table[ItemState]] = {
    ABSENT: {"response.output_item.added": OPEN},
    OPEN: {"response.output_item.done": DONE},
    DONE: {},
}

ITEMS: Final[Mapping[str, Table[ItemState]]] = {
    "message": MESSAGE,
    "reasoning": REASONING_ITEM,
    "function_call": FUNCTION_CALL,
    "custom_tool_call": CUSTOM_TOOL_CALL,
}
"""The table for each item type; every other type is HOSTED."""

OUTPUT_TEXT: Final[Table[ItemState]] = {
    ABSENT: {"response.content_part.added": OPEN},
    OPEN: {
        "response.output_text.delta": OPEN,
        "response.output_text.annotation.added": OPEN,
        "response.output_text.done": SETTLED,
    },
    SETTLED: {"response.content_part.done": DONE},
    DONE: {},
}

REFUSAL: Final[Table[ItemState]] = {
    ABSENT: {"response.content_part.added": OPEN},
    OPEN: {"response.refusal.delta": OPEN, "response.refusal.done": SETTLED},
    SETTLED: {"response.content_part.done": DONE},
    DONE: {},
}

REASONING_TEXT: Final[Table[ItemState]] = {
    ABSENT: {"response.content_part.added": OPEN},
    OPEN: {
        "response.reasoning_text.delta": OPEN,
        "response.reasoning_text.done": SETTLED,
        # The same two as Open Responses names them.
        "response.reasoning.delta": OPEN,
        "response.reasoning.done": SETTLED,
    },
    SETTLED: {"response.content_part.done": DONE},
    DONE: {},
}

SUMMARY_TEXT: Final[Table[ItemState]] = {
    ABSENT: {"response.reasoning_summary_part.added": OPEN},
    OPEN: {
        "response.reasoning_summary_text.delta": OPEN,
        "response.reasoning_summary_text.done": SETTLED,
    },
    SETTLED: {"response.reasoning_summary_part.done": DONE},
    DONE: {},
}

PARTS: Final[Mapping[str, Table[ItemState]]] = {
    "output_text": OUTPUT_TEXT,
    "refusal": REFUSAL,
    "reasoning_text": REASONING_TEXT,
    "summary_text": SUMMARY_TEXT,
}
"""The table for each part type."""


class Machine(Generic[State]):
    """A place in a table, and the way through it."""

    __slots__ = ("_blame", "exits", "state", "table")

    def __init__(self, table: Table[State], blame: type[ProtocolError]) -> None:
        self.table = table
        self.state: State = next(iter(table))
        self.exits = table[self.state]
        """The row of the present state: what may come now, and where it leads."""
        self._blame = blame

    def stays(self, event: str) -> bool:
        """Whether `event` is legal now and changes nothing: so it stays legal."""
        return self.exits.get(event) is self.state

    def advance(self, event: str) -> None:
        """Takes one step. An illegal event raises `blame` and leaves all as it was."""
        following = self.exits.get(event)
        if following is None:
            legal = " or ".join(self.exits) or "nothing more"
            raise self._blame(f"{event} in state {self.state.name}; expected {legal}")
        if following is not self.state:
            self.state = following
            self.exits = self.table[following]


# What no table can say. ---------------------------------------------------------------

TERMINALS: Final[Mapping[str, str]] = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
"""A terminal event's `response.status` is the last word of its name."""


def is_phantom(text: str) -> bool:
    """White space alone makes no message and no reasoning (clients.md R13)."""
    return not text or text.isspace()

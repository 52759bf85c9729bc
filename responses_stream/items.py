"""What a response is made of: output items, their parts, token usage, log probabilities.

Each is a frozen value whose fields are the wire's keys in the wire's order; class names
are the wire's `type`. An item in `output_item.done` and in the final `output` is the
same object, so the two cannot differ.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

Status = Literal["in_progress", "completed", "incomplete"]


class TopLogprob(Struct, frozen=True, gc=False):
    """One token that might have stood there."""

    token: str
    logprob: float
    bytes: tuple[int, ...] = ()


class Logprob(Struct, frozen=True, gc=False):
    """The log probability of one token, and of those that might have stood there."""

    token: str
    logprob: float
    bytes: tuple[int, ...] = ()
    """The token in UTF-8: a token may hold only a part of a character."""
    top_logprobs: tuple[TopLogprob, ...] = ()


class OutputText(Struct, frozen=True, tag="output_text"):
    """A part of a message: text, with what is known about stretches of it."""

    text: str
    annotations: tuple[dict[str, Any], ...] = ()
    logprobs: tuple[Logprob, ...] = ()


class Refusal(Struct, frozen=True, tag="refusal"):
    """A part of a message: the model says why it will not answer."""

    refusal: str


class ReasoningText(Struct, frozen=True, tag="reasoning_text"):
    """A part of a reasoning item's content: the thoughts themselves."""

    text: str


class SummaryText(Struct, frozen=True, tag="summary_text"):
    """A part of a reasoning item's summary."""

    text: str


Part = OutputText | Refusal | ReasoningText | SummaryText


class Message(Struct, frozen=True, tag="message"):
    """What the model says to the user."""

    id: str
    status: Status
    content: tuple[Part, ...] = ()
    role: Literal["assistant"] = "assistant"


class Reasoning(Struct, frozen=True, tag="reasoning"):
    """What the model thinks. `summary` is required, even empty; `content` is left out
    when the thoughts go out as a summary only. Never `encrypted_content: null`, which
    Open Responses refuses.
    """

    id: str
    status: Status
    summary: tuple[SummaryText, ...] = ()
    content: tuple[Part, ...] | UnsetType = UNSET


class FunctionCall(Struct, frozen=True, tag="function_call"):
    """A call of a function tool. `arguments` is JSON text, as the model wrote it."""

    id: str
    status: Status
    call_id: str
    name: str
    arguments: str
    namespace: str | UnsetType = UNSET


class CustomToolCall(Struct, frozen=True, tag="custom_tool_call"):
    """A call of a custom (freeform) tool. `input` is plain text."""

    id: str
    status: Status
    call_id: str
    name: str
    input: str
    namespace: str | UnsetType = UNSET


Item = Message | Reasoning | FunctionCall | CustomToolCall

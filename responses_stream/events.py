"""The events of a transcript: one frozen class for each `type` that a stream emits.

A class name follows mechanically from its wire name: the `response.` goes, the rest is
CamelCase, and a name of one word keeps its `Response` (`response.created`:
`ResponseCreated`). Fields are the wire's keys in the wire's order.

A new one is a class here and an entry of EVENTS. A table of state.py says when it may come;
if it tells of a part or a call, a row of kinds.py names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .items import Item, Logprob, Part, SummaryText
from .wire import DeltaEvent, Event, Place


class ResponseEvent(Event, frozen=True):
    """An event about the whole response, which it carries as it is by then."""

    response: dict[str, Any]
    sequence_number: int


class ResponseCreated(ResponseEvent, frozen=True, tag="response.created"):
    """The response exists. Always the first event."""


class ResponseInProgress(ResponseEvent, frozen=True, tag="response.in_progress"):
    """The response is being made. The second event; a later one keeps the line alive."""


class ResponseCompleted(ResponseEvent, frozen=True, tag="response.completed"):
    """The response is whole. A last event."""


class ResponseIncomplete(ResponseEvent, frozen=True, tag="response.incomplete"):
    """The response was cut; `incomplete_details.reason` says by what. A last event."""


class ResponseFailed(ResponseEvent, frozen=True, tag="response.failed"):
    """The response broke off; `error` says why. A last event."""


class ItemEvent(Event, frozen=True):
    """An event that carries an output item."""

    output_index: int
    item: Item
    sequence_number: int


class OutputItemAdded(ItemEvent, frozen=True, tag="response.output_item.added"):
    """An output item begins."""


class OutputItemDone(ItemEvent, frozen=True, tag="response.output_item.done"):
    """An output item is final. codex takes items from here and nowhere else."""


class ContentPartEvent(Event, frozen=True):
    """An event that carries a part of an item's content."""

    item_id: str
    output_index: int
    content_index: int
    part: Part
    sequence_number: int


class ContentPartAdded(ContentPartEvent, frozen=True, tag="response.content_part.added"):
    """A part of an item's content begins."""


class ContentPartDone(ContentPartEvent, frozen=True, tag="response.content_part.done"):
    """A part of an item's content is final."""


class SummaryPartEvent(Event, frozen=True):
    """An event that carries a part of a reasoning summary."""

    item_id: str
    output_index: int
    summary_index: int
    part: SummaryText
    sequence_number: int


class ReasoningSummaryPartAdded(
    SummaryPartEvent, frozen=True, tag="response.reasoning_summary_part.added"
):
    """A part of a reasoning summary begins."""


class ReasoningSummaryPartDone(
    SummaryPartEvent, frozen=True, tag="response.reasoning_summary_part.done"
):
    """A part of a reasoning summary is final."""


class OutputTextDelta(DeltaEvent, frozen=True, tag="response.output_text.delta"):
    """More text of a message."""

    @classmethod
    def place_at(
        cls, *where: str | int, logprobs: tuple[Logprob, ...] = (), **extra: Any
    ) -> Place:
        """See DeltaEvent.place_at. Deltas with log probabilities have each their own."""
        return super().place_at(*where, logprobs=logprobs, **extra)

    @property
    def logprobs(self) -> tuple[Logprob, ...]:
        """Those of the tokens that the delta is made of, if they were asked for."""
        found: tuple[Logprob, ...] = self.place.extra["logprobs"]
        return found

    @classmethod
    def read_extra(cls, wire: Mapping[str, Any]) -> dict[str, Any]:
        """See DeltaEvent.read_extra."""
        return {"logprobs": msgspec.convert(wire["logprobs"], tuple[Logprob, ...])}


class RefusalDelta(DeltaEvent, frozen=True, tag="response.refusal.delta"):
    """More text of a refusal."""


class ReasoningTextDelta(DeltaEvent, frozen=True, tag="response.reasoning_text.delta"):
    """More of the thoughts."""


class ReasoningDelta(DeltaEvent, frozen=True, tag="response.reasoning.delta"):
    """More of the thoughts, as Open Responses names it."""


class ReasoningSummaryTextDelta(
    DeltaEvent, frozen=True, tag="response.reasoning_summary_text.delta"
):
    """More of a reasoning summary."""

    keys = ("item_id", "output_index", "summary_index")


class FunctionCallArgumentsDelta(
    DeltaEvent, frozen=True, tag="response.function_call_arguments.delta"
):
    """More of a function call's JSON arguments."""

    keys = ("item_id", "output_index")


class CustomToolCallInputDelta(
    DeltaEvent, frozen=True, tag="response.custom_tool_call_input.delta"
):
    """More of a custom tool call's input."""

    keys = ("item_id", "output_index")


class OutputTextAnnotationAdded(
    Event, frozen=True, tag="response.output_text.annotation.added"
):
    """A citation on the text so far."""

    item_id: str
    output_index: int
    content_index: int
    annotation_index: int
    annotation: dict[str, Any]
    sequence_number: int


class OutputTextDone(Event, frozen=True, tag="response.output_text.done"):
    """The text of a message part is final: the sum of its deltas."""

    item_id: str
    output_index: int
    content_index: int
    text: str
    logprobs: tuple[Logprob, ...]
    sequence_number: int


class RefusalDone(Event, frozen=True, tag="response.refusal.done"):
    """A refusal is final."""

    item_id: str
    output_index: int
    content_index: int
    refusal: str
    sequence_number: int


class ReasoningTextDone(Event, frozen=True, tag="response.reasoning_text.done"):
    """The thoughts are final."""

    item_id: str
    output_index: int
    content_index: int
    text: str
    sequence_number: int


class ReasoningDone(Event, frozen=True, tag="response.reasoning.done"):
    """The thoughts are final, as Open Responses names it."""

    item_id: str
    output_index: int
    content_index: int
    text: str
    sequence_number: int


class ReasoningSummaryTextDone(
    Event, frozen=True, tag="response.reasoning_summary_text.done"
):
    """A reasoning summary is final."""

    item_id: str
    output_index: int
    summary_index: int
    text: str
    sequence_number: int


class FunctionCallArgumentsDone(
    Event, frozen=True, tag="response.function_call_arguments.done"
):
    """A function call's arguments are final."""

    item_id: str
    output_index: int
    name: str
    arguments: str
    sequence_number: int


class CustomToolCallInputDone(
    Event, frozen=True, tag="response.custom_tool_call_input.done"
):
    """A custom tool call's input is final."""

    item_id: str
    output_index: int
    input: str
    sequence_number: int


EVENTS: Final[dict[str, type[Event]]] = {
    str(cls.__struct_config__.tag): cls
    for cls in (
        ResponseCreated,
        ResponseInProgress,
        ResponseCompleted,
        ResponseIncomplete,
        ResponseFailed,
        OutputItemAdded,
        OutputItemDone,
        ContentPartAdded,
        ContentPartDone,
        ReasoningSummaryPartAdded,
        ReasoningSummaryPartDone,
        OutputTextDelta,
        RefusalDelta,
        ReasoningTextDelta,
        ReasoningDelta,
        ReasoningSummaryTextDelta,
        FunctionCallArgumentsDelta,
        CustomToolCallInputDelta,
        OutputTextAnnotationAdded,
        OutputTextDone,
        RefusalDone,
        ReasoningTextDone,
        ReasoningDone,
        ReasoningSummaryTextDone,
        FunctionCallArgumentsDone,
        CustomToolCallInputDone,
    )
}
"""Every event class by its wire name."""

# The wire name is written once, as the class's tag.
for _type, _class in EVENTS.items():
    _class.type = _type
    _class.head = b"event: %b\ndata: " % _type.encode()


def decode(wire: Mapping[str, Any]) -> Event:
    """The event that a frame's `data` holds.

    KeyError for a `type` that no stream of ours emits or a missing key,
    msgspec.ValidationError for a value of another shape.
    """
    return EVENTS[wire["type"]].from_dict(wire)

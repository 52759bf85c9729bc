"""Judges a transcript, whoever made it.

`TranscriptChecker` is the reverse of `ResponseStream`: it runs every event through the same
tables (state.py) and rules (rules.py), and reports all that is wrong. It never raises,
whatever it is given, and goes on behind every violation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from .errors import RemoteProtocolError
from .event_types import FIELDS, misshapen
from .events import ResponseCompleted
from .rules import (
    ERRORS,
    Fault,
    Level,
    item_added_empty,
    item_shape,
    phantom_item,
    short,
    word,
)
from .seen import SeenItem, SeenResponse
from .state import (
    IN_PROGRESS,
    ORDERS,
    RESPONSE,
    TERMINALS,
    Machine,
    Order,
    Speech,
)


class Violation(msgspec.Struct, frozen=True):
    """One broken rule."""

    rule: str
    """A name in rules.ERRORS or rules.WARNINGS."""
    message: str
    """What was found, and what was expected."""
    sequence_number: object = None
    """Of the event that breaks it, as it was sent; None if there is none."""
    item_id: object = None
    """Of the item concerned, as it was sent; None if none is."""

    @property
    def level(self) -> Level:
        """`error` if a strict client breaks or a promise does, else `warning`."""
        return "error" if self.rule in ERRORS else "warning"


COMPLETED: Final = ResponseCompleted.type

SPEECH: Final[Mapping[str, Speech]] = {
    "reasoning": "reasoning",
    "message": "output_text",
    "function_call": "tool_call",
    "custom_tool_call": "tool_call",
}


class TranscriptChecker:
    """Judges one transcript.

    Args:
        order: `strict` also reports items that come in another order than reasoning, text,
            calls.
        starting_after: The transcript is the rest of one, as a resumed stream sends it:
            what stands before, up to this sequence number, is not missed.
    """

    def __init__(
        self, *, order: Order = "interleaved", starting_after: int | None = None
    ) -> None:
        self._resumed = starting_after is not None
        self._next_number = 0 if starting_after is None else starting_after + 1
        self._response = Machine(RESPONSE, RemoteProtocolError)
        if self._resumed:
            self._response.advance("response.created")
            self._response.advance("response.in_progress")
        self._order = Machine(ORDERS[order], RemoteProtocolError)
        self._seen = SeenResponse(resumed=self._resumed)
        self._items: dict[int, SeenItem] = {}
        self._next_index: int | None = None if self._resumed else 0
        self._open: list[SeenItem] = []
        """What was open when an item was last announced: one, if all is well."""
        self._owners: dict[tuple[str, object], SeenItem] = {}
        """The first item with each id and each call_id."""
        self._violations: list[Violation] = []
        self._wire: Mapping[str, Any] = {}

    def feed(self, event: object) -> list[Violation]:
        """What is wrong with the next event: a typed one, or its JSON object."""
        to_dict = getattr(event, "to_dict", None)
        wire = event if to_dict is None else to_dict()
        if not isinstance(wire, Mapping):
            self._wire = {}
            self._report("frame", f"the event is {short(wire)}; expected an object")
        else:
            self._wire = wire
            try:
                self._judge(wire)
            except RecursionError:
                self._report("frame", "the event is nested too deep; nobody reads it")
        return self._drain()

    def close(self) -> list[Violation]:
        """What is wrong with the transcript's end."""
        self._wire = {}
        if self._response.exits:
            self._report(
                "no-end",
                f"the transcript ends in state {self._response.state.name};"
                f" expected {' or '.join(TERMINALS)}",
            )
            self._unclosed("the end of the transcript", "unclosed")
        return self._drain()

    def _drain(self) -> list[Violation]:
        violations, self._violations = self._violations, []
        return violations

    def _report(self, rule: str, message: str, item_id: object = None) -> None:
        if item_id is None:
            item = self._wire.get("item")
            item_id = self._wire.get("item_id")
            if item_id is None and isinstance(item, Mapping):
                item_id = item.get("id")
        number = self._wire.get("sequence_number")
        self._violations.append(Violation(rule, message, number, item_id))

    def _report_all(self, faults: Iterable[Fault], item_id: object = None) -> None:
        for fault in faults:
            self._report(fault.rule, fault.message, fault.item_id or item_id)

    def _advance(self, machine: Machine[Any], event: str, rule: str) -> bool:
        """Whether the table allows `event`; reports it if not."""
        try:
            machine.advance(event)
        except RemoteProtocolError as error:
            self._report(rule, str(error))
            return False
        return True

    # One event ------------------------------------------------------------------------

    def _judge(self, wire: Mapping[str, Any]) -> None:
        type_ = wire.get("type")
        self._judge_number(wire)
        if not isinstance(type_, str):
            self._report("field", f"type is {short(type_)}; expected a string")
        elif type_ not in FIELDS:
            # Extensions carry their maker's prefix, and clients pass over them.
            if ":" not in type_:
                self._report("event-type", f"the type {short(type_)} is unknown to clients")
        elif self._has_fields(type_, wire):
            if type_ in RESPONSE[IN_PROGRESS] or "response" in FIELDS[type_]:
                self._advance(self._response, type_, "response-order")
            elif self._response.state is not IN_PROGRESS:
                self._report(
                    "response-order",
                    f"{type_} in state {self._response.state.name}; expected it between"
                    " response.in_progress and the terminal event",
                )
            judge = self._JUDGES.get(type_, TranscriptChecker._judge_growth)
            judge(self, type_, wire)

    def _judge_number(self, wire: Mapping[str, Any]) -> None:
        number = wire.get("sequence_number")
        if isinstance(number, bool) or not isinstance(number, int):
            self._report(
                "field", f"sequence_number is {short(number)}; expected an integer"
            )
            self._next_number += 1
            return
        if number != self._next_number:
            self._report(
                "sequence",
                f"sequence_number is {short(number)}; expected {short(self._next_number)}",
            )
        self._next_number = number + 1

    def _has_fields(self, type_: str, wire: Mapping[str, Any]) -> bool:
        whole = True
        for key in FIELDS[type_]:
            wanted = misshapen(type_, key, wire.get(key))
            if wanted is not None:
                found = short(wire[key]) if key in wire else "missing"
                self._report("field", f"{key} is {found}; expected {wanted}")
                whole = False
        return whole

    # The response ---------------------------------------------------------------------

    def _judge_response(self, type_: str, wire: Mapping[str, Any]) -> None:
        self._report_all(self._seen.judge(type_, wire["response"], self._items))
        if type_ in TERMINALS:
            # What was cut short may be left as it is: codex takes a done item for a whole
            # one (codex.md sections 3 and 5).
            self._unclosed(type_, "unclosed" if type_ == COMPLETED else "left-open")

    def _unclosed(self, where: str, rule: str) -> None:
        for item in self._items.values():
            for what in item.unclosed():
                self._report(rule, f"{what} is open at {where}", item.id)

    # Items and parts ------------------------------------------------------------------

    def _judge_added(self, type_: str, wire: Mapping[str, Any]) -> None:
        index, item = wire["output_index"], wire["item"]
        self._report_all((*item_shape(item), *item_added_empty(item)), item.get("id"))
        if self._next_index not in (None, index):
            message = f"output_index is {short(index)}; expected {short(self._next_index)}"
            self._report("output-index", message, item.get("id"))
        self._open = [other for other in self._open if other.is_open]
        for other in self._open:
            message = f"the item {short(other.id)} is still open; expected its done first"
            self._report("one-item", message, item.get("id"))
        keys = ["id"]
        if not word(item.get("type")).endswith("_output"):
            keys.append("call_id")  # An output names the call that it answers.
        for key in keys:
            owner = self._owners.get((key, short(item.get(key))))
            if owner is not None and item.get(key) is not None:
                message = f"the {key} {short(item[key])} was used by {short(owner.id)}"
                self._report("item-id", message, item.get("id"))
        speech = SPEECH.get(word(item.get("type")))
        if speech is not None:
            self._advance(self._order, speech, "order")
        seen = SeenItem(index, item)
        self._advance(seen.machine, type_, "item-order")
        self._remember(index, seen)
        self._open.append(seen)
        for key in keys:
            self._owners.setdefault((key, short(item.get(key))), seen)

    def _remember(self, index: int, item: SeenItem) -> None:
        self._items[index] = item
        self._next_index = max(index + 1, self._next_index or 0)

    def _judge_done(self, type_: str, wire: Mapping[str, Any]) -> None:
        item = wire["item"]
        self._report_all((*item_shape(item), *phantom_item(item)), item.get("id"))
        seen = self._item_of(wire, item.get("id"))
        if seen is None:
            return
        if seen.resumed or self._advance(seen.machine, type_, "item-order"):
            self._report_all(seen.finish(item), seen.id)

    def _judge_part(self, type_: str, wire: Mapping[str, Any]) -> None:
        item = self._item_of(wire, wire["item_id"])
        if item is None or item.resumed:
            return
        opens = type_.endswith(".added")
        part = item.next_part(wire) if opens else item.part_of(wire)
        if part is None:
            self._no_part(wire)
            return
        self._advance(item.machine, type_, "item-order")
        if self._advance(part.machine, type_, "part-order"):
            faults = part.begin(wire["part"]) if opens else part.finish(wire["part"])
            self._report_all(faults)

    def _judge_growth(self, type_: str, wire: Mapping[str, Any]) -> None:
        """A delta, a done text, or whatever else happens to an announced item."""
        if "output_index" not in FIELDS[type_]:
            return  # Errors and audio belong to no item.
        item = self._item_of(wire, wire.get("item_id"))
        if item is None or item.resumed:
            return
        if "content_index" in FIELDS[type_] or "summary_index" in FIELDS[type_]:
            part = item.part_of(wire)
            if part is None:
                self._no_part(wire)
            elif self._advance(part.machine, type_, "part-order"):
                self._report_all(part.grow(type_, wire))
        elif item.allows(type_) or self._advance(item.machine, type_, "item-order"):
            self._report_all(item.grow(type_, wire))

    def _no_part(self, wire: Mapping[str, Any]) -> None:
        index = wire.get("content_index", wire.get("summary_index"))
        self._report("part-index", f"part {short(index)} is not the next, or not announced")

    def _item_of(self, wire: Mapping[str, Any], item_id: object) -> SeenItem | None:
        """The item that an event is about, if it can be judged; reports if it is unlike."""
        index = wire["output_index"]
        item = self._items.get(index)
        if item is None and self._resumed:
            item = SeenItem(index, {"id": item_id}, resumed=True)
            self._remember(index, item)
        if item is None:
            message = f"output_index {short(index)} was not announced"
            self._report("output-index", message, item_id)
            return None
        if item_id is not None and item.id != item_id:
            message = f"the id is {short(item_id)}; expected {short(item.id)}, as announced"
            self._report("item-id", message, item_id)
        return item

    _JUDGES: Final[
        Mapping[str, Callable[[TranscriptChecker, str, Mapping[str, Any]], None]]
    ] = {
        **dict.fromkeys(
            (key for key, fields in FIELDS.items() if "response" in fields),
            _judge_response,
        ),
        "response.output_item.added": _judge_added,
        "response.output_item.done": _judge_done,
        "response.content_part.added": _judge_part,
        "response.content_part.done": _judge_part,
        "response.reasoning_summary_part.added": _judge_part,
        "response.reasoning_summary_part.done": _judge_part,
    }

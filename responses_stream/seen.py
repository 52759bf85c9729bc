"""What a checker has seen of a response, an item and a part, held against what comes next.

Each class keeps what was streamed and yields the faults of what claims to repeat it.
Whether an event may come at all is for the tables to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .errors import RemoteProtocolError
from .event_types import FIELDS
from .rules import (
    ITEM_TEXT,
    PART_TEXT,
    Fault,
    reason_faults,
    response_shape,
    short,
    unlike,
    usage_faults,
    word,
)
from .state import (
    ABSENT,
    CUSTOM_TOOL_CALL,
    DONE,
    FUNCTION_CALL,
    HOSTED,
    ITEMS,
    OPEN,
    PARTS,
    TERMINALS,
    ItemState,
    Machine,
    Table,
)

OUTCOME: Final = frozenset(
    ("status", "output", "usage", "error", "incomplete_details", "completed_at")
)
"""The keys of a response that tell what came of it; all others are an echo."""

TOLD_LATE: Final = {"service_tier": "auto", "content_filters": None}
"""What OpenAI and Azure know only at the end, and what they say until then."""

IDENTITY: Final = ("type", "call_id", "name", "namespace", "role")

CALL_EVENTS: Final = frozenset((*FUNCTION_CALL[OPEN], *CUSTOM_TOOL_CALL[OPEN]))
"""What no other item but such a call may say."""

OTHER_PART: Final[Table[ItemState]] = {
    ABSENT: {"response.content_part.added": OPEN},
    OPEN: {"response.content_part.done": DONE},
    DONE: {},
}
"""For a part type that nobody has told us of."""


class SeenPart:
    """A part, and what was streamed of it."""

    def __init__(self, part_type: object) -> None:
        self.type = part_type
        self.machine = Machine(PARTS.get(word(part_type), OTHER_PART), RemoteProtocolError)
        self.done: Mapping[str, Any] | None = None
        self._key = PART_TEXT.get(word(part_type), "text")
        self._pieces: list[str] = []
        self._logprobs: list[Any] = []
        self._annotations: list[Any] = []

    def begin(self, part: Mapping[str, Any]) -> Iterator[Fault]:
        """Faults of the part as it is announced."""
        for key in (self._key, "annotations", "logprobs"):
            if part.get(key):
                message = f"{key} is {short(part[key])}; expected it empty"
                yield Fault("added-empty", message)

    def grow(self, event: str, wire: Mapping[str, Any]) -> Iterator[Fault]:
        """Faults of a delta, an annotation or a done text."""
        if event == "response.output_text.annotation.added":
            number = wire["annotation_index"]
            if number != len(self._annotations):
                message = f"annotation_index is {short(number)}; expected the next"
                yield Fault("part-index", f"{message}, {len(self._annotations)}")
            self._annotations.append(wire.get("annotation"))
        elif event.endswith(".delta"):
            self._pieces.append(wire["delta"])
            if "logprobs" in FIELDS[event]:
                self._logprobs += wire["logprobs"]
        else:
            yield from said_again(wire[self._key], self._pieces, "deltas")
            if "logprobs" in FIELDS[event]:
                yield from self._logprobs_again(wire["logprobs"], "deltas")

    def finish(self, part: Mapping[str, Any]) -> Iterator[Fault]:
        """Faults of the finished part."""
        self.done = part
        if part.get("type") != self.type:
            message = f"type is {short(part.get('type'))}; expected {short(self.type)}"
            yield Fault("part-repeats", message)
        yield from said_again(part.get(self._key), self._pieces, "part-repeats")
        yield from self._logprobs_again(part.get("logprobs"), "part-repeats")
        if (part.get("annotations") or []) != self._annotations:
            found = short(part.get("annotations"))
            message = f"annotations is {found}; expected {short(self._annotations)}"
            yield Fault("part-repeats", message)

    def _logprobs_again(self, logprobs: object, rule: str) -> Iterator[Fault]:
        if logprobs and _tokens(logprobs) != _tokens(self._logprobs):
            yield Fault(rule, "logprobs are not those of the deltas")
        elif self._logprobs and not logprobs:
            # vLLM repeats them in the part alone, and no client minds.
            rule = "logprobs" if rule == "deltas" else rule
            yield Fault(rule, "no logprobs; expected those of the deltas")


class SeenItem:
    """An item, and what was streamed of it.

    With `resumed`, its beginning was not seen: only its last word can be judged.
    """

    def __init__(
        self, index: int, added: Mapping[str, Any], *, resumed: bool = False
    ) -> None:
        self.index = index
        self.id = added.get("id")
        self.call_id = added.get("call_id")
        self.machine = Machine(
            ITEMS.get(word(added.get("type")), HOSTED), RemoteProtocolError
        )
        self.done: Mapping[str, Any] | None = None
        self._added = added
        self._parts: dict[tuple[str, int], SeenPart] = {}
        self._pieces: list[str] = []
        self.resumed = resumed

    @property
    def is_open(self) -> bool:
        """Whether its done is still to come."""
        return bool(self.machine.exits) and not self.resumed

    @property
    def claims_whole(self) -> bool:
        """Whether it is said to be completed. Reasoning of OpenAI says nothing of it, and
        a hosted tool is not cut when the model is.
        """
        done = self.done or {}
        return self.machine.table is not HOSTED and done.get("status") == "completed"

    def allows(self, event: str) -> bool:
        """Whether `event` needs no leave of the item's table: hosted tools have none."""
        return self.machine.table is HOSTED and event not in CALL_EVENTS and self.is_open

    def next_part(self, wire: Mapping[str, Any]) -> SeenPart | None:
        """A new part, if it is the one that comes next."""
        kind, index = _key(wire)
        if index != sum(other == kind for other, _ in self._parts):
            return None
        return self._parts.setdefault((kind, index), SeenPart(wire["part"].get("type")))

    def part_of(self, wire: Mapping[str, Any]) -> SeenPart | None:
        """The announced part that an event is about."""
        return self._parts.get(_key(wire))

    def unclosed(self) -> Iterator[str]:
        """Whatever is still open, by name."""
        if self.is_open:
            yield f"the item {short(self.id)}"
        for (kind, index), part in self._parts.items():
            if part.machine.exits:
                yield f"part {short(index)} of the {kind} of {short(self.id)}"

    def grow(self, event: str, wire: Mapping[str, Any]) -> Iterator[Fault]:
        """Faults of more text of an item without parts, or of its done text."""
        key = ITEM_TEXT.get(word(self._added.get("type")))
        if event.endswith(".delta"):
            self._pieces.append(str(wire["delta"]))
        elif key is not None and key in FIELDS[event]:
            yield from said_again(wire[key], self._pieces, "deltas")
            name = wire.get("name", self._added.get("name"))
            if name != self._added.get("name"):
                message = (
                    f"name is {short(name)}; expected {short(self._added.get('name'))}"
                )
                yield Fault("item-identity", message)

    def finish(self, item: Mapping[str, Any]) -> Iterator[Fault]:
        """Faults of the finished item."""
        self.done = item
        if self.resumed:
            return
        for key in IDENTITY:
            if item.get(key) != self._added.get(key):
                found, wanted = short(item.get(key)), short(self._added.get(key))
                message = f"{key} is {found}; expected {wanted}, as announced"
                yield Fault("item-identity", message)
        if self.machine.table is not HOSTED and item.get("status") == "in_progress":
            yield Fault("status", "status is 'in_progress' in a done item")
        if self.machine.table in (FUNCTION_CALL, CUSTOM_TOOL_CALL):
            key = ITEM_TEXT[word(self._added["type"])]
            yield from said_again(item.get(key), self._pieces, "item-repeats")
        elif self.machine.table is not HOSTED:
            yield from self._parts_again("content", item.get("content"))
            yield from self._parts_again("summary", item.get("summary"))

    def _parts_again(self, kind: str, found: object) -> Iterator[Fault]:
        streamed = [part.done for (k, _), part in self._parts.items() if k == kind]
        if (found or []) != streamed:
            message = f"{kind} is {short(found)}; expected {short(streamed)}, as streamed"
            yield Fault("item-repeats", message)


class SeenResponse:
    """The response object, as each event about it shows it."""

    def __init__(self, *, resumed: bool = False) -> None:
        self._resumed = resumed
        self._echo: Mapping[str, Any] | None = None

    def judge(
        self, event: str, response: Mapping[str, Any], items: Mapping[int, SeenItem]
    ) -> Iterator[Fault]:
        """Faults of the object in itself, against the one before, and the items so far."""
        yield from response_shape(response)
        yield from self._judge_echo(response)
        status = TERMINALS.get(event, event.rpartition(".")[2])
        # A background response may begin as queued.
        early = event == "response.created"
        allowed = ("in_progress", "queued") if early else (status,)
        if response.get("status") not in allowed:
            found = short(response.get("status"))
            message = f"response.status is {found} in {event}"
            yield Fault("status", f"{message}; expected {' or '.join(allowed)}")
        yield from reason_faults(response)
        if response.get("usage") is not None:
            yield from usage_faults(response["usage"])
        elif status in ("completed", "incomplete"):
            yield Fault("no-usage", "usage is missing; expected token counters")
        yield from self._judge_output(response, items)
        if event in TERMINALS:
            yield from _judge_end(response, items)

    def _judge_echo(self, response: Mapping[str, Any]) -> Iterator[Fault]:
        echo = {key: value for key, value in response.items() if key not in OUTCOME}
        first = self._echo = echo if self._echo is None else self._echo
        if echo.get("id") != first.get("id"):
            found, wanted = short(echo.get("id")), short(first.get("id"))
            yield Fault("response-id", f"response.id is {found}; expected {wanted}")
        late = {
            k: echo.get(k) for k, v in TOLD_LATE.items() if k in first and first[k] == v
        }
        for difference in unlike({**echo, "id": 0}, {**first, **late, "id": 0}):
            yield Fault("response-repeats", f"response.{difference}")

    def _judge_output(
        self, response: Mapping[str, Any], items: Mapping[int, SeenItem]
    ) -> Iterator[Fault]:
        output = response.get("output")
        if not isinstance(output, list):
            return  # Has been found of a wrong shape.
        # What was done before the cut stands before the first item that is seen.
        unseen = min(items, default=len(output)) if self._resumed else 0
        for index, item in enumerate(output):
            if index in items:
                yield from _final(index, item, items[index])
            elif index >= unseen:
                message = f"output[{index}] is {short(item)}; expected no more items"
                yield Fault("final-output", message)


def _judge_end(
    response: Mapping[str, Any], items: Mapping[int, SeenItem]
) -> Iterator[Fault]:
    """A terminal event tells of all that was streamed."""
    output = response.get("output")
    for index, item in items.items():
        if item.done is not None and isinstance(output, list) and index >= len(output):
            message = f"output[{index}] is missing; expected {short(item.done)}"
            yield Fault("final-output", message, item.id)
    cut = False
    outcome = response.get("status")
    for item in items.values():
        status = item.done.get("status") if item.done is not None else None
        if status == "incomplete" and outcome == "completed":
            message = "an incomplete item; expected none in a completed response"
            yield Fault("truncated-item", message, item.id)
        elif cut and status == "completed":
            message = "a completed item; expected none behind an incomplete one"
            yield Fault("truncated-item", message, item.id)
        cut = cut or status == "incomplete"
    if items and outcome == "incomplete" and not cut and items[max(items)].claims_whole:
        message = "an incomplete response without an incomplete item; expected it last"
        yield Fault("truncated-item", message, items[max(items)].id)


def _final(index: int, found: object, item: SeenItem) -> Iterator[Fault]:
    if not isinstance(found, Mapping) or item.done is None:
        message = f"output[{index}] is {short(found)}; expected a done item"
        yield Fault("final-output", message, item.id)
    else:
        # OpenAI encrypts the same thoughts anew in each event.
        secret = {"encrypted_content": None}
        for difference in unlike({**found, **secret}, {**item.done, **secret}):
            message = f"output[{index}].{difference}, as streamed"
            yield Fault("final-output", message, item.id)


def said_again(found: object, pieces: list[str], rule: str) -> Iterator[Fault]:
    """A text that is said again is the sum of its deltas."""
    streamed = "".join(pieces)
    if found != streamed:
        message = f"the text is {short(found)}; expected {short(streamed)}"
        yield Fault(rule, f"{message}, the sum of its deltas")


def _tokens(logprobs: object) -> list[object]:
    """What repeats: a part also tells the bytes of each token, which a delta may not."""
    entries = logprobs if isinstance(logprobs, list) else [logprobs]
    return [
        (entry.get("token"), entry.get("logprob")) if isinstance(entry, Mapping) else entry
        for entry in entries
    ]


def _key(wire: Mapping[str, Any]) -> tuple[str, int]:
    """Where a part stands: in the content or the summary, and at which index."""
    if "summary_index" in wire:
        return "summary", wire["summary_index"]
    return "content", wire["content_index"]

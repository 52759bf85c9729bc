"""How strong the checker is: one event of a good transcript changed, it must say so.

Every snapshot is mutated in every way: each event removed, repeated, moved to every other
place, and each value in it altered. The numbers are counted anew, so that the grammar and
not the counter has to notice. What the checker cannot know stands in `excused`, with the
reason; everything else must be an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from helpers import SNAPSHOTS, errors

from responses_stream import SSEDecoder

Wire = dict[str, Any]
Path = tuple[str | int, ...]

LONG = 80
"""A transcript of more events has its events moved to the neighbouring places alone."""


class Mutant(msgspec.Struct):
    """A transcript with one change."""

    what: str
    wires: list[Wire]
    excuse: str | None = None
    """Why nobody could see the change; None if it must be found."""


def read(name: str) -> list[Wire]:
    frames = SSEDecoder().feed((SNAPSHOTS / f"{name}.sse").read_bytes())
    return [msgspec.json.decode(frame.data) for frame in frames[:-1]]


def mutants(wires: list[Wire]) -> Iterator[Mutant]:
    for at, wire in enumerate(wires):
        rest = wires[:at] + wires[at + 1 :]
        yield Mutant(f"{at} removed", rest, excuse_removed(wires, at))
        yield Mutant(
            f"{at} repeated", [*wires[: at + 1], *wires[at:]], excuse_repeated(wire)
        )
        for to in places(len(wires), at):
            moved = [*rest[:to], wire, *rest[to:]]
            if moved != wires:
                yield Mutant(f"{at} moved to {to}", moved, excuse_moved(wires, at, to))
        for path, value in leaves(wire):
            if path != ("sequence_number",):
                altered = [
                    *wires[:at],
                    with_value(wire, path, other(value)),
                    *wires[at + 1 :],
                ]
                yield Mutant(f"{at} altered at {path}", altered, excuse_altered(path))


def places(count: int, at: int) -> Iterator[int]:
    near = range(max(at - 1, 0), min(at + 2, count))
    yield from (to for to in (range(count) if count <= LONG else near) if to != at)


def leaves(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from leaves(entry, (*path, key))
    elif isinstance(value, list) and value:
        for index, entry in enumerate(value):
            yield from leaves(entry, (*path, index))
    else:
        yield path, value


def other(value: object) -> object:
    """Another value of the same type, where there is one."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case list():
            return [{"type": "other"}]
        case dict():
            return {"other": 1}
    return "other"


def with_value(wire: Any, path: Path, value: object) -> Any:
    if not path:
        return value
    copy = wire.copy()
    copy[path[0]] = with_value(wire[path[0]], path[1:], value)
    return copy


def excuse_removed(wires: list[Wire], at: int) -> str | None:
    if is_keep_alive(wires, at):
        return "one keep-alive less is as good"
    return None


def excuse_repeated(wire: Wire) -> str | None:
    if wire["type"] == "response.in_progress":
        return "said again, it is a keep-alive"
    return None


def excuse_moved(wires: list[Wire], at: int, to: int) -> str | None:
    """Some events do not depend on those that they were moved past."""
    wire = wires[at]
    passed = wires[to:at] if to < at else wires[at + 1 : to + 1]
    if to > 0 and is_keep_alive(wires, at):
        return "a keep-alive may stand anywhere"
    if all(is_keep_alive(wires, wires.index(other_)) for other_ in passed):
        return "a keep-alive may stand anywhere"
    pair = {"content_index", "summary_index"}
    if all(
        wire.get("item_id") == other_.get("item_id") and {*wire, *other_} >= pair
        for other_ in passed
    ):
        return "content and summary of an item grow side by side"
    flow = {"response.output_text.delta", "response.output_text.annotation.added"}
    kinds = {other_["type"] for other_ in passed} | {wire["type"]}
    if kinds == flow and all(other_["type"] != wire["type"] for other_ in passed):
        return "a citation may come with any word"
    return None


def is_keep_alive(wires: list[Wire], at: int) -> bool:
    """Whether another `in_progress` is where the first must be."""
    second = wires[2 if at == 1 else 1]
    return {wires[at]["type"], second["type"]} == {"response.in_progress"}


def excuse_altered(path: Path) -> str | None:
    """What only the server knows, said once, and other values of which are as good."""
    match path:
        case ("response", "completed_at"):
            return "the hour of the end is said once"
        case ("response", "usage", *_):
            return "the counters are said once (a wrong sum is a warning)"
        case ("response", "error", _):
            return "the error is said once (an unknown code is a warning)"
        case ("logprobs", _, "top_logprobs", *_) | ("logprobs", _, "bytes", *_):
            return "a delta need not say them (clients.md 5.1, 16)"
    return None


def is_closed(wires: list[Wire]) -> bool:
    """Whether every item that was announced is done."""
    kinds = Counter(wire["type"] for wire in wires)
    added, done = "response.output_item.added", "response.output_item.done"
    return kinds[added] == kinds[done]


def renumbered(wires: list[Wire]) -> list[Wire]:
    return [wire | {"sequence_number": number} for number, wire in enumerate(wires)]


@pytest.mark.parametrize("name", sorted(path.stem for path in SNAPSHOTS.glob("*.sse")))
def test_every_mutant_is_found(name, record_property):
    """Whatever is changed in one event, the checker reports an error."""
    missed: list[str] = []
    scores = Counter[str]()
    wires = read(name)
    spare = None if is_closed(wires) else "what is left open is said once"
    for mutant in mutants(wires):
        scores["mutants made"] += 1
        if errors(renumbered(mutant.wires)):
            scores["mutants found"] += 1
        elif excuse := mutant.excuse or spare:
            scores[f"mutants excused: {excuse}"] += 1
        else:
            missed.append(mutant.what)

    for score, count in scores.items():
        record_property(f"score: {score}", count)
    assert [] == missed

"""Transcripts of our own, and changes to them that a checker is to find."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from helpers import over_the_wire, run, violations

from responses_stream.checker import Violation

USAGE = {"input_tokens": 3, "output_tokens": 2}
LOGPROB = {"token": " you", "logprob": -1.0}
CLEAN = over_the_wire(
    run(
        [
            {"reasoning": "Hm."},
            {"content": "Hi"},
            {"content": " you", "logprobs": [LOGPROB]},
            {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "f"}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
            {"finish_reason": "stop", "usage": USAGE},
        ]
    )
)
CUT = over_the_wire(run([{"content": "Hi"}, {"finish_reason": "length", "usage": USAGE}]))
FAILED = over_the_wire(run([{"content": "Hi"}, {"error": {"message": "it broke"}}]))

# Where things stand in CLEAN, so that cases can be read.
RS, MSG, FC = "rs_002", "msg_003", "fc_004"
MSG_ADDED, PART_ADDED, DELTA, TEXT_DONE, PART_DONE, MSG_DONE = 8, 9, 10, 12, 13, 14
FC_ADDED, ARGS_DELTA, ARGS_DONE, FC_DONE, COMPLETED = 15, 16, 17, 18, 19

Wires = list[dict[str, Any]]
Change = Callable[[Wires], None]


def put(number: int, *path: str | int, value: Any) -> Change:
    """Sets what stands at `path` of event `number`."""

    def change(wires: Wires) -> None:
        target: Any = wires[number]
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = value

    return change


def drop(number: int, *path: str | int) -> Change:
    """Takes the key at `path` out of event `number`."""

    def change(wires: Wires) -> None:
        target: Any = wires[number]
        for key in path[:-1]:
            target = target[key]
        del target[path[-1]]

    return change


def without(*numbers: int) -> Change:
    """Takes events out, and counts the others anew."""

    def change(wires: Wires) -> None:
        wires[:] = [wire for number, wire in enumerate(wires) if number not in numbers]
        count(wires)

    return change


def again(number: int, **keys: Any) -> Change:
    """Puts an event in once more, behind itself, with other values for `keys`."""

    def change(wires: Wires) -> None:
        wires.insert(number + 1, copy.deepcopy(wires[number]) | keys)
        count(wires)

    return change


def move(number: int, to: int) -> Change:
    """Puts an event elsewhere."""

    def change(wires: Wires) -> None:
        wires.insert(to, wires.pop(number))
        count(wires)

    return change


def count(wires: Wires) -> None:
    """Numbers the events from 0."""
    for number, wire in enumerate(wires):
        wire["sequence_number"] = number


def found(wires: Iterable[object], change: Change, **options: Any) -> list[Violation]:
    """What the checker finds in a transcript after a change."""
    changed = copy.deepcopy(list(wires))
    change(changed)
    return violations(changed, **options)


# Rule, what is changed in CLEAN, and where the rule must be reported.

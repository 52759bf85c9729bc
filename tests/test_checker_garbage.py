"""Whatever a transcript holds, the checker judges it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from checker_changes import CLEAN, Wires, found, put
from helpers import over_the_wire, run, violations
from hypothesis import given
from hypothesis import strategies as st
from strategies import JSON

from responses_stream.event_types import FIELDS
from responses_stream.rules import ERRORS


def leaves(value: Any, *path: str | int) -> Iterable[tuple[str | int, ...]]:
    """The paths to every value in a JSON value."""
    if path:
        yield path
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from leaves(entry, *path, key)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from leaves(entry, *path, index)


LEAVES = [(number, *path) for number, wire in enumerate(CLEAN) for path in leaves(wire)]
HUGE = 10**5000
DEEP = json.loads("[" * 900 + "]" * 900)
ODD = st.sampled_from([None, True, 0, -1, 5, 1.5, "", "x", [], [5], {}, {"type": []}, [[]]])


@given(
    st.lists(JSON | st.dictionaries(st.sampled_from(["type", "item"]), JSON), max_size=4)
)
def test_any_json_is_judged(garbage):
    """Nothing but violations comes of it."""
    assert {v.rule for v in violations(garbage)} <= ERRORS.keys()


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(sorted(FIELDS))},
            optional=dict.fromkeys({k for f in FIELDS.values() for k in f}, JSON | ODD),
        ),
        max_size=5,
    )
)
def test_any_values_under_the_right_keys_are_judged(garbage):
    """Every kind of event, none of whose keys can be trusted."""
    assert violations([*CLEAN[:12], *garbage])


@given(st.lists(st.tuples(st.sampled_from(LEAVES), JSON | ODD), min_size=1, max_size=3))
def test_a_transcript_with_anything_anywhere_is_judged(changes):
    """Whatever stands in place of any value of a good transcript."""

    def change(wires: Wires) -> None:
        for path, value in changes:
            try:
                put(*path, value=copy.copy(value))(wires)
            except (KeyError, IndexError, TypeError):
                continue  # An earlier change took the place away.

    assert found(CLEAN, change) is not None


@pytest.mark.parametrize(
    "value", [HUGE, DEEP, float("nan"), "\ud800"], ids=["huge", "deep", "nan", "half"]
)
def test_values_that_python_cannot_print_are_judged(value):
    """Integers of 5000 digits, lists a thousand deep: the message is cut, not the check."""
    for path in LEAVES:
        found(CLEAN, put(*path, value=value))


def test_a_part_may_have_keys_that_are_none_of_its_own():
    """`logprobs` of a refusal are no list; nobody said that they should be."""
    extra = {"logprobs": 5, "annotation_index": "x"}
    wires = over_the_wire(run([{"refusal": "no"}, {"finish_reason": "stop"}]))
    changed = [wire | extra if "delta" in wire["type"] else wire for wire in wires]

    assert not violations(changed)

"""What a person sees of a transcript: a lane for each item, and what is wrong."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from helpers import frames, over_the_wire, run
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from strategies import JSON

from responses_stream.picture import show
from responses_stream.recorded import read

CALL = {"index": 0, "id": "call_1", "function": {"name": "f", "arguments": '{"a":1}'}}
SCRIPT: list[Any] = [
    {"reasoning": "Hm."},
    {"content": "Hi\nyou"},
    {"tool_calls": [CALL]},
    {"finish_reason": "stop"},
]
EVENTS = run(SCRIPT)


def drawn(body: bytes, *, name: str = "x.sse", width: int = 100) -> str:
    """What a terminal of this width shows."""
    out = io.StringIO()
    show(read(body), name, Console(file=out, width=width, highlight=False))
    return out.getvalue()


def body_of(*wires: Any) -> bytes:
    """A body that holds this JSON."""
    return b"".join(b"data: " + msgspec.json.encode(wire) + b"\n\n" for wire in wires)


def lane(picture: str, item_id: str) -> str:
    """The line of an item."""
    [line] = [line for line in picture.splitlines() if f" {item_id} " in line]
    return line


def test_each_item_has_a_lane():
    """With its position, type, id, status and an excerpt of its text."""
    picture = drawn(frames(EVENTS))

    assert ["0", "reasoning", "rs_002", "completed"] == lane(picture, "rs_002").split()[:4]
    assert ["1", "message", "msg_003", "completed"] == lane(picture, "msg_003").split()[:4]
    assert lane(picture, "rs_002").rstrip().endswith("Hm.")
    assert lane(picture, "msg_003").rstrip().endswith(r"Hi\nyou")
    assert lane(picture, "fc_004").rstrip().endswith('f{"a":1}')


def test_lanes_follow_each_other():
    """An item is open from its added to its done, one item at a time."""
    picture = drawn(frames(EVENTS), width=200)

    spans = [
        (line.index("┣"), line.index("┫"))
        for line in (lane(picture, item_id) for item_id in ("rs_002", "msg_003", "fc_004"))
    ]
    assert spans == sorted(spans)
    assert all(start < end for start, end in spans)
    assert all(a[1] < b[0] for a, b in pairwise(spans))


def test_the_end_is_named():
    """How many events, which was the last, and the response's status."""
    assert f"{len(EVENTS)} events, ends with response.completed: completed" in drawn(
        frames(EVENTS)
    )


def test_a_transcript_without_an_end():
    """It says so, and the item has stayed as it was."""
    picture = drawn(frames(EVENTS[:6]))

    assert "no end" in picture
    assert "in_progress" in lane(picture, "rs_002")
    assert "no-end" in picture


def test_a_violation_is_marked_where_it_is():
    """In the lane, and below it with its rule."""
    wires = over_the_wire(EVENTS)
    wires[4]["delta"] = "other"

    picture = drawn(body_of(*wires), width=200)

    assert "✗" in lane(picture, "rs_002")
    assert "✗" not in lane(picture, "msg_003")
    assert "✗ 5 deltas:" in picture


def test_a_resumed_transcript_is_marked_at_its_own_numbers():
    """The mark stands where the event does, not where its number would be from 0."""
    wires = over_the_wire(EVENTS)
    wires[-2]["item"]["call_id"] = "x"

    picture = drawn(body_of(*wires[8:]), width=200)

    assert "✗" in lane(picture, "fc_004")


@pytest.mark.parametrize("body", [b"", b"data: 5\n\n", b"data: {}\n\n", b"<html>"])
def test_what_is_no_transcript_is_drawn_too(body):
    """With nothing in it."""
    assert "ends with" in drawn(body)


@pytest.mark.parametrize("width", [1, 20, 80, 300])
def test_any_width(width):
    """A narrow terminal gets a narrow picture."""
    assert drawn(frames(EVENTS), width=width)


@pytest.mark.parametrize("name", ["[/b]", "[red]x", "\\[x]"])
def test_names_are_no_markup(name):
    """What stands in square brackets is shown, not obeyed."""
    added = {"type": "message", "id": name, "status": name}
    event = {"type": "response.output_item.added", "output_index": 0, "item": added}

    picture = drawn(body_of(event), name=name)

    assert 3 <= picture.count(name)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"output_index": st.integers(0, 2) | JSON},
            optional={
                "type": st.sampled_from(["response.output_item.added", "x"]) | JSON,
                "sequence_number": JSON,
                "item": st.dictionaries(
                    st.sampled_from(["id", "type", "status", "content", "summary", "name"]),
                    JSON | st.lists(st.fixed_dictionaries({"type": JSON, "text": JSON})),
                ),
                "response": JSON,
            },
        ),
        max_size=4,
    )
)
def test_any_json_is_drawn(wires):
    """Whatever a server sent, a person can look at it."""
    assert "ends with" in drawn(body_of(*wires))

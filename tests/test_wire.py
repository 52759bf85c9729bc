"""What all events share: keys in one order, a place, and bytes around the delta."""

from __future__ import annotations

import msgspec
import pytest

from responses_stream.events import OutputTextDelta, ReasoningSummaryTextDelta, RefusalDelta
from responses_stream.wire import openai_models

WIRE = {
    "type": "response.refusal.delta",
    "item_id": "msg_1",
    "output_index": 2,
    "content_index": 1,
    "delta": "no",
    "sequence_number": 7,
}


def test_a_delta_event_has_its_places_keys():
    """The event itself holds no more than its place, the delta and the number."""
    event = RefusalDelta(RefusalDelta.place_at("msg_1", 2, 1), "no", 7)

    assert WIRE == event.to_dict()
    assert ("msg_1", 2) == (event.item_id, event.output_index)


def test_the_keys_stand_in_the_wires_order():
    """Type first, number last: so the bytes around the delta are constant."""
    event = RefusalDelta.from_dict(WIRE)

    assert list(WIRE) == list(event.to_dict())


def test_a_place_holds_the_bytes_around_the_delta():
    """Head, delta, tail and number make one frame."""
    place = OutputTextDelta.place_at("msg_1", 0, 0)

    assert (
        b"event: response.output_text.delta\n"
        b'data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,'
        b'"content_index":0,"delta":'
    ) == place.head
    assert b',"logprobs":[],"sequence_number":' == place.tail


def test_a_summary_counts_its_parts_apart():
    """Its place is a summary_index."""
    place = ReasoningSummaryTextDelta.place_at("rs_1", 0, 0)

    assert {"item_id": "rs_1", "output_index": 0, "summary_index": 0} == place.where


def test_a_place_wants_a_value_for_each_key():
    """A place without an index would address the wrong part."""
    with pytest.raises(ValueError, match="zip"):
        OutputTextDelta.place_at("msg_1", 0)


def test_events_are_frozen():
    """What was sent cannot change afterwards."""
    event = RefusalDelta.from_dict(WIRE)

    with pytest.raises(AttributeError):
        event.delta = "yes"


@pytest.mark.parametrize(
    "key", ["item_id", "output_index", "content_index", "delta", "sequence_number"]
)
def test_a_delta_event_of_another_shape_is_refused(key):
    """As every other event is: a wrong type must not go on unseen."""
    with pytest.raises(msgspec.ValidationError):
        RefusalDelta.from_dict(WIRE | {key: None})


def test_openai_knows_59_events():
    """One class for each type; the list grows with the client (clients.md section 6)."""
    assert 59 == len(openai_models())

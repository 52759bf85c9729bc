"""The events' classes: their names, and their JSON as the official client reads it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from helpers import run

from responses_stream.event_types import FIELDS
from responses_stream.events import EVENTS, OutputTextDelta, ResponseCreated, decode
from responses_stream.items import Logprob

LOGPROB = {"token": "a", "logprob": -1.0, "bytes": [97], "top_logprobs": []}
CITATION = {
    "type": "url_citation",
    "url": "u",
    "title": "t",
    "start_index": 0,
    "end_index": 1,
}
REQUEST = {"tools": [{"type": "custom", "name": "c"}]}
SCRIPT: list[Any] = [
    {"reasoning": "r"},
    {"content": "a", "logprobs": [LOGPROB], "annotations": [CITATION]},
    {"content": "b"},
    {"refusal": "no"},
    {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]},
    {"tool_calls": [{"index": 1, "function": {"name": "c", "arguments": '{"input":"i"}'}}]},
]
ENDS: list[Any] = [
    {"finish_reason": "stop"},
    {"finish_reason": "length"},
    {"error": "it broke"},
]
OPENAI = [
    event
    for end in ENDS
    for event in run([*SCRIPT, end], request=REQUEST, reasoning="both")
]
OPENRESPONSES = run([*SCRIPT, ENDS[0]], dialect="openresponses")


def class_name(wire_name: str) -> str:
    """`response.output_text.delta` -> `OutputTextDelta`; one word keeps its `Response`."""
    words = wire_name.removeprefix("response.").replace(".", "_").split("_")
    prefix = "" if "." in wire_name.removeprefix("response.") else "Response"
    return prefix + "".join(word.capitalize() for word in words)


@pytest.mark.parametrize(("wire_name", "cls"), EVENTS.items())
def test_class_names_follow_from_wire_names(wire_name, cls):
    """A reader goes from one to the other without a map."""
    assert class_name(wire_name) == cls.__name__


@pytest.mark.parametrize(("wire_name", "cls"), EVENTS.items())
def test_a_class_knows_its_wire_name(wire_name, cls):
    """It is written once, as the tag."""
    assert wire_name == cls.type


def test_the_script_makes_every_event():
    """So the tests below are about all of them."""
    assert set(EVENTS) == {event.type for event in OPENAI + OPENRESPONSES}


@pytest.mark.parametrize("event", OPENAI + OPENRESPONSES)
def test_an_event_comes_back_from_its_json(event):
    """Decoding and encoding again gives the same JSON."""
    wire = msgspec.json.decode(msgspec.json.encode(event.to_dict()))

    decoded = decode(wire)

    assert type(event) is type(decoded)
    assert wire == msgspec.json.decode(msgspec.json.encode(decoded.to_dict()))


@pytest.mark.parametrize("event", OPENAI)
def test_openai_reads_every_event_and_keeps_every_key(event):
    """The official class of the event's type finds nothing to complain about."""
    wire = msgspec.json.decode(msgspec.json.encode(event.to_dict()))

    assert wire == event.to_openai().model_dump(exclude_unset=True, by_alias=True)


@pytest.mark.parametrize("event", OPENAI + OPENRESPONSES)
def test_an_event_has_the_fields_that_clients_require(event):
    """The table that the checker judges by agrees with our own events."""
    assert {"type", "sequence_number", *FIELDS[event.type]} <= event.to_dict().keys()


def test_names_of_open_responses_are_no_openai_events():
    """The official client does not know them."""
    names = {event.type for event in OPENRESPONSES}
    event = next(e for e in OPENRESPONSES if e.type == "response.reasoning.delta")

    assert "response.reasoning_text.delta" not in names
    with pytest.raises(KeyError):
        event.to_openai()


def test_logprobs_come_back_as_values():
    """They are the one thing that a text delta has and no other."""
    known = (Logprob("a", -1.0, (97,)),)
    place = OutputTextDelta.place_at("msg_1", 0, 0, logprobs=known)
    event = OutputTextDelta(place, "a", 1)

    assert event == decode(event.to_dict())
    assert event.logprobs == known


def test_an_unknown_type_is_a_key_error():
    """No stream of ours emits it."""
    with pytest.raises(KeyError):
        decode({"type": "response.audio.delta"})


def test_a_value_of_another_shape_is_a_validation_error():
    """The class says what stands under each key."""
    with pytest.raises(msgspec.ValidationError):
        decode({"type": "response.created", "response": 5, "sequence_number": 0})


def test_unknown_keys_are_passed_over():
    """OpenAI pads its deltas with `obfuscation`."""
    wire = ResponseCreated({}, 0).to_dict() | {"obfuscation": "abc"}

    assert ResponseCreated({}, 0) == decode(wire)

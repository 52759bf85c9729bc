"""A delta is read from whatever a parser says it with."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat.chat_completion_chunk import ChoiceDelta
from strategies import JSON, noise

from responses_stream.deltas import Delta, FullDelta, ToolCallDelta, as_delta, logprob
from responses_stream.errors import LocalProtocolError
from responses_stream.items import Logprob, TopLogprob

CALL = {"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "{}"}}
FULL = {
    "reasoning": "Hm.",
    "content": "Hi",
    "refusal": "No",
    "tool_calls": [CALL],
}
READ = FullDelta("Hm.", "Hi", (ToolCallDelta(0, "call_1", "f", "{}"),), refusal="No")


def as_object(value: Any) -> Any:
    """`value` with attributes where it had keys."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: as_object(entry) for key, entry in value.items()})
    return [as_object(entry) for entry in value] if isinstance(value, list) else value


def test_a_mapping_is_read():
    """All the names of a chat delta."""
    assert READ == as_delta(FULL)


def test_a_delta_is_itself():
    """Our own deltas go through untouched."""
    assert READ is as_delta(READ)


@given(noise())
def test_attributes_are_as_good_as_keys(said):
    """What vLLM gives as an object reads like the same JSON."""
    said.pop("annotations", None)

    assert as_delta(said) == as_delta(as_object(said))


def test_openais_own_chat_delta_is_read():
    """A pydantic object of the official client is shaped like a delta."""
    chat = ChoiceDelta.model_validate(
        {"content": "Hi", "refusal": "No", "role": "assistant", "tool_calls": [CALL]}
    )

    assert FullDelta("", "Hi", READ.tool_calls, refusal="No") == as_delta(chat)


@pytest.mark.parametrize("said", [{}, SimpleNamespace(), {"content": None}])
def test_what_says_nothing_is_an_empty_delta(said):
    """Every name may be missing or null."""
    assert Delta() == as_delta(said)


def test_reasoning_content_is_reasoning():
    """Servers have two names for it; `reasoning` goes first."""
    assert "a" == as_delta({"reasoning_content": "a"}).reasoning
    assert "b" == as_delta({"reasoning": "b", "reasoning_content": "a"}).reasoning


def test_a_flat_tool_call_is_read():
    """Our own ToolCallDelta as a mapping: no `function` around name and arguments."""
    flat = {"index": 1, "name": "f", "arguments": "{}"}

    assert (ToolCallDelta(1, "", "f", "{}"),) == as_delta({"tool_calls": [flat]}).tool_calls


def test_parsed_arguments_become_text_again():
    """Some servers parse the arguments for us."""
    call = {"function": {"name": "f", "arguments": {"a": 1}}}

    assert '{"a":1}' == as_delta({"tool_calls": [call]}).tool_calls[0].arguments


def test_broken_names_and_ids_are_mended():
    """They are never cut, so half a code point in one is simply broken."""
    call = {"id": "i\ud800", "function": {"name": "f\ud800"}}

    assert (ToolCallDelta(None, "i�", "f�"),) == as_delta({"tool_calls": [call]}).tool_calls


def test_logprobs_are_read():
    """As a chat completion writes them; missing bytes are none."""
    entry = {
        "token": "a",
        "logprob": -1,
        "bytes": [97],
        "top_logprobs": [{"token": "b", "logprob": -2.5, "bytes": None}],
    }

    assert Logprob("a", -1.0, (97,), (TopLogprob("b", -2.5),)) == logprob(entry)


def test_a_chat_citation_loses_its_nesting():
    """The Responses API has the fields of a citation beside its type."""
    chat = {"type": "url_citation", "url_citation": {"url": "u", "title": "t"}}
    flat = {"type": "url_citation", "url": "u", "title": "t"}

    assert (flat,) == as_delta({"annotations": [chat]}).annotations
    assert (flat,) == as_delta({"annotations": [flat]}).annotations


@given(st.dictionaries(st.sampled_from([*FULL, "logprobs", "annotations"]), JSON))
def test_what_is_no_delta_is_refused_and_never_crashes(said):
    """Any JSON under a delta's names is read, or refused with LocalProtocolError."""
    with suppress(LocalProtocolError):
        assert isinstance(as_delta(said), Delta)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (None, "delta is NoneType; expected an object or a mapping"),
        ("a", "delta is str; expected"),
        ({"content": 5}, "content is int; expected a string"),
        ({"tool_calls": {}}, "tool_calls is dict; expected a list"),
        ({"tool_calls": [{"index": "0"}]}, "index is '0'; expected an integer"),
        ({"tool_calls": [{"index": True}]}, "index is True; expected an integer"),
        ({"tool_calls": [{"arguments": 5}]}, "arguments is int; expected a string"),
        ({"logprobs": [{"token": "a", "logprob": None}]}, "logprob is None; expected"),
        ({"annotations": ["a"]}, "annotation is str; expected a mapping"),
    ],
)
def test_the_error_names_field_and_expectation(said, message):
    """What was found, and what was expected."""
    with pytest.raises(LocalProtocolError, match=message):
        as_delta(said)


@pytest.mark.parametrize("arguments", [{"a": object()}, {"a": {1, 2}.__iter__}])
def test_arguments_that_are_no_json_are_refused(arguments):
    """Nothing else leaves the machine than LocalProtocolError."""
    with pytest.raises(LocalProtocolError, match="arguments"):
        as_delta({"tool_calls": [{"function": {"name": "f", "arguments": arguments}}]})


def test_half_a_code_point_in_parsed_arguments_is_mended():
    """A server that parses JSON may hand us what cannot be written as UTF-8."""
    call = {"function": {"name": "f", "arguments": {"a": "\ud800"}}}

    assert '{"a":"�"}' == as_delta({"tool_calls": [call]}).tool_calls[0].arguments


@pytest.mark.parametrize("value", [float("-inf"), float("nan")])
def test_a_log_probability_stays_a_number_on_the_wire(value):
    """JSON knows no infinity; a null there breaks the official types."""
    read = logprob({"token": "a", "logprob": value})

    assert float("-inf") < read.logprob < 1


@pytest.mark.parametrize("bytes_", [["a"], [1.5], [None]])
def test_the_bytes_of_a_token_are_integers(bytes_):
    """Openai's types want integers there."""
    with pytest.raises(LocalProtocolError, match="bytes"):
        logprob({"token": "a", "logprob": -1.0, "bytes": bytes_})

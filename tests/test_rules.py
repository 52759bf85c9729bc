"""Each rule that no table can say finds its fault, and finds none where there is none."""

from __future__ import annotations

import msgspec
import pytest
from helpers import fixed_stream
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses.response_error import ResponseError
from strategies import JSON

from responses_stream.response_object import DEFAULTS, FUNCTION_DEFAULTS
from responses_stream.rules import (
    COUNTERS,
    ERROR_CODES,
    ERRORS,
    ITEM_KEYS,
    ITEM_TEXT,
    NEVER_NULL,
    NULLABLE,
    PART_TEXT,
    REASONS,
    RESPONSE_KEYS,
    WARNINGS,
    item_added_empty,
    item_shape,
    phantom_item,
    reason_faults,
    response_shape,
    short,
    unlike,
    usage_faults,
)
from responses_stream.state import ITEMS, PARTS
from responses_stream.usage import Usage

OBJECTS = st.dictionaries(
    st.sampled_from(
        ["id", "type", "status", "role", "name", "content", "summary", "error", "text"]
        + ["incomplete_details", "input_tokens", "input_tokens_details", "output"]
    ),
    JSON
    | st.sampled_from(["message", "reasoning", "function_call", "incomplete", "failed"]),
)


@given(OBJECTS)
@pytest.mark.parametrize(
    "rule",
    [
        item_shape,
        item_added_empty,
        phantom_item,
        response_shape,
        usage_faults,
        reason_faults,
    ],
)
def test_any_object_is_judged(rule, value):
    """Faults are values, each with the name of a rule; nothing is raised."""
    assert {fault.rule for fault in rule(value)} <= {*ERRORS, *WARNINGS}


@given(JSON)
def test_any_usage_is_judged(value):
    """Also what is no object."""
    assert {fault.rule for fault in usage_faults(value)} <= {"usage", "usage-sum"}


def test_the_tables_agree_with_the_grammar():
    """An item type or part type that the grammar knows has its keys here."""
    assert set(ITEM_KEYS) == set(ITEMS)
    assert set(PART_TEXT) == set(PARTS)
    assert {"function_call", "custom_tool_call"} == {*ITEM_TEXT} & {*ITEMS}


def test_the_keys_of_a_response_are_those_that_we_send():
    """What is asked of others, our own response has."""
    response = fixed_stream().response

    assert {*RESPONSE_KEYS, *NEVER_NULL, *NULLABLE} <= response.keys()
    assert {*DEFAULTS} <= {*RESPONSE_KEYS, *NEVER_NULL, *NULLABLE, "user"}
    assert {"description", "parameters", "strict"} == set(FUNCTION_DEFAULTS)


def test_the_error_codes_of_the_installed_client_are_known():
    """A code that openai's type has is no surprise to anyone."""
    codes = ResponseError.model_json_schema()["properties"]["code"]["enum"]

    assert set(codes) <= ERROR_CODES


def test_the_reasons_of_the_installed_client_are_known():
    """All of them, and no other."""
    details = fixed_response_details()

    assert set(details) == set(REASONS)


def fixed_response_details() -> list[str]:
    """The reasons in openai's type."""
    from openai.types.responses.response import IncompleteDetails  # noqa: PLC0415

    [reasons, _] = IncompleteDetails.model_json_schema()["properties"]["reason"]["anyOf"]
    return reasons["enum"]


def test_our_own_usage_is_whole():
    """Zero everywhere is a usage too."""
    assert not list(usage_faults(msgspec.to_builtins(Usage())))


@pytest.mark.parametrize("path", COUNTERS, ids=".".join)
@pytest.mark.parametrize("value", [None, 1.0, "1", True, -1])
def test_every_counter_is_an_integer(path, value):
    """Codex runs the request again where one is not (clients.md R10)."""
    usage = msgspec.to_builtins(Usage())
    target = usage
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value

    assert ["usage"] == [fault.rule for fault in usage_faults(usage)]
    assert ".".join(path) in next(usage_faults(usage)).message


@pytest.mark.parametrize(
    ("details", "key"),
    [
        ("input_tokens_details", "cached_tokens"),
        ("output_tokens_details", "reasoning_tokens"),
    ],
)
def test_a_share_is_not_above_its_whole(details, key):
    """More cached tokens than tokens is a miscount, and a warning."""
    usage = msgspec.to_builtins(Usage()) | {details: {key: 1}}

    assert ["usage-sum"] == [fault.rule for fault in usage_faults(usage)]


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
@pytest.mark.parametrize("kind", ["message", "reasoning"])
def test_white_space_alone_is_a_phantom(kind, text):
    """A blank bubble in every client (clients.md R13)."""
    item = {"type": kind, "content": [{"type": "output_text", "text": text}]}

    assert ["phantom"] == [fault.rule for fault in phantom_item(item)]


@pytest.mark.parametrize(
    "item",
    [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}]},
        {"type": "reasoning", "summary": [], "encrypted_content": "abc"},
        {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]},
        {"type": "web_search_call"},
    ],
)
def test_what_says_something_is_no_phantom(item):
    """In words, or in a ciphertext."""
    assert not list(phantom_item(item))


def test_differences_are_named_key_by_key():
    """What is missing, what is too much, what is another."""
    assert [
        "a is missing; expected 1",
        "b is 2; expected 3",
        "c is 4; expected no such key",
    ] == list(unlike({"b": 2, "c": 4}, {"a": 1, "b": 3}))


@given(OBJECTS)
def test_equal_objects_do_not_differ(value):
    """Whatever they hold."""
    assert not list(unlike(value, dict(value)))


@given(st.text())
def test_a_message_stays_short_and_in_one_line(text):
    """However long the value is."""
    assert len(short(text)) <= 80
    assert 1 == len(short(text).splitlines())

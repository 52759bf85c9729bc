"""The response object has every key, of the request and of what came of it."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response
from strategies import JSON

from responses_stream.items import Message
from responses_stream.response_object import (
    DEFAULTS,
    FUNCTION_DEFAULTS,
    NOT_ECHOED,
    echo,
    response_object,
)
from responses_stream.rules import response_shape

REQUESTS = st.dictionaries(st.sampled_from([*DEFAULTS, *sorted(NOT_ECHOED), "extra"]), JSON)


@given(REQUESTS)
def test_every_value_of_the_request_is_echoed(request_):
    """Unjudged, unless it is null: then the default stands for it."""
    echoed = echo(request_)

    for key, value in request_.items():
        if key in NOT_ECHOED:
            assert key not in echoed
        elif value is None and key in DEFAULTS:
            assert DEFAULTS[key] == echoed[key]
        elif key not in ("reasoning", "text", "tools") and value is not None:
            assert value == echoed[key]


@given(REQUESTS)
def test_an_echo_has_every_key_that_clients_want(request_):
    """The response object lacks none that openai's types or Open Responses require."""
    wire = response_object("resp_1", 1, echo(request_))

    rules = [
        fault for fault in response_shape(wire) if "expected every key" in fault.message
    ]
    assert not rules


def test_a_response_without_a_request_is_openais():
    """The defaults alone satisfy the official type, and no key is lost in it."""
    wire = response_object("resp_1", 1, echo({}))

    read = Response.model_validate(wire)

    assert wire == read.model_dump(exclude_unset=True)
    assert not list(response_shape(wire))


def test_the_keys_of_a_response():
    """Its own first, then the echo, then what came of it."""
    wire = response_object(
        "resp_1", 1, {"model": "m"}, status="failed", error={"code": "a"}
    )

    assert {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "failed",
        "completed_at": None,
        "error": {"code": "a"},
        "incomplete_details": None,
        "model": "m",
        "output": [],
        "usage": None,
    } == wire


def test_the_output_is_a_copy_of_the_list_and_holds_the_items():
    """An event that is out does not grow with the response."""
    items = [Message("msg_1", "completed")]

    wire = response_object("resp_1", 1, {}, output=items)
    items.append(Message("msg_2", "completed"))

    assert [items[0]] == wire["output"]
    assert items[0] is wire["output"][0]


def test_reasoning_and_text_keep_all_their_keys():
    """What the request says of them stands beside the defaults."""
    echoed = echo({"reasoning": {"effort": "max"}, "text": {"verbosity": "low"}})

    assert {"effort": "max", "summary": None} == echoed["reasoning"]
    assert {"format": {"type": "text"}, "verbosity": "low"} == echoed["text"]


def test_function_tools_have_every_key():
    """Open Responses wants them all; other tools stay as they are."""
    tools = [{"type": "function", "name": "f"}, {"type": "custom", "name": "c"}]

    assert [{**FUNCTION_DEFAULTS, **tools[0]}, tools[1]] == echo({"tools": tools})["tools"]


def test_broken_code_points_are_mended():
    """An echo that cannot be written would break the first frame."""
    assert "a�" == echo({"user": "a\ud800"})["user"]


def test_what_is_no_json_is_refused_at_once():
    """Before anything was sent."""
    with pytest.raises(TypeError):
        echo({"metadata": {"a": object()}})


def test_the_request_may_change_afterwards():
    """Each event echoes what was asked for when the response began."""
    request = {"metadata": {"a": "1"}, "tools": [{"type": "custom", "name": "c"}]}
    echoed = echo(request)
    before = json.dumps(echoed)

    request["metadata"]["a"] = "2"
    request["tools"][0]["name"] = "d"

    assert before == json.dumps(echoed)


@given(REQUESTS)
def test_an_echo_can_be_written(request_):
    """Any JSON that was asked goes into a frame."""
    assert msgspec.json.encode(echo(request_))

"""The items' classes: their keys, and their JSON as the official client reads it."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from openai.types.responses import ResponseOutputItem
from pydantic import TypeAdapter

from responses_stream.items import (
    CustomToolCall,
    FunctionCall,
    Item,
    Logprob,
    Message,
    OutputText,
    Reasoning,
    ReasoningText,
    Refusal,
    SummaryText,
)

ITEMS = [
    Message("msg_1", "completed", (OutputText("a", (), (Logprob("a", -1.0),)),)),
    Message("msg_1", "incomplete", (Refusal("no"),)),
    Reasoning("rs_1", "completed", (SummaryText("s"),), (ReasoningText("t"),)),
    Reasoning("rs_1", "completed", (SummaryText("s"),)),
    FunctionCall("fc_1", "completed", "call_1", "f", "{}", "n"),
    FunctionCall("fc_1", "in_progress", "call_1", "f", ""),
    CustomToolCall("ctc_1", "completed", "call_1", "c", "text"),
]


def test_a_message_on_the_wire():
    """Fields are the wire's keys; `type` is the class's tag."""
    wire = msgspec.to_builtins(Message("msg_1", "in_progress"))

    assert {
        "type": "message",
        "id": "msg_1",
        "status": "in_progress",
        "content": (),
        "role": "assistant",
    } == wire


@pytest.mark.parametrize("item", ITEMS)
def test_items_come_back_from_their_json(item):
    """JSON holds all of an item, its class too."""
    assert item == msgspec.json.decode(msgspec.json.encode(item), type=Item)


@pytest.mark.parametrize("item", ITEMS)
def test_openai_reads_every_item_and_keeps_every_key(item):
    """The official types know all that an item says."""
    wire: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(item))

    read = TypeAdapter(ResponseOutputItem).validate_python(wire)

    assert wire == read.model_dump(exclude_unset=True)


def test_what_is_unset_is_not_on_the_wire():
    """Open Responses refuses a null `encrypted_content`, openai a null `content`."""
    wire = msgspec.to_builtins(Reasoning("rs_1", "completed"))

    assert {"type", "id", "status", "summary"} == wire.keys()


def test_items_are_frozen():
    """What was sent cannot change afterwards."""
    for item in get_args(Item):
        assert item.__struct_config__.frozen

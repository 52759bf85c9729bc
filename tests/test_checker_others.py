"""Transcripts of others, and the rest of one that was resumed."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from checker_changes import (
    ARGS_DONE,
    CLEAN,
    COMPLETED,
    CUT,
    FAILED,
    FC_DONE,
    Wires,
    count,
    drop,
    found,
    put,
)
from helpers import errors, violations

RESPONSE = CLEAN[0]["response"]


def hosted(*events: dict[str, Any], output: list[Any]) -> Wires:
    """A transcript of hosted tools, as OpenAI sends it."""
    response = copy.deepcopy(RESPONSE)
    end = response | {
        "status": "completed",
        "output": output,
        "usage": CLEAN[-1]["response"]["usage"],
    }
    wires = [
        {"type": "response.created", "response": response},
        {"type": "response.in_progress", "response": response},
        *copy.deepcopy(events),
        {"type": "response.completed", "response": end},
    ]
    count(wires)
    return wires


def lifecycle(index: int, item: dict[str, Any], *events: dict[str, Any]) -> Wires:
    """An item's events between its added and its done."""
    where = {"item_id": item["id"], "output_index": index}
    return [
        {
            "type": "response.output_item.added",
            "output_index": index,
            "item": item | {"status": "in_progress"},
        },
        *(event | where for event in events),
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}
MCP = {
    "type": "mcp_call",
    "id": "mcp_1",
    "status": "completed",
    "name": "roll",
    "server_label": "dice",
    "arguments": '{"a":1}',
    "output": "4",
}
CODE = {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1+1"}
IMAGE = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": ""}
SHELL = {"type": "shell_call", "id": "sh_1", "status": "completed", "call_id": "call_1"}
SHELL_OUTPUT = SHELL | {"type": "shell_call_output", "id": "sho_1"}
PARTIAL = {"partial_image_b64": "", "partial_image_index": 0}
HOSTED = [
    [
        *lifecycle(
            0,
            SEARCH,
            *(
                {"type": f"response.web_search_call.{what}"}
                for what in ("in_progress", "searching", "completed")
            ),
        )
    ],
    [
        *lifecycle(
            0,
            MCP,
            {"type": "response.mcp_call.in_progress"},
            {"type": "response.mcp_call_arguments.delta", "delta": '{"a":1}'},
            {"type": "response.mcp_call_arguments.done", "arguments": '{"a":1}'},
            {"type": "response.mcp_call.completed"},
        )
    ],
    [
        *lifecycle(
            0,
            CODE,
            {"type": "response.code_interpreter_call.in_progress"},
            {"type": "response.code_interpreter_call_code.delta", "delta": "1+"},
            {"type": "response.code_interpreter_call_code.delta", "delta": "1"},
            {"type": "response.code_interpreter_call_code.done", "code": "1+1"},
            {"type": "response.code_interpreter_call.completed"},
        )
    ],
    [
        *lifecycle(
            0,
            IMAGE,
            {"type": "response.image_generation_call.generating"},
            {"type": "response.image_generation_call.partial_image", **PARTIAL},
            {"type": "response.image_generation_call.completed"},
        )
    ],
    # OpenAI's shell tool: the output item names the call that it answers.
    [*lifecycle(0, SHELL), *lifecycle(1, SHELL_OUTPUT)],
    # Programmatic tool calling: the program waits for its tools when its item is done.
    [*lifecycle(0, {"type": "program", "id": "p_1", "status": "in_progress"})],
]


def outputs(events: Wires) -> list[Any]:
    """The items that are done."""
    return [wire["item"] for wire in events if wire["type"].endswith("item.done")]


@pytest.mark.parametrize("events", HOSTED, ids=lambda events: events[0]["item"]["type"])
def test_hosted_tools_are_held_to_the_life_cycle_alone(events):
    """Their own events may come while their item is open."""
    assert not errors(hosted(*events, output=outputs(events)))


@pytest.mark.parametrize("events", HOSTED[:4], ids=lambda events: events[0]["item"]["type"])
def test_a_hosted_tool_is_closed(events):
    """Its events come before its done, and its done comes."""
    late = [*events[:-2], events[-1], events[-2]]

    assert "item-order" in [v.rule for v in errors(hosted(*late, output=outputs(late)))]
    assert "unclosed" in [v.rule for v in errors(hosted(*events[:-1], output=[]))]


def test_a_hosted_tools_text_is_the_sum_of_its_deltas():
    """MCP arguments and code are text like any other."""
    events = copy.deepcopy(HOSTED[1])
    put(3, "arguments", value="{}")(events)

    assert "deltas" in [v.rule for v in errors(hosted(*events, output=outputs(events)))]


def test_the_service_tier_is_told_at_the_end():
    """OpenAI says `auto` first, and then which one it was."""

    def change(wires: Wires) -> None:
        for wire in wires[:2]:
            wire["response"]["service_tier"] = "auto"

    assert not found(CLEAN, change)


def test_encrypted_content_is_encrypted_anew_each_time():
    """OpenAI's final output has the same thoughts in another ciphertext."""

    def change(wires: Wires) -> None:
        put(7, "item", "encrypted_content", value="a")(wires)
        put(COMPLETED, "response", "output", 0, "encrypted_content", value="b")(wires)

    assert not [v for v in found(CLEAN, change) if v.level == "error"]


def test_reasoning_of_openai_has_no_status():
    """Also where the response was cut while thinking: no item says that it is whole."""
    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    wires = hosted(
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        output=[item],
    )
    wires[-1]["type"] = "response.incomplete"
    wires[-1]["response"] |= {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
    }

    assert not errors(wires)


def test_an_error_event_may_come_before_failed():
    """Flat, as the official types have it; the nested one makes their client raise."""
    wires = copy.deepcopy(FAILED)
    wires.insert(-1, {"type": "error", "code": None, "message": "m", "param": None})
    count(wires)

    assert not errors(wires)


def test_a_background_response_begins_queued():
    """Its first two events say so."""
    wires = copy.deepcopy(CLEAN)
    wires[0]["response"]["status"] = "queued"
    queued = {"type": "response.queued", "response": wires[0]["response"]}
    wires.insert(1, queued)
    count(wires)

    assert not violations(wires)


def test_extensions_carry_a_prefix():
    """Clients pass over them, and so does the checker; but they are counted."""
    wires = copy.deepcopy(CLEAN)
    wires.insert(5, {"type": "acme:thought"})
    count(wires)

    assert not violations(wires)


def test_padding_is_no_violation():
    """OpenAI pads its deltas, and adds keys when it likes."""
    wires = [wire | {"obfuscation": "abc"} for wire in CLEAN]

    assert not violations(wires)


def test_a_function_call_without_a_name_in_its_done_is_fine():
    """Older servers say the name in the items alone."""
    assert not [v for v in found(CLEAN, drop(ARGS_DONE, "name")) if v.level == "error"]


# Resumed transcripts -----------------------------------------------------------------


@pytest.mark.parametrize("wires", [CLEAN, CUT, FAILED], ids=["clean", "cut", "failed"])
def test_the_rest_of_a_clean_transcript_is_clean(wires):
    """Wherever a client was cut off and resumed (clients.md R22)."""
    for after in range(len(wires)):
        rest = wires[after + 1 :]
        if rest:
            assert not errors(rest, starting_after=after), wires[after]["type"]


def test_a_resumed_transcript_goes_on_with_the_next_number():
    """Not with the one that was asked for again."""
    rules = [v.rule for v in errors(CLEAN[5:], starting_after=5)]

    assert "sequence" in rules


def test_what_is_wrong_behind_the_cut_is_found():
    """An item that was seen whole is judged whole."""
    changed = copy.deepcopy(CLEAN)
    put(FC_DONE, "item", "call_id", value="x")(changed)
    put(COMPLETED, "response", "output", 0, "id", value="x")(changed)

    rules = {v.rule for v in errors(changed[6:], starting_after=5)}

    assert {"item-identity", "final-output"} <= rules

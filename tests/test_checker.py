"""What is right and what is wrong in a transcript, and where the checker says so."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
import pytest
from helpers import errors, fixed_stream, lines_per_call, over_the_wire, run, violations
from hypothesis import given
from hypothesis import strategies as st
from scripts import call
from strategies import JSON

from responses_stream.checker import TranscriptChecker, Violation
from responses_stream.event_types import FIELDS
from responses_stream.rules import ERRORS, WARNINGS

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

# Where things stand in CLEAN, so that the cases below can be read.
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
CASES: list[tuple[str, Change, int | None, str | None]] = [
    ("added-empty", put(MSG_ADDED, "item", "status", value="completed"), MSG_ADDED, MSG),
    ("added-empty", put(FC_ADDED, "item", "arguments", value="{}"), FC_ADDED, FC),
    ("added-empty", put(PART_ADDED, "part", "text", value="Hi"), PART_ADDED, MSG),
    ("deltas", put(TEXT_DONE, "text", value="Hi"), TEXT_DONE, MSG),
    ("deltas", put(ARGS_DONE, "arguments", value="{ }"), ARGS_DONE, FC),
    ("deltas", put(TEXT_DONE, "logprobs", value=[{"token": "x"}]), TEXT_DONE, MSG),
    ("event-type", put(DELTA, "type", value="response.text.delta"), DELTA, MSG),
    ("field", drop(DELTA, "content_index"), DELTA, MSG),
    ("field", put(DELTA, "delta", value=None), DELTA, MSG),
    ("field", put(DELTA, "type", value=None), DELTA, MSG),
    ("field", drop(DELTA, "sequence_number"), None, MSG),
    (
        "final-output",
        put(COMPLETED, "response", "output", 1, "id", value="x"),
        COMPLETED,
        MSG,
    ),
    ("final-output", put(COMPLETED, "response", "output", value=[]), COMPLETED, RS),
    ("item-id", put(DELTA, "item_id", value="x"), DELTA, "x"),
    ("item-id", put(MSG_ADDED, "item", "id", value=RS), MSG_ADDED, RS),
    ("item-identity", put(FC_DONE, "item", "call_id", value="x"), FC_DONE, FC),
    ("item-identity", put(FC_DONE, "item", "name", value="x"), FC_DONE, FC),
    ("item-identity", put(ARGS_DONE, "name", value="x"), ARGS_DONE, FC),
    ("item-order", again(MSG_DONE), MSG_DONE + 1, MSG),
    ("item-order", without(ARGS_DONE), ARGS_DONE, FC),
    ("item-order", put(ARGS_DELTA, "output_index", value=0), ARGS_DELTA, FC),
    ("item-repeats", put(FC_DONE, "item", "arguments", value="{ }"), FC_DONE, FC),
    ("item-repeats", put(MSG_DONE, "item", "content", value=[]), MSG_DONE, MSG),
    ("item-shape", drop(FC_ADDED, "item", "name"), FC_ADDED, FC),
    ("item-shape", put(MSG_DONE, "item", "status", value="done"), MSG_DONE, MSG),
    ("item-shape", put(MSG_ADDED, "item", "role", value="user"), MSG_ADDED, MSG),
    ("no-end", without(COMPLETED), None, None),
    ("one-item", move(7, 8), 7, MSG),
    ("output-index", put(MSG_ADDED, "output_index", value=2), MSG_ADDED, MSG),
    ("output-index", without(MSG_ADDED), MSG_ADDED, MSG),
    ("part-index", put(PART_ADDED, "content_index", value=1), PART_ADDED, MSG),
    ("part-index", put(DELTA, "content_index", value=1), DELTA, MSG),
    ("part-order", without(TEXT_DONE), TEXT_DONE, MSG),
    ("part-order", put(DELTA, "type", value="response.refusal.delta"), DELTA, MSG),
    ("part-repeats", put(PART_DONE, "part", "text", value="Hi"), PART_DONE, MSG),
    ("part-repeats", put(PART_DONE, "part", "type", value="refusal"), PART_DONE, MSG),
    ("part-repeats", put(PART_DONE, "part", "annotations", value=[{}]), PART_DONE, MSG),
    ("reason", put(COMPLETED, "response", "error", value={}), COMPLETED, None),
    ("response-id", put(COMPLETED, "response", "id", value="x"), COMPLETED, None),
    ("response-order", without(0), 0, None),
    ("response-order", without(1), 1, RS),
    ("response-order", again(COMPLETED), COMPLETED + 1, None),
    ("response-order", move(DELTA, COMPLETED), COMPLETED, MSG),
    ("response-repeats", put(COMPLETED, "response", "model", value="x"), COMPLETED, None),
    ("response-shape", drop(1, "response", "tools"), 1, None),
    ("response-shape", put(1, "response", "object", value="x"), 1, None),
    ("sequence", put(0, "sequence_number", value=1), 1, None),
    ("sequence", put(DELTA, "sequence_number", value=9), 9, MSG),
    ("status", put(1, "response", "status", value="completed"), 1, None),
    ("status", put(COMPLETED, "response", "status", value="failed"), COMPLETED, None),
    ("status", put(MSG_DONE, "item", "status", value="in_progress"), MSG_DONE, MSG),
    ("truncated-item", put(MSG_DONE, "item", "status", value="incomplete"), COMPLETED, MSG),
    ("unclosed", without(MSG_DONE), COMPLETED - 1, MSG),
    ("unclosed", without(PART_DONE), COMPLETED - 1, MSG),
    (
        "usage",
        put(COMPLETED, "response", "usage", "input_tokens", value=3.0),
        COMPLETED,
        None,
    ),
    ("usage", put(COMPLETED, "response", "usage", value=[]), COMPLETED, None),
    (
        "usage",
        drop(COMPLETED, "response", "usage", "output_tokens_details", "reasoning_tokens"),
        COMPLETED,
        None,
    ),
    ("item-keys", drop(MSG_ADDED, "item", "status"), MSG_ADDED, MSG),
    ("logprobs", put(TEXT_DONE, "logprobs", value=[]), TEXT_DONE, MSG),
    ("no-usage", put(COMPLETED, "response", "usage", value=None), COMPLETED, None),
    ("phantom", put(FC_ADDED, "item", "name", value=" "), FC_ADDED, FC),
    ("response-keys", drop(1, "response", "store"), 1, None),
    ("response-keys", put(1, "response", "top_p", value=None), 1, None),
    (
        "usage-sum",
        put(COMPLETED, "response", "usage", "total_tokens", value=6),
        COMPLETED,
        None,
    ),
]
OTHER_CASES = {"frame", "order", "error-code", "left-open"}
"""Rules of CLEAN's frames, of an option, and of a response that failed: see below."""


@pytest.mark.parametrize("wires", [CLEAN, CUT, FAILED], ids=["clean", "cut", "failed"])
def test_what_a_stream_says_is_clean(wires):
    """Neither errors nor warnings."""
    assert not violations(wires)
    assert not violations(wires, order="strict")


def test_what_codex_is_spared_is_a_warning():
    """Only where the response did not complete: see `unclosed` above."""
    for ending in ("error", "length"):
        script = [call(0, name="f", arguments='{"a": '), {"finish_reason": ending}]
        (only,) = violations(run(script, dialect="codex"))

        assert ("left-open", "warning") == (only.rule, only.level)


def test_typed_events_are_judged_as_their_json_is():
    """They need not be written first."""
    events = run([{"content": "Hi"}])

    assert not violations(events)
    assert ["no-end", "unclosed", "unclosed"] == [v.rule for v in violations(events[:-4])]


def test_openais_own_events_are_judged():
    """What the official client yields can be fed as it comes."""
    assert not violations(event.to_openai() for event in run([{"content": "Hi"}]))


@pytest.mark.parametrize(("rule", "change", "number", "item_id"), CASES)
def test_a_broken_rule_is_named_with_its_place(rule, change, number, item_id):
    """The rule, the sequence number of the event, and the item that is concerned."""
    places = {(v.rule, v.sequence_number, v.item_id) for v in found(CLEAN, change)}

    assert (rule, number, item_id) in places


def test_every_rule_has_a_case():
    """A rule that nothing provokes is no rule."""
    assert {*ERRORS, *WARNINGS} == {case[0] for case in CASES} | OTHER_CASES


def test_no_rule_is_both_error_and_warning():
    """The level follows from the name."""
    assert not ERRORS.keys() & WARNINGS.keys()
    assert "error" == Violation("usage", "").level
    assert "warning" == Violation("usage-sum", "").level


@pytest.mark.parametrize("event", [None, 5, "a", [], b"{}"])
def test_a_frame_is_an_object(event):
    """Anything else breaks every client."""
    assert ["frame"] == [v.rule for v in TranscriptChecker().feed(event)]


@pytest.mark.parametrize(
    ("wires", "key", "value"),
    [
        (CUT, "incomplete_details", None),
        (CUT, "incomplete_details", {"reason": "tired"}),
        (CUT, "error", {"code": "server_error", "message": "m"}),
        (FAILED, "error", None),
        (FAILED, "error", {"code": None, "message": "m"}),
        (FAILED, "incomplete_details", {"reason": "content_filter"}),
    ],
)
def test_an_end_says_its_reason(wires, key, value):
    """Incomplete has a reason, failed has an error, and neither has the other's."""
    rules = [v.rule for v in found(wires, put(-1, "response", key, value=value))]

    assert "reason" in rules


def test_an_unknown_error_code_is_a_warning():
    """Codex takes it for a failure that is worth another try."""
    change = put(-1, "response", "error", "code", value="tired")

    assert ["error-code"] == [v.rule for v in found(FAILED, change)]


def test_a_cut_response_has_a_cut_item():
    """A client that runs tools would run half a call."""
    change = put(-2, "item", "status", value="completed")

    assert "truncated-item" in [v.rule for v in found(CUT, change)]


def test_order_is_judged_only_if_asked_for():
    """Models that think between calls are no error."""
    events = run(
        [{"content": "a"}, {"reasoning": "b"}, {"finish_reason": "stop"}],
        order="interleaved",
    )

    [violation] = violations(events, order="strict")

    assert not violations(events)
    assert ("order", 8, "rs_003") == (
        violation.rule,
        violation.sequence_number,
        violation.item_id,
    )


def test_all_violations_are_reported():
    """The first one does not hide the others."""

    def change(wires: Wires) -> None:
        put(TEXT_DONE, "text", value="x")(wires)
        put(FC_DONE, "item", "call_id", value="x")(wires)

    assert {"deltas", "item-identity"} <= {v.rule for v in found(CLEAN, change)}


# Transcripts of others ---------------------------------------------------------------

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


# Garbage -----------------------------------------------------------------------------


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


# Cost --------------------------------------------------------------------------------


def lines_per_event(items: int) -> float:
    """How many lines of Python the checker runs for each event of so many items."""
    stream = fixed_stream(order="interleaved")
    events = stream.start()
    for index in range(items):
        function = {"name": "f", "arguments": "{}"}
        events += stream.feed({"tool_calls": [{"index": index, "function": function}]})
    return lines_per_call(TranscriptChecker().feed, events)


def test_an_event_costs_the_same_however_many_items_there_are():
    """The hundredth call is judged as fast as the first."""
    assert lines_per_event(160) < 1.2 * lines_per_event(20)


def test_a_violation_is_a_value():
    """It can be compared, sorted into sets, and written as JSON."""
    violation = Violation("usage", "message", 1, "msg_1")

    assert {violation} == {Violation("usage", "message", 1, "msg_1")}
    assert {
        "rule": "usage",
        "message": "message",
        "sequence_number": 1,
        "item_id": "msg_1",
    } == msgspec.to_builtins(violation)

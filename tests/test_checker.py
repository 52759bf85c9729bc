"""What is right and what is wrong in a transcript, and where the checker says so."""

from __future__ import annotations

import msgspec
import pytest
from checker_changes import (
    ARGS_DELTA,
    ARGS_DONE,
    CLEAN,
    COMPLETED,
    CUT,
    DELTA,
    FAILED,
    FC,
    FC_ADDED,
    FC_DONE,
    MSG,
    MSG_ADDED,
    MSG_DONE,
    PART_ADDED,
    PART_DONE,
    RS,
    TEXT_DONE,
    Change,
    Wires,
    again,
    drop,
    found,
    move,
    put,
    without,
)
from helpers import fixed_stream, lines_per_call, run, violations
from scripts import call

from responses_stream.checker import TranscriptChecker, Violation
from responses_stream.rules import ERRORS, WARNINGS

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

"""ResponseStream, where it does more than a transcript shows."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from helpers import fixed_stream, run, texts, types
from scripts import LENGTH, STOP, call

from responses_stream import Delta, LocalProtocolError, ResponseStream, ToolCallDelta

DELTA = "output_text.delta"


def test_the_normal_case():
    """Thoughts, an answer and a call make three items, one after the other."""
    events = run([{"reasoning": "Hm."}, {"content": "Yes."}, call(0, name="f"), STOP])
    done = [event.item for event in events if event.type.endswith("output_item.done")]

    assert ["reasoning", "message", "function_call"] == [
        type_.__struct_config__.tag for type_ in map(type, done)
    ]
    assert done == events[-1].response["output"]


def test_text_leaves_with_its_delta():
    """Nothing that may be sent is held back, although tools are declared."""
    stream = fixed_stream({"tools": [{"type": "function", "name": "f"}]})

    assert DELTA in types(stream.feed({"content": "a"}))
    assert [DELTA] == types(stream.feed({"content": "b"}))


def test_our_own_deltas_and_foreign_ones_are_the_same():
    """A Struct, a mapping and an object with attributes give equal events."""
    ours = Delta(reasoning="r", tool_calls=(ToolCallDelta(0, "call_a", "f", "{}"),))
    function = SimpleNamespace(name="f", arguments="{}")
    foreign = SimpleNamespace(
        reasoning=None,
        reasoning_content="r",
        content=None,
        tool_calls=[SimpleNamespace(index=0, id="call_a", function=function)],
    )
    mapping = {
        "reasoning": "r",
        "tool_calls": [{"index": 0, "id": "call_a", "function": vars(function)}],
    }

    assert run([ours, STOP]) == run([foreign, STOP]) == run([mapping, STOP])


def test_created_leaves_before_anything_is_said():
    """A server can answer before its model does."""
    stream = fixed_stream()

    assert ["created", "in_progress"] == types(stream.start())
    assert () == stream.start()


def test_open_responses_has_no_keep_alive_event():
    """Its checker knows no second in_progress."""
    stream = fixed_stream(dialect="openresponses")
    stream.start()

    assert () == stream.keep_alive()


def test_strict_names_what_was_legal():
    """A delta of an earlier phase is refused, and the message says what was expected."""
    stream = fixed_stream()
    stream.feed({"content": "a"})

    with pytest.raises(
        LocalProtocolError,
        match="^reasoning in state TEXT; expected output_text or tool_call or finish$",
    ):
        stream.feed({"reasoning": "late", "content": "b"})
    assert [DELTA] == types(stream.feed({"content": "c"}))
    assert "ac" == stream.finish("stop")[-1].response["output"][0].content[0].text


def test_an_unknown_finish_reason_is_named():
    """The stream goes on: nothing has ended."""
    stream = fixed_stream()

    with pytest.raises(
        LocalProtocolError, match="finish reason is 'eos'; expected function_call"
    ):
        stream.finish("eos")
    assert not stream.ended


@pytest.mark.parametrize(
    ("usage", "message"),
    [
        ({"input_tokens": -1}, "usage.input_tokens is -1; expected a whole number"),
        ({"completion_tokens": "7"}, "usage.output_tokens is '7'"),
        ([], "usage is list; expected a mapping"),
    ],
)
def test_a_wrong_counter_is_named_and_nothing_ends(usage, message):
    """A finish is taken whole or not at all."""
    stream = fixed_stream()

    with pytest.raises(LocalProtocolError, match=message):
        stream.finish("stop", usage)
    assert "completed" == types(stream.finish("stop"))[-1]


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("bad \ud800"), "server_error", "bad \ufffd"),
        (TimeoutError(), "server_error", "TimeoutError"),
        ("engine died", "server_error", "engine died"),
        ({"code": "rate_limit_exceeded", "message": "m"}, "rate_limit_exceeded", "m"),
        ({}, "server_error", "the model server gave no reason"),
    ],
)
def test_a_failure_says_why(error, code, message):
    """An exception, a message or a mapping becomes the response's error."""
    events = run([{"error": error}])

    assert {"code": code, "message": message} == events[-1].response["error"]


def test_what_is_cut_is_incomplete_and_all_else_is_not():
    """Only the item that was open when the limit came."""
    events = run([{"reasoning": "r"}, {"content": "a"}, LENGTH])

    assert ["completed", "incomplete"] == [
        item.status for item in events[-1].response["output"]
    ]


def test_arguments_for_a_closed_call_are_refused():
    """Complete, closed, and followed by another: more would change what has run."""
    stream = fixed_stream()
    stream.feed(call(0, id="call_a", name="f", arguments="{}"))
    stream.feed(call(1, id="call_b", name="g", arguments="{}"))

    with pytest.raises(LocalProtocolError, match="arguments 'x' for call 'call_a' of 'f'"):
        stream.feed({"content": "", **call(0, arguments="x")})
    assert "completed" == types(stream.finish("tool_calls"))[-1]


@pytest.mark.parametrize("request_", [[], "x", 3])
def test_a_request_must_be_a_mapping(request_):
    """Anything else is named."""
    with pytest.raises(LocalProtocolError, match="expected a mapping"):
        ResponseStream(request_)


def test_what_came_out_at_the_end_does_not_come_again():
    """A delta that says nothing is no fault, even behind the end."""
    stream = fixed_stream()
    stream.feed(call(0, name="f", arguments="{"))
    stream.feed(call(1, name="g", arguments="{}"))
    stream.finish("tool_calls")

    assert () == stream.feed({"content": None})


def test_the_held_call_comes_out_before_the_end():
    """A call whose turn has not come is not lost when the input ends."""
    events = run([call(0, name="f", arguments="{"), call(1, name="g", arguments="{}")])

    assert "{{}" == texts(events, "response.function_call_arguments.delta")
    assert "failed" == types(events)[-1]

"""What becomes of the arguments of calls, and of calls that wait."""

from __future__ import annotations

import pytest
from call_scripts import CUSTOM, STOP, TEXT, call, calls, items
from helpers import fixed_stream, frames, lines_per_call, run
from hypothesis import given
from hypothesis import strategies as st

from responses_stream import (
    Delta,
    FunctionCallArgumentsDelta,
    LocalProtocolError,
    ToolCallDelta,
)
from responses_stream.items import CustomToolCall


@pytest.mark.parametrize("arguments", ["", " ", "\n"])
def test_no_arguments_are_an_empty_object(arguments):
    """As one delta, so that the sum of the deltas is still the value (clients.md R12)."""
    events = run([call(0, "a", "f", arguments), STOP])

    deltas = [e.delta for e in events if isinstance(e, FunctionCallArgumentsDelta)]
    assert "{}" == "".join(deltas).strip()


def test_no_input_is_no_input():
    """A custom tool takes plain text, and that may be empty."""
    [item] = items(call(0, "a", "c", '{"input": ""}'), STOP, request=CUSTOM)

    assert "" == item.input


def test_no_arguments_are_not_made_up_for_a_call_that_was_cut():
    """A call whose arguments were cut off stays as cut."""
    [item] = items(call(0, "a", "f"), {"finish_reason": "length"})

    assert ("", "incomplete") == (item.arguments, item.status)


def test_custom_input_is_restored():
    """The model writes JSON, the client gets the text."""
    [item] = items(call(0, "a", "c", '{"input": "a\\nb"}'), STOP, request=CUSTOM)

    assert isinstance(item, CustomToolCall)
    assert "a\nb" == item.input


def test_a_call_waits_while_another_is_written():
    """One item is open at a time; what is held comes out when the first one closes."""
    stream = fixed_stream()
    stream.feed(call(0, "a", "f", "["))

    assert not stream.feed(call(1, "b", "g", "{}"))
    assert [
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
    ] == [event.type[9:] for event in stream.feed(call(0, arguments="]"))]


def test_text_waits_while_a_call_is_written():
    """Then it comes, and nothing is lost."""
    [first, second] = items(call(0, "a", "f", "["), TEXT, call(0, arguments="]"), STOP)

    assert "[]" == first.arguments
    assert "text" == second.content[0].text


def test_arguments_for_a_call_that_is_over_are_refused():
    """They are lost otherwise; the error says which call it is."""
    stream = fixed_stream(order="interleaved")
    stream.feed(call(0, "a", "f", "{}"))
    stream.feed(TEXT)

    with pytest.raises(
        LocalProtocolError, match="'a' of 'f', which is complete and closed"
    ):
        stream.feed(call(0, arguments="more"))
    assert not stream.feed(call(0, arguments="\n"))


def test_a_delta_is_refused_whole():
    """Nothing of a compound delta is taken when one of its calls is refused."""
    stream = fixed_stream(order="interleaved")
    stream.feed(call(0, "a", "f", "{}"))
    stream.feed(TEXT)
    bad = Delta(
        content="lost?",
        tool_calls=(ToolCallDelta(1, "b", "g", "{}"), ToolCallDelta(0, "", "", "more")),
    )

    with pytest.raises(LocalProtocolError):
        stream.feed(bad)
    stream.finish("stop")

    assert 2 == len(stream.response["output"])
    assert "text" == stream.response["output"][1].content[0].text


@given(st.permutations([0, 0, 0, 1, 1, 1, 2, 2, 2]), st.booleans())
def test_interleaved_calls_come_out_whole_and_in_order(turns, named_late):
    """However three calls are mixed, with late names or without."""
    pieces = {i: iter(['{"a"', ":", f"{i}}}"]) for i in range(3)}
    heads = [call(i, f"id_{i}", "" if named_late else f"f{i}") for i in range(3)]
    names = [call(i, name=f"f{i}") for i in range(3)]

    out = calls(*heads, *(call(i, arguments=next(pieces[i])) for i in turns), *names)

    assert [(f"f{i}", f'{{"a":{i}}}') for i in range(3)] == out


def test_a_broken_name_in_the_request_can_be_written():
    """The item that a namespaced tool's call becomes takes its words from the request."""
    tool = {"type": "function", "name": "t"}
    request = {"tools": [{"type": "namespace", "name": "n\ud800", "tools": [tool]}]}

    assert b"n\xef\xbf\xbd" in frames(run([call(0, name="t"), STOP], request=request))


def lines_per_delta(deltas: list[Delta]) -> float:
    """How many lines of Python the stream runs for each of these deltas."""
    return lines_per_call(fixed_stream(order="interleaved").feed, deltas)


@pytest.mark.parametrize("name", ["f", ""])
def test_a_delta_costs_the_same_however_many_calls_wait(name):
    """Behind a call that never ends, or without a name."""

    def waiting(count: int) -> list[Delta]:
        return [call(0, "a", "f", "["), *(call(i, "", name, "{}") for i in range(1, count))]

    assert lines_per_delta(waiting(200)) < 1.2 * lines_per_delta(waiting(50))

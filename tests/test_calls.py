"""Which call a delta belongs to, and what becomes of its name, id and arguments."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from helpers import errors, fixed_stream, frames, lines_per_call, run
from hypothesis import given
from hypothesis import strategies as st

from responses_stream import (
    Delta,
    FunctionCallArgumentsDelta,
    LocalProtocolError,
    OutputItemDone,
    ToolCallDelta,
)
from responses_stream.calls import CallIds
from responses_stream.items import CustomToolCall, FunctionCall

CUSTOM = {"tools": [{"type": "custom", "name": "c"}]}
STOP = {"finish_reason": "stop"}
TEXT = Delta(content="text")


def call(
    index: int | None = None, call_id: str = "", name: str = "", arguments: str = ""
) -> Delta:
    """A delta of one call; every field may be missing."""
    return Delta(tool_calls=(ToolCallDelta(index, call_id, name, arguments),))


def items(*steps: object, **options: Any) -> list[Any]:
    """The items that come of a script, which makes no error."""
    events = run(steps, order="interleaved", **options)
    assert not errors(event.to_dict() for event in events)
    return [event.item for event in events if isinstance(event, OutputItemDone)]


def calls(*deltas: Delta) -> list[tuple[str, str]]:
    """The name and the arguments of each call that comes of these deltas, in order."""
    return [
        (item.name, item.arguments)
        for item in items(*deltas, STOP)
        if isinstance(item, FunctionCall)
    ]


# Which call a delta belongs to --------------------------------------------------------


def test_a_call_in_pieces():
    """The normal case: id and name first, then arguments, all with one index."""
    [item] = items(
        call(0, "call_1", "f"), call(0, arguments='{"a"'), call(0, arguments=": 1}"), STOP
    )

    assert ("call_1", "f", '{"a": 1}') == (item.call_id, item.name, item.arguments)


def test_deltas_belong_to_the_call_of_their_index():
    """Two calls written at the same time are kept apart."""
    assert [("f", "[1]"), ("g", "[2]")] == calls(
        call(0, "a", "f", "["),
        call(1, "b", "g", "["),
        call(0, arguments="1]"),
        call(1, arguments="2]"),
    )


def test_deltas_without_an_index_belong_to_the_call_of_their_id():
    """Some servers number nothing."""
    assert [("f", "[1]"), ("g", "[2]")] == calls(
        call(None, "a", "f", "["),
        call(None, "b", "g", "["),
        call(None, "a", "", "1]"),
        call(None, "b", "", "2]"),
    )


def test_an_index_that_comes_late_finds_its_call_by_the_id():
    """A delta belongs to the call of its index, or else of its id."""
    assert [("f", "[1]")] == calls(call(None, "a", "f", "["), call(0, "a", "", "1]"))


def test_the_same_index_with_another_id_is_a_new_call():
    """Chat servers have given every parallel call the index 0 (clients.md 52)."""
    assert [("f", "{}"), ("f", "[]")] == calls(
        call(0, "a", "f", "{}"), call(0, "b", "f", "[]")
    )


@pytest.mark.parametrize("between", [[], [TEXT]])
def test_the_same_index_with_another_name_is_a_new_call(between):
    """Also without ids, and when the first one is over."""
    assert [("f", "{}"), ("g", '{"a":1}')] == calls(
        call(0, name="f", arguments="{}"),
        *between,
        call(0, name="g"),
        call(0, arguments='{"a":1}'),
    )


def test_the_same_name_once_more_behind_complete_arguments_is_a_new_call():
    """Nothing but the name tells, and complete arguments take no more."""
    assert [("f", "{}"), ("f", "[]")] == calls(
        call(0, name="f", arguments="{}"), call(0, name="f", arguments="[]")
    )


def test_a_missing_index_with_a_new_id_is_a_new_call():
    """Whether or not a name comes with it at once."""
    assert [("f", "{}"), ("g", "[]")] == calls(
        call(None, "a", "f", "{}"), call(None, "b", "", "["), call(None, "b", "g", "]")
    )


def test_a_missing_index_with_a_name_is_a_new_call():
    """Servers without numbers and ids say the name once for each call."""
    assert [("f", "{}"), ("f", "[]")] == calls(
        call(name="f", arguments="{}"), call(name="f", arguments="[]")
    )


def test_bare_arguments_continue_the_last_call():
    """With neither index, id nor name there is nothing else they can mean."""
    assert [("f", "{}"), ("g", "[1]")] == calls(
        call(0, "a", "f", "{}"), call(1, "b", "g", "["), call(arguments="1]")
    )


def test_indices_need_not_be_contiguous():
    """Nor begin with 0, nor rise: the order is that of the first words."""
    assert [("f", "{}"), ("g", "[]")] == calls(
        call(7, "a", "f", "{}"), call(-3, "b", "g", "[]")
    )


def test_several_calls_in_one_delta():
    """They were an assertion error once (clients.md 4)."""
    both = Delta(
        tool_calls=(ToolCallDelta(0, "a", "f", "{}"), ToolCallDelta(1, "b", "g", "[]"))
    )

    assert [("f", "{}"), ("g", "[]")] == calls(both)


def test_empty_continuations_change_nothing():
    """Servers repeat id and name in every delta, or send them empty."""
    assert [("f", "[1]")] == calls(
        call(0, "a", "f", "["),
        call(0, "", "", ""),
        call(0, "a", "f", ""),
        call(0, "", "", "1]"),
    )


def test_a_broken_id_that_is_repeated_is_one_id():
    """Half a code point in it is mended, and compared mended."""
    assert [("f", "{}")] == calls(call(0, "a\ud800", "f", "{"), call(0, "a\ud800", "", "}"))


# Names and ids ------------------------------------------------------------------------


def test_a_late_name():
    """The arguments are held until it comes, and so are the calls behind it."""
    stream = fixed_stream()
    stream.start()

    assert not stream.feed(call(0, "a", "", "{}"))
    assert not stream.feed(call(1, "b", "g", "[]"))
    stream.feed(call(0, name="f"))
    stream.finish("stop")

    assert ["f", "g"] == [item.name for item in stream.response["output"]]


@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_a_blank_name_is_no_call(name):
    """The others stay: a nameless one does not take them with it."""
    assert [("g", "[]")] == calls(call(0, "a", name, "{}"), call(1, "b", "g", "[]"))


def test_a_response_of_nameless_calls_alone_has_failed():
    """The model meant to act; an empty completed response would be a lie."""
    [*_, end] = run([call(0, "a", "", "{}"), STOP])

    assert "response.failed" == end.type
    assert "{}" in end.response["error"]["message"]


def test_the_id_is_the_call_id():
    """As the parser said it."""
    [item] = items(call(0, "call_1", "f", "{}"), STOP)

    assert "call_1" == item.call_id


def test_a_missing_id_is_made():
    """A client must be able to answer."""
    [item] = items(call(0, name="f", arguments="{}"), STOP)

    assert item.call_id.startswith("call_")


def test_an_id_that_comes_before_the_name_is_kept():
    """It is late only when the call is out."""
    [item] = items(
        call(0, arguments="{"), call(0, "a"), call(0, name="f", arguments="}"), STOP
    )

    assert ("a", "{}") == (item.call_id, item.arguments)


def test_an_id_that_comes_too_late_changes_nothing():
    """What is announced stays as it is, in every event."""
    [item] = items(call(0, name="f", arguments="{"), call(0, "late", "", "}"), STOP)

    assert ("{}", True) == (item.arguments, item.call_id.startswith("call_"))


def test_call_ids_of_the_conversation_are_not_used_again():
    """Some models count from 0 in every turn (clients.md R21)."""
    request = {"input": [{"type": "function_call", "call_id": "f:0"}]}
    [first, second] = items(
        call(0, "f:0", "f", "{}"), call(1, "f:1", "f", "{}"), STOP, request=request
    )

    assert first.call_id.startswith("call_")
    assert "f:1" == second.call_id


@given(st.lists(st.sampled_from(["", "a", "b", "call_1"])))
def test_every_claimed_id_is_another_one(said):
    """Whatever the model says."""
    numbers = count()
    ids = CallIds(["b"], lambda: f"call_{next(numbers)}")

    claimed = [ids.claim(each) for each in said]

    assert len(said) == len({"b", *claimed}) - 1


# Arguments ----------------------------------------------------------------------------


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

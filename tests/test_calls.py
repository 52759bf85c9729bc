"""Which call a delta belongs to, and what becomes of its name and id."""

from __future__ import annotations

from itertools import count

import pytest
from call_scripts import STOP, TEXT, call, calls, items
from helpers import fixed_stream, run
from hypothesis import given
from hypothesis import strategies as st

from responses_stream import Delta, ToolCallDelta
from responses_stream.calls import CallIds

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

"""The short way of a delta ends where the long way does."""

from __future__ import annotations

import pytest
from helpers import fixed_stream
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cuttings, dialogues, noise

from responses_stream import Delta, LocalProtocolError, ResponseStream, counted_ids
from responses_stream.errors import ProtocolError
from responses_stream.kinds import (
    CUSTOM,
    FUNCTION,
    SUMMARY,
    TEXT,
    THOUGHTS,
    THOUGHTS_OPENRESPONSES,
)
from responses_stream.state import ORDERS, ItemState, Machine

TOOLS = {"tools": [{"type": "custom", "name": "c"}]}


class LongWay(ResponseStream):
    """Takes the short way never."""

    def _find_tail(self):
        return None


def both(script, request, **options):
    """What a stream says to each delta of a script, by the short way and by the long."""
    streams = (
        fixed_stream(request, **options),
        LongWay(request, ids=counted_ids(), clock=lambda: 1.0, **options),
    )
    return [[said(stream, delta) for delta in script] for stream in streams]


def said(stream, delta):
    try:
        return stream.feed(delta)
    except LocalProtocolError as error:
        return str(error)


@given(
    st.lists(noise(), max_size=30),
    st.sampled_from(["strict", "interleaved"]),
    st.sampled_from(["openai", "openresponses", "codex"]),
    st.sampled_from(["text", "summary", "both"]),
)
@settings(max_examples=500)
def test_whatever_is_said_both_ways_are_one(script, order, dialect, reasoning):
    """Deltas of every shape and order: the same events, numbers and refusals."""
    options = {"order": order, "dialect": dialect, "reasoning": reasoning}
    short, long = both(script, TOOLS, **options)

    assert long == short


@given(dialogues(), st.data())
@settings(max_examples=300)
def test_however_it_is_cut_both_ways_are_one(dialogue, data):
    """What models say, cut anywhere, code points too."""
    script = data.draw(cuttings(dialogue))[:-1]
    short, long = both(script, dialogue.request, order="interleaved")

    assert long == short
    assert not any(isinstance(each, str) for each in short)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("speech", ["reasoning", "output_text", "tool_call"])
def test_more_of_the_same_is_always_legal(order, speech):
    """The order's tables need not be asked again."""
    machine = Machine(ORDERS[order], ProtocolError)
    machine.advance(speech)

    assert machine.stays(speech)


@pytest.mark.parametrize(
    "kind", [TEXT, THOUGHTS, THOUGHTS_OPENRESPONSES, SUMMARY, FUNCTION, CUSTOM]
)
def test_one_more_delta_is_always_legal(kind):
    """Nor the tables of parts and calls."""
    assert kind.table[ItemState.OPEN][kind.delta.type] is ItemState.OPEN


@pytest.mark.parametrize(
    "delta",
    [
        {"content": "a"},
        {"content": "é"},
        {"reasoning": "a"},
        {"tool_calls": [{"index": 0, "function": {"arguments": "a"}}]},
        {"tool_calls": [{"function": {"arguments": "a"}}]},
    ],
    ids=str,
)
def test_most_deltas_take_the_short_way(delta, monkeypatch):
    """All that say more of what is open, even as dicts."""
    stream = fixed_stream(TOOLS, order="interleaved")
    if "tool_calls" in delta:
        stream.feed({"tool_calls": [{"index": 0, "function": {"name": "c"}}]})
    stream.feed(delta)
    monkeypatch.setattr(stream, "_feed", None)

    assert ["a", "é"].count(stream.feed(delta)[0].delta) == 1


def test_an_empty_delta_says_nothing():
    """Neither way."""
    stream = fixed_stream()
    assert stream.feed(Delta())
    stream.feed(Delta(content="a"))

    assert () == stream.feed(Delta())

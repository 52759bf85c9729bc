"""The tables: whole, without dead ends, and alike for whoever runs them."""

from __future__ import annotations

import itertools
from enum import Enum

import pytest

from responses_stream import state
from responses_stream.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from responses_stream.event_types import FIELDS
from responses_stream.state import (
    HOSTED,
    INTERLEAVED,
    ITEMS,
    ORDERS,
    PARTS,
    RESPONSE,
    STRICT,
    TERMINALS,
    Machine,
    OrderState,
    is_phantom,
)

TABLES = {
    "response": RESPONSE,
    **{f"order {name}": table for name, table in ORDERS.items()},
    **{f"item {name}": table for name, table in ITEMS.items()},
    "item hosted": HOSTED,
    **{f"part {name}": table for name, table in PARTS.items()},
}
ENDS = {"ENDED", "FINISHED", "DONE"}
EVENTS = sorted({event for t in TABLES.values() for row in t.values() for event in row})

all_tables = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def machine_in(table, place: Enum, blame: type[ProtocolError] = LocalProtocolError):
    """A machine that was led to `place`."""
    machine = Machine(table, blame)
    machine.state, machine.exits = place, table[place]
    return machine


def paths(table):
    """For each state that can be reached, the events that lead there."""
    start = next(iter(table))
    found = {start: ()}
    queue = [start]
    for place in queue:
        for event, following in table[place].items():
            if following not in found:
                found[following] = (*found[place], event)
                queue.append(following)
    return found


def test_every_table_is_tested():
    """A new table must not stay outside."""
    tables = [value for name, value in vars(state).items() if name.isupper()]
    rows = [t for t in tables if isinstance(t, dict) and isinstance(next(iter(t)), Enum)]

    assert {id(table) for table in rows} == {id(table) for table in TABLES.values()}


@all_tables
def test_the_first_row_is_the_start(table):
    """A machine begins where nothing has been said."""
    assert next(iter(table)).name in ("ABSENT", "START")
    assert next(iter(table)) is Machine(table, LocalProtocolError).state


@all_tables
def test_the_one_row_without_exits_is_the_end(table):
    """Nothing but the last state is final."""
    assert [list(table)[-1]] == [place for place, row in table.items() if not row]
    assert list(table)[-1].name in ENDS


@all_tables
def test_every_state_that_is_mentioned_is_a_row(table):
    """No exit leads into the void."""
    assert {following for row in table.values() for following in row.values()} <= set(table)


@all_tables
def test_every_state_can_be_reached(table):
    """A row that no path leads to is a mistake."""
    assert set(table) == set(paths(table))


@all_tables
def test_the_end_can_be_reached_from_everywhere(table):
    """No state is a trap."""
    for place in table:
        reached = paths({place: table[place], **table})
        assert list(table)[-1] in reached


@all_tables
def test_every_exit_is_an_event_or_a_kind_of_speech(table):
    """A misspelled event would never come."""
    speech = {"reasoning", "output_text", "tool_call", "finish"}

    for row in table.values():
        assert set(row) <= set(FIELDS) or set(row) <= speech


@pytest.mark.parametrize("blame", [LocalProtocolError, RemoteProtocolError])
@all_tables
def test_the_whole_product_of_states_and_events(table, blame):
    """A legal event leads where the table says; any other raises and changes nothing."""
    speech = list(STRICT[OrderState.START])
    for place, event in itertools.product(table, [*EVENTS, *FIELDS, *speech]):
        machine = machine_in(table, place, blame)
        if event in table[place]:
            machine.advance(event)
            assert table[place][event] is machine.state
        else:
            with pytest.raises(blame):
                machine.advance(event)
            assert place is machine.state
        assert table[machine.state] is machine.exits


@all_tables
def test_the_error_names_what_was_legal(table):
    """It can be searched for, and it says what to do instead."""
    for place, row in table.items():
        with pytest.raises(LocalProtocolError) as caught:
            machine_in(table, place).advance("response.nonsense")

        legal = " or ".join(row) or "nothing more"
        assert f"response.nonsense in state {place.name}; expected {legal}" == str(
            caught.value
        )


def test_whom_to_blame_is_told():
    """The tables know no role (h11's rule 2)."""
    with pytest.raises(RemoteProtocolError):
        Machine(RESPONSE, RemoteProtocolError).advance("response.completed")


@all_tables
def test_every_path_can_be_walked(table):
    """From the start, without setting any state by hand."""
    for place, path in paths(table).items():
        machine = Machine(table, LocalProtocolError)
        for event in path:
            machine.advance(event)
        assert place is machine.state


def test_strict_is_a_part_of_interleaved():
    """Whatever the strict order allows, the other one does."""
    for place, row in STRICT.items():
        assert set(row) <= set(INTERLEAVED[place])


def test_strict_never_goes_back():
    """Reasoning, text, calls: each leads to itself or onwards."""
    rank = list(OrderState).index

    for place, row in STRICT.items():
        assert all(rank(following) >= rank(place) for following in row.values())


def test_a_response_ends_with_its_status():
    """The terminal events are those that lead to the end, and are named after it."""
    ends = {
        event
        for row in RESPONSE.values()
        for event, following in row.items()
        if not RESPONSE[following]
    }

    assert ends == set(TERMINALS)
    assert all(event == f"response.{status}" for event, status in TERMINALS.items())


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t\r\n", "\u3000"])
def test_white_space_is_a_phantom(text):
    """It makes no item."""
    assert is_phantom(text)


@pytest.mark.parametrize("text", ["a", " a ", "\u200b", "\ufffd", "0"])
def test_words_are_no_phantom(text):
    """Anything that leaves a mark."""
    assert not is_phantom(text)

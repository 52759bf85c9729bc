"""The named scripts and their transcripts, the wire's own bytes."""

from __future__ import annotations

import pytest
from helpers import (
    SNAPSHOTS,
    accumulate,
    fixed_stream,
    frames,
    over_the_wire,
    run,
    violations,
)
from scripts import SCRIPTS

from responses_stream import Event


def events_of(name: str) -> list[Event]:
    steps, options = SCRIPTS[name]
    return run(steps, **options)


@pytest.mark.parametrize("name", SCRIPTS)
def test_transcript(name, transcript):
    """A script gives the bytes in its snapshot."""
    assert frames(events_of(name)) == transcript(name=name)


def test_keep_alive(transcript):
    """On a silent line `response.in_progress` is said again, numbered like any event."""
    stream = fixed_stream()
    events = stream.start() + stream.keep_alive()
    events += (
        stream.feed({"content": "At last."}) + stream.keep_alive() + stream.finish("stop")
    )

    assert frames(events) == transcript(name="keep_alive")
    assert [] == violations(over_the_wire(events))


def test_every_snapshot_has_its_script():
    """No snapshot is left behind by a script that is gone."""
    assert {*SCRIPTS, "keep_alive"} == {path.stem for path in SNAPSHOTS.glob("*")}


@pytest.mark.parametrize("name", SCRIPTS)
def test_transcript_is_clean(name):
    """Neither an error nor a warning, but for what codex must not take for whole."""
    rules = {found.rule for found in violations(over_the_wire(events_of(name)))}
    spared = ("codex_failed_in_text", "codex_length_in_a_call")

    assert ({"left-open"} if name in spared else set()) == rules


@pytest.mark.parametrize("name", [name for name in SCRIPTS if "openresponses" not in name])
def test_transcript_is_accepted_by_openai(name):
    """Every event fits the class that its type names, and the accumulator takes them all.

    The one exception is a code that codex acts on and openai's types do not list.
    """
    events = events_of(name)
    if name == "failed_at_once":
        events.pop()

    assert events[0].response["id"] == accumulate(events).id

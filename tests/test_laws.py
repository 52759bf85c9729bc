"""The promises of the design, over all inputs: exhaustively for short ones."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from helpers import accumulate, errors, fixed_stream, frames, over_the_wire, run, violations
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins
from strategies import Said, cuttings, dialogues, noise, played

from responses_stream import Event, LocalProtocolError, OutputItemDone, SSEDecoder, encode
from responses_stream.items import Item, Message, Reasoning


def call(index: int, **function: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": function}]}


# A quote is the shortest argument text that is incomplete, then complete, then not.
LETTERS: dict[str, dict[str, Any]] = {
    "text": {"content": "a"},
    "white": {"content": "\n"},
    "reasoning": {"reasoning": "r"},
    "name 0": call(0, name="f"),
    "arguments 0": call(0, arguments='"'),
    "call 1": call(1, name="g", arguments="{}"),
    "compound": {"reasoning": "r", "content": "a"} | call(2, name="h", arguments="{}"),
    "finish": {"finish_reason": "stop"},
}
LONGEST = 6
ORDERS = ("strict", "interleaved")


def sequences(first: str, order: str, longest: int):
    """All sequences of letters that begin with `first` and that no other is equal to.

    Nothing is taken after `finish`, and a delta that is refused leaves no trace (the two
    laws below): a longer sequence through one of them has a shorter equal, which is here.
    """
    stack = [(first,)]
    while stack:
        sequence = stack.pop()
        yield sequence
        if len(sequence) < longest and sequence[-1] != "finish":
            stack += (
                (*sequence, letter)
                for letter in LETTERS
                if legal((*sequence, letter), order)
            )


def legal(sequence: tuple[str, ...], order: str) -> bool:
    """Whether the last letter is taken: after a call, strict takes only calls."""
    if order == "interleaved" or sequence[-1] in ("white", "arguments 0", "finish"):
        return True
    said = [letter for letter in sequence[:-1] if letter not in ("white", "arguments 0")]
    if any(letter in ("name 0", "call 1", "compound") for letter in said):
        return sequence[-1] in ("name 0", "call 1")
    return not ("text" in said and sequence[-1] in ("reasoning", "compound"))


def expected_text(sequence: tuple[str, ...], kind: str) -> str:
    """What must come out of a sequence, white space aside."""
    letter = {"text": "a", "reasoning": "r"}[kind]
    return letter * (sequence.count(kind) + sequence.count("compound"))


def judge(sequence: tuple[str, ...], order: str) -> list[Event]:
    events = run((LETTERS[letter] for letter in sequence), order=order)

    assert [] == violations(events), sequence
    assert expected_text(sequence, "text") == "".join(said(events, "output_text").split())
    assert expected_text(sequence, "reasoning") == said(events, "reasoning_text")
    only_nameless = "arguments 0" in sequence and not dones(events)
    completed = "finish" in sequence and not only_nameless
    assert completed == (events[-1].type == "response.completed"), sequence
    calls = [event.item.name for event in dones(events) if hasattr(event.item, "name")]
    wanted = {"name 0": "f", "call 1": "g", "compound": "h"}
    assert {wanted[letter] for letter in sequence if letter in wanted} == set(calls)
    return events


def said(events: list[Event], flow: str) -> str:
    return "".join(e.delta for e in events if e.type == f"response.{flow}.delta")


def dones(events: list[Event]) -> list[OutputItemDone]:
    return [event for event in events if isinstance(event, OutputItemDone)]


@pytest.mark.parametrize("first", LETTERS)
@pytest.mark.parametrize("order", ORDERS)
def test_every_short_sequence_makes_a_clean_transcript(order, first, record_property):
    """The checker finds nothing, and nothing that was said is missing."""
    tried = sum(
        1 for sequence in sequences(first, order, LONGEST) if judge(sequence, order)
    )

    record_property(f"score: {order} sequences of up to {LONGEST} deltas, clean", tried)
    assert tried >= (1 if first == "finish" else 2)


@pytest.mark.parametrize("first", LETTERS)
@pytest.mark.parametrize("order", ORDERS)
def test_openai_accepts_every_shorter_sequence(order, first, record_property):
    """Types and accumulator of openai-python take it, and build the same final output."""
    tried = sum(1 for _ in sequences(first, order, 4))
    record_property(f"score: {order} sequences of up to 4 deltas, taken by openai", tried)
    for sequence in sequences(first, order, 4):
        events = judge(sequence, order)
        final = accumulate(events)
        wire = events[-1].to_dict()["response"]

        assert wire["status"] == final.status
        assert [item["id"] for item in wire["output"]] == [item.id for item in final.output]


@pytest.mark.parametrize("order", ORDERS)
def test_openai_accepts_a_fixed_sample_of_the_longer_sequences(order):
    """Every 997th sequence of five and six deltas."""
    all_ = itertools.chain.from_iterable(
        sequences(first, order, LONGEST) for first in LETTERS
    )
    longer = (sequence for sequence in all_ if len(sequence) > 4)
    for sequence in itertools.islice(longer, 0, None, 997):
        assert accumulate(judge(sequence, order)).status in ("completed", "failed")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("letter", LETTERS)
def test_nothing_is_taken_after_the_finish(order, letter):
    """The terminal event is the last one, whatever is said behind it."""
    stream = fixed_stream(order=order)
    stream.finish("stop")

    with pytest.raises(LocalProtocolError, match="expected nothing more"):
        stream.finish("stop") if letter == "finish" else stream.feed(LETTERS[letter])
    assert () == stream.close() == stream.keep_alive()


@pytest.mark.parametrize("refused", ["text", "reasoning", "compound"])
def test_a_refused_delta_leaves_no_trace(refused):
    """The events are those of the same script without the delta."""
    before, after = call(0, name="f"), call(0, arguments="{}")
    with_it = run([before, LETTERS[refused], after, LETTERS["finish"]], order="strict")

    assert run([before, after, LETTERS["finish"]], order="strict") == with_it


OPTIONS = st.fixed_dictionaries(
    {
        "order": st.just("interleaved"),
        "dialect": st.sampled_from(["openai", "openresponses", "codex"]),
        "reasoning": st.sampled_from(["text", "summary", "both"]),
    }
)


@given(dialogues(), OPTIONS, st.data())
@settings(max_examples=400)
def test_the_cutting_of_deltas_does_not_matter(dialogue, options, data):
    """However a model's words are cut, code points too, the final output is the same."""
    whole = run(played(dialogue), request=dialogue.request, **options)
    cut = run(data.draw(cuttings(dialogue)), request=dialogue.request, **options)

    assert whole[-1].response["output"] == cut[-1].response["output"]
    assert [] == violations(over_the_wire(cut))


@given(dialogues(), st.data())
@settings(max_examples=300)
def test_nothing_that_was_said_is_lost(dialogue: Said, data):
    """Every word, argument and custom input stands in the final output, in order."""
    events = run(
        data.draw(cuttings(dialogue)), request=dialogue.request, order="interleaved"
    )

    assert dialogue.expected() == [summed(item) for item in events[-1].response["output"]]
    assert [] == violations(events)


def summed(item: Item) -> tuple[str, str]:
    """An item's type and its text."""
    wire = to_builtins(item)
    parts = "".join(part["text"] for part in wire.get("content", ()))
    return wire["type"], parts or wire.get("arguments", wire.get("input", ""))


@given(st.lists(noise(), max_size=30), OPTIONS, st.sampled_from(ORDERS), st.data())
@settings(max_examples=500)
def test_any_input_ends_in_a_clean_transcript(script, options, order, data):
    """Errors, finishes and keep-alives at any place; deltas of every shape and order."""
    stream = fixed_stream(
        {"tools": [{"type": "custom", "name": "c"}]}, **options | {"order": order}
    )
    events = []
    for step in script:
        act = data.draw(st.sampled_from(["feed", "feed", "feed", "keep_alive"]))
        try:
            events += stream.feed(step) if act == "feed" else stream.keep_alive()
        except LocalProtocolError:
            continue
    ending = data.draw(
        st.sampled_from(["stop", "length", "content_filter", "abort", "fail", ""])
    )
    if ending == "fail":
        events += stream.fail("broken \ud800")
    elif ending:
        events += stream.finish(ending, {"prompt_tokens": 3, "completion_tokens": 4.0})
    events += stream.close()

    found = violations(over_the_wire(events))
    assert [] == [each for each in found if each.rule != "left-open"]
    if options["dialect"] != "codex":
        assert [] == found
    if options["dialect"] != "openresponses":
        accumulate(events)


@given(dialogues(), st.data(), st.sampled_from(["length", "content_filter", "error"]))
@settings(max_examples=300)
def test_codex_gets_no_half_of_what_it_acts_on(dialogue, data, ending):
    """Whatever it would run, or tell the model again, is whole; nothing else is lost."""
    deltas = data.draw(cuttings(dialogue))
    deltas = deltas[: data.draw(st.integers(0, len(deltas)))]
    script = [*deltas, {"finish_reason": ending}]
    said = {"request": dialogue.request, "order": "interleaved"}
    usual = run(script, dialect="openai", **said)[-1].response["output"]
    (*_, last) = run(script, dialect="codex", **said)

    for item in last.response["output"]:
        assert item.status == "completed" or (
            ending != "error" and isinstance(item, (Reasoning, Message))
        )
    kept = len(last.response["output"])
    assert usual[:kept] == last.response["output"]
    assert "completed" not in {item.status for item in usual[kept:]}


@given(dialogues(), st.data())
@settings(max_examples=100)
def test_the_cutting_of_bytes_does_not_matter(dialogue, data):
    """A body cut anywhere gives the same events."""
    events = run(played(dialogue), request=dialogue.request, order="interleaved")
    body = frames(events)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=20)))
    decoder = SSEDecoder()
    pieces = [body[a:b] for a, b in itertools.pairwise([0, *cuts, len(body)])]
    decoded = [frame for piece in pieces for frame in decoder.feed(piece)]

    assert over_the_wire(events) == [json.loads(frame.data) for frame in decoded[:-1]]


@given(st.lists(noise(), max_size=15))
@settings(max_examples=200)
def test_every_event_is_sent_as_soon_as_it_is_known(script):
    """What a client has after each delta is a transcript cut off, never a wrong one."""
    stream = fixed_stream(order="interleaved")
    wires: list[dict[str, Any]] = []
    for step in script:
        try:
            wires += (event.to_dict() for event in stream.feed(step))
        except LocalProtocolError:
            continue
        rules = {found.rule for found in errors(wires)}
        assert rules <= {"no-end", "unclosed"}, wires


def test_a_delta_costs_the_same_at_any_length():
    """The frames of one item differ in the delta and the number alone."""
    stream = fixed_stream()
    stream.feed({"content": "a"})
    first, last = b"", b""
    for number in range(1_000):
        (event,) = stream.feed({"content": "b"})
        last = encode(event)
        first = first or last
        assert first.replace(b":5}", b":%d}" % (5 + number)) == last

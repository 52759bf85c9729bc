"""What was seen of a part, an item and a response is held against what comes next."""

from __future__ import annotations

import pytest

from responses_stream.seen import SeenItem, SeenPart, said_again

MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress"}
PART = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
TEXT = {"type": "output_text", "text": "", "annotations": []}


def rules(faults) -> list[str]:
    """The rules that are broken."""
    return [fault.rule for fault in faults]


def test_a_text_that_is_said_again_is_its_deltas():
    """The message shows both."""
    [fault] = said_again("ab", ["a", "c"], "deltas")

    assert ("deltas", "the text is 'ab'; expected 'ac', the sum of its deltas") == fault[:2]
    assert not list(said_again("ac", ["a", "c"], "deltas"))


def test_a_part_remembers_what_was_streamed():
    """Text, annotations and log probabilities."""
    part = SeenPart("output_text")
    delta = {"delta": "a", "logprobs": [{"token": "a", "logprob": -1.0}]}
    assert not rules(part.grow("response.output_text.delta", delta))
    citation = {"annotation_index": 0, "annotation": {"type": "url_citation"}}
    assert not rules(part.grow("response.output_text.annotation.added", citation))

    whole = {
        "type": "output_text",
        "text": "a",
        "annotations": [{"type": "url_citation"}],
        "logprobs": [{"token": "a", "logprob": -1.0, "bytes": [97]}],
    }
    assert not rules(part.finish(whole))
    assert ["part-repeats"] * 4 == rules(
        part.finish({"type": "x", "logprobs": [{"token": "b"}]})
    )


def test_annotations_are_counted():
    """0, 1, 2, ... in each part."""
    part = SeenPart("output_text")
    event = "response.output_text.annotation.added"

    assert ["part-index"] == rules(part.grow(event, {"annotation_index": 1}))


@pytest.mark.parametrize("other", ["audio", None, []])
def test_a_part_of_an_unknown_type_opens_and_closes(other):
    """Nobody has told us what else it may do."""
    part = SeenPart(other)

    part.machine.advance("response.content_part.added")
    part.machine.advance("response.content_part.done")

    assert not part.machine.exits


def test_parts_are_counted_apart_in_content_and_summary():
    """Reasoning has both."""
    item = SeenItem(0, {"type": "reasoning", "id": "rs_1"})
    content = {"content_index": 0, "part": {"type": "reasoning_text"}}
    summary = {"summary_index": 0, "part": {"type": "summary_text"}}

    assert item.next_part(content) is item.part_of(content)
    assert item.next_part(summary) is item.part_of(summary)
    assert item.next_part(content) is None
    assert item.next_part({**content, "content_index": 2}) is None
    assert item.next_part({**content, "content_index": 1}) is not None


def test_what_is_open_has_a_name():
    """The item, and each of its parts."""
    item = SeenItem(0, MESSAGE)
    item.machine.advance("response.output_item.added")
    item.next_part({**PART, "part": TEXT})

    assert ["the item 'msg_1'", "part 0 of the content of 'msg_1'"] == list(item.unclosed())


def test_a_resumed_item_is_not_missed():
    """Its beginning was sent before the cut."""
    item = SeenItem(0, {"id": "msg_1"}, resumed=True)

    assert not item.is_open
    assert not list(item.unclosed())
    assert not rules(item.finish(MESSAGE))

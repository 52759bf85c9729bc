"""Turns, and the pairing of calls with their outputs."""

from __future__ import annotations

from typing import Any

import pytest

from responses_stream.chat.content import Part, text_part
from responses_stream.chat.conversation import NO_OUTPUT, NO_TEXT, Conversation
from responses_stream.chat.template import ChatOptions
from responses_stream.tools import ToolIndex

IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}


def script(*lines: tuple[Any, ...], **options: Any) -> list[list[Any]]:
    """Play `lines`, and give back each message as its role and what it says."""
    conversation = Conversation(ToolIndex({}))
    for verb, *values in lines:
        match verb, values:
            case "think", [text]:
                conversation.add_reasoning(text)
            case "call", [call_id]:
                conversation.add_call(call_id, "run", "{}")
            case "output", [call_id, said]:
                conversation.add_output(call_id, parts(said))
            case role, [said]:
                conversation.add_message(role, parts(said))
    return [
        [
            message["role"],
            *([message["tool_call_id"]] if "tool_call_id" in message else []),
            *([{"thought": message["reasoning"]}] if "reasoning" in message else []),
            message["content"],
            *[call["id"] for call in message.get("tool_calls", [])],
        ]
        for message in conversation.messages(ChatOptions(**options))
    ]


def parts(said: str | list[Part]) -> list[Part]:
    """A text, or parts as they are."""
    return [text_part(said)] if isinstance(said, str) else said


def test_a_turn_is_one_message() -> None:
    """What was thought, said and called before the first output belongs together."""
    played = script(
        ("user", "go"),
        ("think", "hm"),
        ("assistant", "I will."),
        ("call", "a"),
        ("call", "b"),
        ("output", "a", "A"),
        ("output", "b", "B"),
        ("assistant", "Done."),
    )

    assert played == [
        ["user", "go"],
        ["assistant", {"thought": "hm"}, "I will.", "a", "b"],
        ["tool", "a", "A"],
        ["tool", "b", "B"],
        ["assistant", "Done."],
    ]


def test_outputs_stand_in_the_order_of_the_calls() -> None:
    """Many templates write no ids, so that only the order says which answers which."""
    played = script(
        ("call", "a"), ("call", "b"), ("output", "b", "B"), ("output", "a", "A")
    )

    assert played == [
        ["assistant", "", "a", "b"],
        ["tool", "a", "A"],
        ["tool", "b", "B"],
    ]


def test_a_call_after_an_output_is_a_new_turn() -> None:
    """The model has read the output when it calls again."""
    played = script(
        ("call", "a"), ("output", "a", "A"), ("call", "b"), ("output", "b", "B")
    )

    assert played == [
        ["assistant", "", "a"],
        ["tool", "a", "A"],
        ["assistant", "", "b"],
        ["tool", "b", "B"],
    ]


def test_thoughts_between_texts_keep_their_place() -> None:
    """A thought after a text belongs to what comes next."""
    played = script(("think", "1"), ("assistant", "a"), ("think", "2"), ("assistant", "b"))

    assert played == [
        ["assistant", {"thought": "1"}, "a"],
        ["assistant", {"thought": "2"}, "b"],
    ]


def test_what_is_said_between_calls_joins_their_turn() -> None:
    """Otherwise it would stand behind the outputs, as if it had been said then."""
    played = script(
        ("think", "1"),
        ("call", "a"),
        ("think", "2"),
        ("assistant", "and"),
        ("call", "b"),
        ("assistant", "then"),
        ("output", "a", "A"),
        ("output", "b", "B"),
    )

    assert played == [
        ["assistant", {"thought": "1\n\n2"}, "and\n\nthen", "a", "b"],
        ["tool", "a", "A"],
        ["tool", "b", "B"],
    ]


def test_a_late_output_moves_to_its_call() -> None:
    """Chat allows nothing between a call and its answer."""
    played = script(("call", "a"), ("user", "well?"), ("output", "a", "A"))

    assert played == [["assistant", "", "a"], ["tool", "a", "A"], ["user", "well?"]]


def test_an_interrupted_call_is_answered_all_the_same() -> None:
    """Servers refuse a call without an answer."""
    played = script(("call", "a"), ("call", "b"), ("output", "b", "B"), ("user", "stop"))

    assert played == [
        ["assistant", "", "a", "b"],
        ["tool", "a", NO_OUTPUT],
        ["tool", "b", "B"],
        ["user", "stop"],
    ]


@pytest.mark.parametrize("call_id", ["z", None])
def test_an_output_without_its_call_is_the_users_word(call_id: str | None) -> None:
    """Its call may have been compacted away; what it says is not lost."""
    played = script(("user", "go"), ("output", call_id, "Z"))

    assert played == [["user", "go"], ["user", f"Output of tool call {call_id}:\nZ"]]


def test_a_second_output_is_the_users_word() -> None:
    """A call has one answer."""
    played = script(("call", "a"), ("output", "a", "A"), ("output", "a", "again"))

    assert played == [
        ["assistant", "", "a"],
        ["tool", "a", "A"],
        ["user", "Output of tool call a:\nagain"],
    ]


def test_ids_that_repeat_in_every_turn() -> None:
    """Each call gets an id of its own, and keeps its own output."""
    played = script(
        ("call", "a"),
        ("output", "a", "1"),
        ("call", "a"),
        ("output", "a", "2"),
        ("call", "a_2"),
        ("output", "a_2", "3"),
        ("call", "a"),
        ("output", "a", "4"),
    )

    assert [m for m in played if m[0] == "tool"] == [
        ["tool", "a", "1"],
        ["tool", "a_2", "2"],
        ["tool", "a_2_2", "3"],
        ["tool", "a_3", "4"],
    ]


def test_ids_that_repeat_within_a_turn() -> None:
    """The first output is that of the first call."""
    played = script(
        ("call", "a"), ("call", "a"), ("output", "a", "1"), ("output", "a", "2")
    )

    assert played[1:] == [["tool", "a", "1"], ["tool", "a_2", "2"]]


def test_ids_of_kimi_count_on() -> None:
    """Kimi numbers its calls through the conversation, and reads the numbers."""
    played = script(
        ("call", "functions.run:0"),
        ("output", "functions.run:0", "1"),
        ("call", "functions.run:0"),
        ("call", "functions.run:1"),
        ("output", "functions.run:0", "2"),
        ("output", "functions.run:1", "3"),
    )

    assert [m for m in played if m[0] == "tool"] == [
        ["tool", "functions.run:0", "1"],
        ["tool", "functions.run:1", "2"],
        ["tool", "functions.run:2", "3"],
    ]


def test_a_repeated_id_after_an_interruption() -> None:
    """The output is that of the call just made, not of the one that was interrupted."""
    played = script(("call", "a"), ("user", "stop"), ("call", "a"), ("output", "a", "A"))

    assert played == [
        ["assistant", "", "a"],
        ["tool", "a", NO_OUTPUT],
        ["user", "stop"],
        ["assistant", "", "a_2"],
        ["tool", "a_2", "A"],
    ]


def test_images_of_a_tool_follow_in_a_user_message() -> None:
    """A tool message holds text only; the images come after the last of them."""
    played = script(
        ("call", "a"),
        ("call", "b"),
        ("output", "a", [IMAGE]),
        ("output", "b", [text_part("B"), IMAGE]),
    )

    assert played == [
        ["assistant", "", "a", "b"],
        ["tool", "a", NO_TEXT],
        ["tool", "b", "B"],
        ["user", [text_part("From run:"), IMAGE, text_part("From run:"), IMAGE]],
    ]


@pytest.mark.parametrize("role", ["system", "assistant"])
def test_images_of_others_follow_in_a_user_message(role: str) -> None:
    """Only the user may show one."""
    played = script((role, [text_part("look"), IMAGE]), ("user", "well?"))

    assert played == [[role, "look"], ["user", [IMAGE]], ["user", "well?"]]


def test_images_of_an_unknown_call_stay_with_its_text() -> None:
    """All of it is the user's word."""
    played = script(("output", "z", [IMAGE]))

    assert played == [["user", [text_part("Output of tool call z:"), IMAGE]]]


def test_silence_is_no_message() -> None:
    """An assistant that said nothing is not heard; a user may send an empty message."""
    played = script(("think", ""), ("assistant", ""), ("assistant", []), ("user", ""))

    assert played == [["user", ""]]


def test_a_thought_of_which_nothing_came() -> None:
    """It stays where it was, if the template gets to see reasoning at all."""
    lines = [("user", "go"), ("think", "hm"), ("user", "stop")]

    assert script(*lines) == [
        ["user", "go"],
        ["assistant", {"thought": "hm"}, ""],
        ["user", "stop"],
    ]
    assert script(*lines, reasoning_fields=()) == [["user", "go"], ["user", "stop"]]


def test_a_thought_at_the_very_end() -> None:
    """The model thinks anew: an assistant message at the end would be its answer."""
    assert script(("user", "go"), ("think", "hm")) == [["user", "go"]]

"""What a chat template accepts, option by option."""

from __future__ import annotations

from typing import Any

import pytest

from responses_stream.chat.request import ChatOptions, to_chat_request
from responses_stream.chat.template import for_template

SYSTEM = {"role": "system", "content": "A"}
MORE = {"role": "system", "content": "B"}
USER = {"role": "user", "content": "hi"}
IMAGE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}


def shaped(*messages: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    """`messages` in the shape that `options` ask for."""
    return for_template(list(messages), ChatOptions(**options))


def test_the_system_speaks_once_at_the_beginning() -> None:
    """Qwen 3.5 raises on a second system message, and on one that comes later."""
    assert shaped(SYSTEM, MORE, USER, MORE) == [
        {"role": "system", "content": "A\n\nB"},
        USER,
        {"role": "user", "content": "B"},
    ]


def test_the_system_speaks_as_often_as_it_did() -> None:
    """Most older templates take any number of system messages anywhere."""
    messages = [SYSTEM, MORE, USER, MORE]

    assert shaped(*messages, join_system=False, late_system_role="system") == messages


@pytest.mark.parametrize("role", ["developer", "user"])
def test_the_role_of_the_system(role: str) -> None:
    """A name of one's own, as OpenAI has it, or none, as Gemma 2 wants it."""
    assert shaped(SYSTEM, USER, system_role=role) == [
        {"role": role, "content": "A"},
        USER,
    ]


def test_roles_in_a_row_become_one() -> None:
    """Texts become paragraphs, parts stay parts."""
    joined = shaped(USER, IMAGE, MORE, join_roles=True)

    assert joined == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "hi"},
                *IMAGE["content"],
                {"type": "text", "text": "B"},
            ],
        }
    ]


def test_assistants_in_a_row_become_one() -> None:
    """Reasoning and calls are joined like the text; only the last can have calls."""
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    first = {"role": "assistant", "content": "1", "reasoning": "x"}
    second = {"role": "assistant", "content": "", "reasoning": "y"}
    third = {"role": "assistant", "content": "3", "tool_calls": [call]}

    assert shaped(first, second, third, join_roles=True) == [
        {
            "role": "assistant",
            "content": "1\n\n3",
            "reasoning": "x\n\ny",
            "tool_calls": [call],
        }
    ]


def test_tool_messages_stay_apart() -> None:
    """Each answers a call of its own."""
    tools = [{"role": "tool", "tool_call_id": i, "content": i} for i in "ab"]

    assert shaped(*tools, join_roles=True) == tools


@pytest.mark.parametrize("fields", [(), ("reasoning",), ("reasoning_content",), ("a", "b")])
def test_the_reasoning_fields(fields: tuple[str, ...]) -> None:
    """One name, several names, or none at all."""
    thought = {
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "hm"}],
    }
    said = {"type": "message", "role": "assistant", "content": "so"}
    options = ChatOptions(reasoning_fields=fields)

    (message,) = to_chat_request({"input": [thought, said]}, options)["messages"]

    assert message == {
        "role": "assistant",
        "content": "so",
        **dict.fromkeys(fields, "hm"),
    }

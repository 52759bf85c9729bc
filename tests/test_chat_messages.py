"""Each type of input item, as messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from responses_stream.chat.fields import InvalidRequest
from responses_stream.chat.messages import chat_messages
from responses_stream.chat.template import ChatOptions
from responses_stream.tools import ToolIndex

Item = dict[str, Any]

AS_IT_WAS = ChatOptions(late_system_role="system", join_system=False)
"""Every message of the input as one of its own, under its own role."""

USER = {"role": "user", "content": "hi"}


def told(*items: Item, tools: list[Item] | None = None) -> list[Item]:
    """The messages for `items`."""
    request = {"input": list(items), "tools": tools or []}
    return chat_messages(request, ToolIndex(request), AS_IT_WAS)


def function_call(**fields: Any) -> Item:
    """A call of `run`."""
    return {
        "type": "function_call",
        "call_id": "call_1",
        "name": "run",
        "arguments": "{}",
    } | fields


def arguments_of(*items: Item, tools: list[Item] | None = None) -> tuple[str, str]:
    """The name and the arguments of the one call that `items` hold."""
    (function,) = (
        call["function"]
        for message in told(USER, *items, tools=tools)
        for call in message.get("tool_calls", [])
    )
    return function["name"], function["arguments"]


def outputs_of(*items: Item) -> list[str]:
    """What the tool messages say."""
    return [m["content"] for m in told(*items) if m["role"] == "tool"]


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("user", "user"),
        ("assistant", "assistant"),
        ("system", "system"),
        ("developer", "system"),
    ],
)
def test_the_roles(role: str, expected: str) -> None:
    """A developer speaks for the system."""
    messages = told({"type": "message", "role": role, "content": "hello"})

    assert messages == [{"role": expected, "content": "hello"}]


def test_a_message_may_come_without_its_type() -> None:
    """The official easy input message has a role and a content."""
    assert told(USER) == [USER]


def test_images_stay_among_the_words_of_the_user() -> None:
    """Codex puts an image between two texts that belong to it."""
    content = [
        {"type": "input_text", "text": "<image name=1>"},
        {"type": "input_image", "image_url": "data:,", "detail": "high"},
        {"type": "input_text", "text": "</image>"},
    ]

    (message,) = told({"type": "message", "role": "user", "content": content})

    assert message["content"] == [
        {"type": "text", "text": "<image name=1>"},
        {"type": "image_url", "image_url": {"url": "data:,", "detail": "high"}},
        {"type": "text", "text": "</image>"},
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"content": [{"type": "reasoning_text", "text": "a"}]}, "a"),
        ({"summary": [{"type": "summary_text", "text": "b"}]}, "b"),
        (
            {
                "content": [{"type": "reasoning_text", "text": "a"}],
                "summary": [{"type": "summary_text", "text": "b"}],
            },
            "a",
        ),
        (
            {
                "content": [
                    {"type": "reasoning_text", "text": "a"},
                    {"type": "text", "text": "c"},
                ],
                "encrypted_content": "gAAA",
            },
            "a\nc",
        ),
    ],
)
def test_reasoning_is_told_once(fields: Item, expected: str) -> None:
    """The content if there is any, else the summary of it."""
    reasoning = {"type": "reasoning", "content": None, "summary": [], **fields}
    answer = {"type": "message", "role": "assistant", "content": "so"}

    (message,) = told(reasoning, answer)

    assert message == {
        "role": "assistant",
        "content": "so",
        "reasoning": expected,
        "reasoning_content": expected,
    }


def test_encrypted_reasoning_says_nothing() -> None:
    """Another server's secret is dropped, and does not part what belongs together."""
    secret = {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    answer = {"type": "message", "role": "assistant", "content": "so"}

    assert told(USER, secret, answer) == [USER, {"role": "assistant", "content": "so"}]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"cmd":  "ls"}', '{"cmd":  "ls"}'),
        ("", "{}"),
        ('{"cmd": "l', '{"input": "{\\"cmd\\": \\"l"}'),
        ("[1]", '{"input": "[1]"}'),
        ('{"a":' * 9999, json.dumps({"input": '{"a":' * 9999})),
    ],
)
def test_arguments_are_always_an_object(arguments: str, expected: str) -> None:
    """As they were if they are one; a server that decodes them must not fail."""
    assert arguments_of(function_call(arguments=arguments)) == ("run", expected)


def test_a_call_of_a_namespaced_tool() -> None:
    """The history has the name that the model is told, also if the client lost half."""
    tools = [
        {
            "type": "namespace",
            "name": "agents",
            "tools": [{"type": "function", "name": "wait"}],
        }
    ]
    whole = function_call(name="wait", namespace="agents")
    lost = function_call(name="wait")

    assert arguments_of(whole, tools=tools) == ("agents__wait", "{}")
    assert arguments_of(lost, tools=tools) == ("agents__wait", "{}")
    assert arguments_of(whole) == ("agents__wait", "{}")


def test_a_custom_call_is_written_as_it_was_declared() -> None:
    """One object with the input, in the characters that it has."""
    call = {
        "type": "custom_tool_call",
        "call_id": "call_1",
        "name": "apply_patch",
        "input": 'é "\n',
    }

    assert arguments_of(call) == ("apply_patch", '{"input": "é \\"\\n"}')


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("done", "done"),
        ("", ""),
        (None, ""),
        ([{"type": "input_text", "text": text} for text in "ab"], "a\nb"),
        ({"exit": 0}, '{"exit": 0}'),
        ([{"type": "their_own", "x": 1}, 2], '{"type": "their_own", "x": 1}\n2'),
    ],
)
def test_outputs_are_text(output: object, expected: str) -> None:
    """A string, a list of parts, or whatever JSON the tool gave."""
    answer = {"type": "function_call_output", "call_id": "call_1", "output": output}

    assert outputs_of(function_call(), answer) == [expected]


def test_a_tool_search_tells_what_it_found() -> None:
    """The model reads the names by which it can call the tools from now on."""
    call = {
        "type": "tool_search_call",
        "call_id": "call_1",
        "execution": "client",
        "arguments": {"query": "mail"},
    }
    found = {
        "type": "tool_search_output",
        "call_id": "call_1",
        "tools": [
            {
                "type": "namespace",
                "name": "mail",
                "tools": [{"type": "function", "name": "send"}],
            }
        ],
    }

    assert arguments_of(call) == ("tool_search", '{"arguments": {"query": "mail"}}')
    assert outputs_of(call, found) == ["Found tools: mail__send"]


@pytest.mark.parametrize("kind", ["function_call_output", "custom_tool_call_output"])
def test_an_output_may_come_without_a_call_id(kind: str) -> None:
    """The official type has it optional; what the tool said is not lost."""
    messages = told({"type": kind, "call_id": None, "output": "done"})

    assert messages == [{"role": "user", "content": "Output of tool call None:\ndone"}]


@pytest.mark.parametrize(
    ("call", "answer", "expected"),
    [
        (
            {
                "type": "shell_call",
                "call_id": "call_1",
                "status": "completed",
                "action": {"commands": ["ls"]},
            },
            {
                "type": "shell_call_output",
                "call_id": "call_1",
                "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit"}}],
            },
            [
                ("shell", '{"action": {"commands": ["ls"]}}'),
                '{"stdout": "a", "stderr": "", "outcome": {"type": "exit"}}',
            ],
        ),
        (
            {"type": "local_shell_call", "call_id": "call_1", "action": {}},
            {"type": "local_shell_call_output", "id": "call_1", "output": "a"},
            [("local_shell", '{"action": {}}'), "a"],
        ),
        (
            {"type": "apply_patch_call", "call_id": "call_1", "operation": {}},
            {
                "type": "apply_patch_call_output",
                "call_id": "call_1",
                "status": "failed",
            },
            [("apply_patch", '{"operation": {}}'), "failed"],
        ),
    ],
)
def test_what_a_client_ran_for_another_servers_model(
    call: Item, answer: Item, expected: list[object]
) -> None:
    """It is a call with an output like any other, named by its type."""
    assert [arguments_of(call, answer), *outputs_of(call, answer)] == expected


@pytest.mark.parametrize(
    "item",
    [
        {"type": "additional_tools", "role": "developer", "tools": []},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "tool_search_output", "call_id": None, "tools": []},
        {"type": "compaction", "encrypted_content": "gAAA"},
        {"type": "from_the_future"},
    ],
)
def test_what_the_model_neither_said_nor_heard_is_left_out(item: Item) -> None:
    """Nothing stands in its place, and nobody complains."""
    assert told(USER, item) == [USER]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("hi", 'input[1]: found "hi", expected an object'),
        ({}, "input[1].type: found nothing, expected a string"),
        ({"type": 5}, "input[1].type: found 5, expected a string"),
        (
            {"type": "message", "role": "tool", "content": "x"},
            (
                'input[1].role: found "tool", expected one of user, assistant, system, '
                "developer"
            ),
        ),
        (
            {"type": "message", "role": "user"},
            "input[1].content: found nothing, expected a string or a list of parts",
        ),
        (
            {"role": "user", "content": [{"type": "input_text", "text": None}]},
            "input[1].content[0].text: found nothing, expected a string",
        ),
        (
            function_call(arguments={}),
            "input[1].arguments: found an object, expected a string",
        ),
        (
            function_call(call_id=None),
            "input[1].call_id: found nothing, expected a string",
        ),
        (
            {"type": "function_call_output", "call_id": 7, "output": ""},
            "input[1].call_id: found 7, expected a string",
        ),
    ],
)
def test_errors_name_the_item(item: Any, message: str) -> None:
    """The path leads to the very field."""
    with pytest.raises(InvalidRequest) as caught:
        told(USER, item)

    assert caught.value.message == message
    assert caught.value.param == message.partition(":")[0]


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ({"type": "item_reference", "id": "msg_1"}, "item_reference"),
        ({"id": "msg_1"}, "item_reference"),
        ({"type": "compaction_trigger"}, "compaction_trigger"),
    ],
)
def test_items_that_need_a_memory_are_refused(item: Item, kind: str) -> None:
    """Left out in silence they would change what the client asks for."""
    expected = f'found "{kind}", expected a whole item: this server stores nothing'

    with pytest.raises(InvalidRequest, match=expected):
        told(USER, item)

"""What holds for the chat request of any conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

from responses_stream.chat.request import (
    NOT_PASSED_ON,
    ChatOptions,
    InvalidRequest,
    to_chat_request,
)

Item = dict[str, Any]

words = st.integers(1000, 9999).map("word{}".format)
"""Of one length and unlike anything that the bridge itself would say."""

images = st.builds("data:image/png;base64,{}".format, words)


def text_parts(kind: str) -> st.SearchStrategy[Item]:
    """Parts that say a word."""
    return st.builds(lambda text: {"type": kind, "text": text}, words)


image_parts = st.builds(
    lambda url, detail: {"type": "input_image", "image_url": url, "detail": detail},
    images,
    st.sampled_from(["auto", "low", "high", "original"]),
)
contents = words | st.lists(text_parts("input_text") | image_parts, max_size=3)
messages = st.builds(
    lambda role, content: {"type": "message", "role": role, "content": content},
    st.sampled_from(["user", "developer", "system"]),
    contents,
)
answers = st.builds(
    lambda content: {"type": "message", "role": "assistant", "content": content},
    st.lists(text_parts("output_text"), max_size=2),
)
thoughts = st.builds(
    lambda content, summary: {
        "type": "reasoning",
        "summary": [] if content else summary,
        "content": content,
        "encrypted_content": None,
    },
    st.none() | st.lists(text_parts("reasoning_text"), max_size=2),
    st.lists(text_parts("summary_text"), max_size=2),
)


def calls(ids: st.SearchStrategy[str]) -> st.SearchStrategy[Item]:
    """Calls with one of `ids`."""
    function = st.builds(
        lambda call_id, word: {
            "type": "function_call",
            "call_id": call_id,
            "name": "run",
            "arguments": json.dumps({"cmd": word}),
        },
        ids,
        words,
    )
    custom = st.builds(
        lambda call_id, word: {
            "type": "custom_tool_call",
            "call_id": call_id,
            "name": "patch",
            "input": word,
        },
        ids,
        words,
    )
    return function | custom


def outputs(ids: st.SearchStrategy[str]) -> st.SearchStrategy[Item]:
    """Outputs of calls with one of `ids`; perhaps nobody made such a call."""
    return st.builds(
        lambda kind, call_id, output: {
            "type": kind,
            "call_id": call_id,
            "output": output,
        },
        st.sampled_from(["function_call_output", "custom_tool_call_output"]),
        ids,
        contents,
    )


def conversations(*call_ids: str) -> st.SearchStrategy[list[Item]]:
    """Items in any order, ids often the same, with a word of the user at the end."""
    ids = st.sampled_from(call_ids)
    item = messages | answers | thoughts | calls(ids) | outputs(ids)
    last = {"type": "message", "role": "user", "content": "go"}
    return st.lists(item, max_size=12).map(lambda items: [*items, last])


any_conversation = conversations("a", "b", "a_2", "functions.run:0", "functions.run:1")
any_options = st.builds(
    ChatOptions,
    system_role=st.sampled_from(["system", "developer", "user"]),
    late_system_role=st.sampled_from(["system", "developer", "user"]),
    join_system=st.booleans(),
    join_roles=st.booleans(),
)


def said(value: Any) -> Iterator[str]:
    """Every string in `value`."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from said(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from said(entry)


def chat_of(items: list[Item], **fields: Any) -> list[Item]:
    """The messages for `items`."""
    chat = to_chat_request({"model": "m", "input": items, **fields})
    messages: list[Item] = chat["messages"]
    return messages


@given(any_conversation, any_options)
def test_every_call_is_answered_at_once_and_in_order(
    items: list[Item], options: ChatOptions
) -> None:
    """After an assistant message stand the answers to its calls, and no others."""
    messages = to_chat_request({"input": items}, options)["messages"]

    expected = [
        message
        for asking in messages
        for message in [
            asking["role"],
            *(call["id"] for call in asking.get("tool_calls", [])),
        ]
        if asking["role"] != "tool"
    ]
    assert expected == [m.get("tool_call_id", m["role"]) for m in messages]


@given(any_conversation)
def test_every_call_id_is_unique(items: list[Item]) -> None:
    """No two calls share an id, however often the input repeats it."""
    calls = [call for m in chat_of(items) for call in m.get("tool_calls", [])]

    assert len(calls) == len({call["id"] for call in calls})
    assert len(calls) == sum(item["type"].endswith("_call") for item in items)


@given(any_conversation, any_options)
def test_nothing_that_was_said_is_lost(items: list[Item], options: ChatOptions) -> None:
    """Every word, image, argument and output is told as often as it was said."""
    words = [text for item in items for text in said(item) if "word" in text]
    told = "\n".join(said(to_chat_request({"input": items}, options)["messages"]))

    assert [word for word in words if told.count(word) < words.count(word)] == []


@given(any_conversation, any_options)
def test_every_request_is_one_by_the_official_types(
    items: list[Item], options: ChatOptions
) -> None:
    """What is sent validates as the official request of chat completions."""
    tools = [{"type": "function", "name": "run"}, {"type": "custom", "name": "patch"}]
    request = {"model": "m", "input": items, "tools": tools}

    validate(to_chat_request(request, options))


CHAT_REQUEST = TypeAdapter[Any](CompletionCreateParamsStreaming)


def validate(chat: Item) -> None:
    """Raise `ValidationError` unless `chat` is a request by the official types."""
    exhaust(CHAT_REQUEST.validate_python(chat))


def exhaust(value: Any) -> None:
    """Look at all of `value`: pydantic validates an `Iterable` only when it is read."""
    if isinstance(value, Mapping):
        value = value.values()
    if not isinstance(value, str | int | float | None):
        for entry in value:
            exhaust(entry)


@given(any_conversation)
def test_a_picky_template_gets_one_message_of_each_role_in_a_row(
    items: list[Item],
) -> None:
    """With `join_roles` only tool messages, one for each call, stand in a row."""
    chat = to_chat_request({"input": items}, ChatOptions(join_roles=True))
    roles = [message["role"] for message in chat["messages"]]

    assert [role for role, after in pairwise(roles) if role == after != "tool"] == []


@given(any_conversation)
def test_by_default_only_the_first_message_may_be_the_systems(
    items: list[Item],
) -> None:
    """Templates that know one system message at the beginning are content."""
    roles = [message["role"] for message in chat_of(items)]

    assert "system" not in roles[1:]


@given(conversations("a", "b"), conversations("c", "d"))
def test_a_growing_conversation_keeps_its_beginning(
    past: list[Item], more: list[Item]
) -> None:
    """What was sent stays as it was sent, so that a server's prefix cache holds."""
    before, after = chat_of(past), chat_of(past + more)

    assert before == after[: len(before)]


# fmt: off
KEYS = [
    "type", "role", "content", "text", "name", "call_id", "output", "tools", "summary",
    "arguments", "input", "id", "format", "schema", "mode", "image_url", "namespace",
    "description", "parameters", "effort",
]
KINDS = [
    "message", "user", "assistant", "reasoning", "function_call", "custom_tool_call",
    "function_call_output", "namespace", "input_text", "input_image", "input_file",
    "function", "custom", "allowed_tools", "json_schema", "tool_search_output",
    "additional_tools", "grammar", "shell_call", "shell_call_output",
    "local_shell_call_output",
]
# fmt: on

scalars = st.none() | st.booleans() | st.integers() | words | st.sampled_from(KINDS)
json_values = st.recursive(
    scalars,
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), values, max_size=5)
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(st.sampled_from([*NOT_PASSED_ON, "model"]), json_values)
    | st.builds(
        lambda items, tools: {"input": items, "tools": tools},
        st.lists(json_values),
        st.lists(json_values),
    )
)
def test_garbage_is_an_invalid_request_and_never_another_error(request: Item) -> None:
    """Any JSON object gives a chat request or `InvalidRequest`."""
    with suppress(InvalidRequest):
        to_chat_request(request)

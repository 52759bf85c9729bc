"""The plain fields of a request."""

from __future__ import annotations

import json
from typing import Any, get_type_hints

import pytest
from openai.types.responses.response_create_params import ResponseCreateParamsBase

from responses_stream.chat.request import (
    NOT_PASSED_ON,
    STATEFUL,
    ChatOptions,
    InvalidRequest,
    to_chat_request,
)

Item = dict[str, Any]


def chat_fields(**fields: Any) -> Item:
    """What a request with `fields` asks for, besides the messages and the stream."""
    chat = to_chat_request({"input": "hi", **fields})
    return {
        name: value
        for name, value in chat.items()
        if name not in ("messages", "stream", "stream_options")
    }


def test_a_string_is_the_users_word() -> None:
    """The shortest request there is."""
    chat = to_chat_request({"model": "m", "input": "hi"})

    assert chat == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_the_request_itself_is_not_changed() -> None:
    """A gateway still has to echo it."""
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": ""}
    tools = [{"type": "namespace", "name": "n", "description": "N.", "tools": [call]}]
    request = {"input": [call, call], "tools": tools, "text": {"format": None}}
    before = json.dumps(request)

    to_chat_request(request, ChatOptions(join_roles=True))

    assert before == json.dumps(request)


def test_instructions_come_first() -> None:
    """They are system text, before the developer's."""
    items = [
        {"role": "developer", "content": "Code."},
        {"role": "user", "content": "?"},
    ]

    chat = to_chat_request({"instructions": "Be brief.", "input": items})

    assert chat["messages"] == [
        {"role": "system", "content": "Be brief.\n\nCode."},
        {"role": "user", "content": "?"},
    ]


@pytest.mark.parametrize(
    "name", ["temperature", "top_p", "user", "top_k", "seed", "chat_template_kwargs"]
)
def test_what_a_chat_server_may_know_goes_through(name: str) -> None:
    """Sampling, and the fields that only the upstream server knows."""
    assert chat_fields(**{name: 1}) == {name: 1}


def test_the_table_knows_every_field_of_the_official_request() -> None:
    """Of these, four mean the same in chat; beside these, clients send some others."""
    official = get_type_hints(ResponseCreateParamsBase).keys()

    same_in_chat = {"model", "temperature", "top_p", "user"}
    others = {"stream", "client_metadata", "type", "generate", "n", "messages"}
    assert (official - same_in_chat) | others == NOT_PASSED_ON.keys()


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, reason in NOT_PASSED_ON.items()
        if name not in STATEFUL and not reason.startswith("told")
    ],
)
def test_what_belongs_to_responses_stops_here(name: str) -> None:
    """Nothing in chat answers to these fields; strict servers refuse unknown ones."""
    assert chat_fields(**{name: True}) == {}


def test_null_is_the_default() -> None:
    """Nothing is sent for null, which SGLang does not take for every field."""
    assert chat_fields(temperature=None, max_output_tokens=None, reasoning=None) == {}


def test_no_limit_unless_the_client_gave_one() -> None:
    """The limit goes under the name that the server knows, and only if there is one."""
    new_name = ChatOptions(output_limit_field="max_completion_tokens")
    request = {"input": "hi", "max_output_tokens": 99}

    assert chat_fields(max_output_tokens=99) == {"max_tokens": 99}
    assert to_chat_request(request, new_name)["max_completion_tokens"] == 99


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"top_logprobs": 3}, {"logprobs": True, "top_logprobs": 3}),
        ({"top_logprobs": 0}, {}),
        ({"include": ["message.output_text.logprobs"]}, {"logprobs": True}),
        ({"include": ["reasoning.encrypted_content"]}, {}),
    ],
)
def test_logprobs(fields: Item, expected: Item) -> None:
    """They are asked for by a number, or by an entry of `include`."""
    assert chat_fields(**fields) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ({"format": {"type": "text"}}, {}),
        ({"verbosity": "low"}, {"verbosity": "low"}),
        (
            {"format": {"type": "json_object"}},
            {"response_format": {"type": "json_object"}},
        ),
    ],
)
def test_text(text: Item, expected: Item) -> None:
    """The form of the text has names of its own in chat."""
    assert chat_fields(text=text) == expected


def test_the_words_of_chat_are_kept_where_responses_says_nothing() -> None:
    """A client that sends chat's own `response_format` is not overruled by silence."""
    assert chat_fields(response_format={"type": "json_object"}, text={}) == {
        "response_format": {"type": "json_object"}
    }


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"previous_response_id": "resp_1"},
            (
                'previous_response_id: found "resp_1", expected the whole conversation as '
                "input: this server stores nothing"
            ),
        ),
        (
            {"conversation": {"id": "conv_1"}},
            (
                "conversation: found an object, expected the whole conversation as input: "
                "this server stores nothing"
            ),
        ),
        (
            {"prompt": {"id": "pmpt_1"}},
            (
                "prompt: found an object, expected the text of the prompt as "
                "instructions: this server stores nothing"
            ),
        ),
        (
            {"background": True},
            (
                "background: found true, expected a client that stays connected: "
                "this server stores nothing"
            ),
        ),
        ({"input": None}, "input: found nothing, expected a list"),
        (
            {"input": []},
            "input: found nothing, expected something for the model to read",
        ),
        ({"instructions": 5}, "instructions: found 5, expected a string"),
        ({"reasoning": "high"}, 'reasoning: found "high", expected an object'),
        (
            {"max_output_tokens": True},
            "max_output_tokens: found true, expected an integer from 1 up",
        ),
        (
            {"text": {"format": {"type": "xml"}}},
            'text.format.type: found "xml", expected one of text, json_object, json_schema',
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "x"}}},
            "text.format.schema: found nothing, expected an object",
        ),
        (
            {"text": {"format": {"type": "json_schema", "schema": {}}}},
            "text.format.name: found nothing, expected a string",
        ),
    ],
)
def test_errors_say_what_was_found_and_what_was_expected(
    fields: Item, message: str
) -> None:
    """The message names the field too, which is `param` in the answer."""
    with pytest.raises(InvalidRequest) as caught:
        to_chat_request({"input": "hi", **fields})

    assert caught.value.message == message
    assert message.startswith(f"{caught.value.param}: ")


@pytest.mark.parametrize("name", STATEFUL)
def test_the_absence_of_state_is_no_error(name: str) -> None:
    """Null, and false for `background`, ask for nothing."""
    assert chat_fields(**{name: None}) == {}
    assert chat_fields(**{name: False}) == {}

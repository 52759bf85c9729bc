"""A Responses request, as the chat-completions request that asks the same.

    tools           flat functions, and the choice among them
    messages        items
    conversation    turns, calls with their outputs
    content         text and attachments
    template        what the upstream server accepts

This file has the rest: the plain fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from responses_stream.tools import ToolIndex

from .fields import (
    Fields,
    InvalidRequest,
    object_field,
    text_field,
    unexpected,
)
from .messages import chat_messages
from .template import DEFAULTS, ChatOptions
from .tools import tool_fields

__all__ = ["ChatOptions", "InvalidRequest", "to_chat_request"]

STATEFUL: Final[Mapping[str, str]] = {
    "previous_response_id": "the whole conversation as input",
    "conversation": "the whole conversation as input",
    "prompt": "the text of the prompt as instructions",
    "background": "a client that stays connected",
}
"""What only a server that stores responses can do, and what to send instead."""

NOT_PASSED_ON: Final[Mapping[str, str]] = {
    "input": "told as messages",
    "instructions": "told as messages",
    "tools": "told in the words of chat",
    "tool_choice": "told in the words of chat",
    "parallel_tool_calls": "only together with tools",
    "text": "told as response_format and verbosity",
    "reasoning": "told as reasoning_effort",
    "max_output_tokens": "told under the name that the server knows",
    "top_logprobs": "told with logprobs",
    "include": "told as logprobs; the rest is about hosted tools and encryption",
    "stream": "always true",
    "stream_options": "always asks for the usage",
    "n": "a response is one answer",
    "messages": "made here",
    "store": "nothing is stored",
    "previous_response_id": "nothing is stored",
    "conversation": "nothing is stored",
    "prompt": "nothing is stored",
    "background": "nothing is stored",
    "background_options": "nothing is stored",
    "metadata": "the client's own; chat takes it only for what is stored",
    "client_metadata": "the client's own (codex)",
    "safety_identifier": "between the client and OpenAI",
    "moderation": "between the client and OpenAI",
    "access_programs": "between the client and OpenAI",
    "service_tier": "names OpenAI's prices",
    "prompt_cache_key": "local servers cache by the prompt itself",
    "prompt_cache_options": "local servers cache by the prompt itself",
    "prompt_cache_retention": "local servers cache by the prompt itself",
    "truncation": "no chat server drops items",
    "context_management": "no chat server compacts",
    "max_tool_calls": "counts hosted tools",
    "image": "for OpenAI's image models",
    "type": "names the frame of a WebSocket",
    "generate": "warms up a WebSocket",
}
"""The fields that stop here, and why. All others mean the same in chat (`model`,
`temperature`, `top_p`, `user`) or are the upstream server's own (`top_k`, `seed`,
`chat_template_kwargs`), and go through as they are."""

LOGPROBS: Final = "message.output_text.logprobs"
"""The entry of `include` that has a counterpart in chat."""


def to_chat_request(request: Fields, options: ChatOptions = DEFAULTS) -> dict[str, Any]:
    """The body of POST /v1/chat/completions for that of POST /v1/responses.

    It shares values with `request`, which is not changed. Raises `InvalidRequest` for
    what no chat server could answer, and nothing else.
    """
    for name, instead in STATEFUL.items():
        if request.get(name):
            raise unexpected(request[name], f"{instead}: this server stores nothing", name)
    index = ToolIndex(request)
    told = {
        "messages": chat_messages(request, index, options),
        **tool_fields(request, index),
        **_text_fields(request),
        **_logprob_fields(request),
        "reasoning_effort": object_field(request, "reasoning").get("effort"),
        options.output_limit_field: _count(request, "max_output_tokens", least=1),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    passed_on = {k: v for k, v in request.items() if k not in NOT_PASSED_ON}
    # In Responses null means the default, which not every chat server allows to say.
    return _given(passed_on) | _given(told)


def _given(fields: Fields) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _text_fields(request: Fields) -> dict[str, Any]:
    text = object_field(request, "text")
    form = object_field(text, "format", "text")
    return {
        "response_format": _response_format(form) if form else None,
        "verbosity": text.get("verbosity"),
    }


def _response_format(form: Fields) -> dict[str, Any] | None:
    match form.get("type"):
        case "text":
            return None
        case "json_object":
            return {"type": "json_object"}
        case "json_schema":
            if not isinstance(form.get("schema"), Mapping):
                raise unexpected(form.get("schema"), "an object", "text.format.schema")
            text_field(form, "name", "text.format")
            names = ("name", "description", "schema", "strict")
            schema = _given({name: form.get(name) for name in names})
            return {"type": "json_schema", "json_schema": schema}
        case other:
            expected = "one of text, json_object, json_schema"
            raise unexpected(other, expected, "text.format.type")


def _logprob_fields(request: Fields) -> dict[str, Any]:
    top = _count(request, "top_logprobs", least=0)
    include = request.get("include")
    entries = include if isinstance(include, list | tuple) else ()
    if top or LOGPROBS in entries:
        return {"logprobs": True, "top_logprobs": top}
    return {}


def _count(request: Fields, name: str, *, least: int) -> int | None:
    value = request.get(name)
    # JSON's true is an int to Python.
    if value is None or (type(value) is int and value >= least):
        return value
    raise unexpected(value, f"an integer from {least} up", name)

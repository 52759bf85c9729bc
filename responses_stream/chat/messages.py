"""The items of a Responses request, told as the messages of a chat request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import msgspec

from responses_stream.tools import ToolIndex, declared_tools, flat_name

from .content import content_parts, json_text, output_parts, text_of, text_part
from .conversation import Conversation
from .fields import Fields, kind_of, objects, text_field, unexpected
from .template import ChatOptions, Message
from .tools import told_name

ROLES: Final[Mapping[str, str]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
"""Who speaks in Responses, and who that is here. `ChatOptions` names the system."""

ENVELOPE: Final = frozenset({"type", "id", "call_id", "status", "caller", "execution"})
"""What a call carries for the client and the server, not for the model."""


def chat_messages(request: Fields, index: ToolIndex, options: ChatOptions) -> list[Message]:
    """The messages that say what `instructions` and `input` say; never none."""
    conversation = Conversation(index)
    if request.get("instructions"):
        instructions = text_field(request, "instructions")
        conversation.add_message("system", [text_part(instructions)])
    given = request.get("input")
    if isinstance(given, str):
        conversation.add_message("user", [text_part(given)])
    else:
        for item, param in objects(given, "input"):
            ITEMS.get(_item_kind(item, param), _other)(conversation, item, param)
    messages = conversation.messages(options)
    if not messages:
        raise unexpected(given or None, "something for the model to read", "input")
    return messages


def _item_kind(item: Fields, param: str) -> str:
    if item.get("type") is None:  # which two kinds of items may leave out
        if "role" in item:
            return "message"
        if "id" in item:
            return "item_reference"
    return text_field(item, "type", param)


def _message(conversation: Conversation, item: Fields, param: str) -> None:
    role = text_field(item, "role", param)
    if role not in ROLES:
        raise unexpected(role, f"one of {', '.join(ROLES)}", f"{param}.role")
    parts = content_parts(item.get("content"), f"{param}.content")
    conversation.add_message(ROLES[role], parts)


def _reasoning(conversation: Conversation, item: Fields, param: str) -> None:
    # The summary retells the content. `encrypted_content` is another server's secret.
    content, summary = (
        text_of(content_parts(item.get(name) or [], f"{param}.{name}"))
        for name in ("content", "summary")
    )
    conversation.add_reasoning(content or summary)


def _function_call(conversation: Conversation, item: Fields, param: str) -> None:
    conversation.add_call(
        text_field(item, "call_id", param),
        told_name(conversation.index, item, param),
        _object_text(text_field(item, "arguments", param)),
    )


def _custom_tool_call(conversation: Conversation, item: Fields, param: str) -> None:
    conversation.add_call(
        text_field(item, "call_id", param),
        told_name(conversation.index, item, param),
        json_text({"input": text_field(item, "input", param)}),
    )


def _tool_output(conversation: Conversation, item: Fields, param: str) -> None:
    parts = output_parts(item.get("output"), f"{param}.output")
    conversation.add_output(_call_id(item, param), parts)


def _tool_search_output(conversation: Conversation, item: Fields, param: str) -> None:
    if call_id := _call_id(item, param):
        # The tools themselves are told with all the others.
        found = ", ".join(map(flat_name, declared_tools({"tools": item.get("tools")})))
        conversation.add_output(call_id, [text_part(f"Found tools: {found}")])


def _local_shell_call_output(conversation: Conversation, item: Fields, param: str) -> None:
    # The one output that names its call by `id`.
    _tool_output(conversation, {"call_id": item.get("id"), **item}, param)


def _other(conversation: Conversation, item: Fields, param: str) -> None:
    """Take a call that a client ran for another server's model, or its output.

    All else is nothing that this model could have said or heard: lists of tools, the
    work of hosted tools, the encrypted past of a compaction.
    """
    kind, call_id = kind_of(item), _call_id(item, param)
    if call_id and kind.endswith("_call"):
        call = {k: v for k, v in item.items() if k not in ENVELOPE and v is not None}
        conversation.add_call(call_id, kind.removesuffix("_call"), json_text(call))
    elif call_id and kind.endswith("_call_output"):
        output = item.get("output") or item.get("status")
        conversation.add_output(call_id, output_parts(output, f"{param}.output"))


def _refused(_conversation: Conversation, item: Fields, param: str) -> None:
    kind = kind_of(item) or "item_reference"
    # A client that asks for `store: false` knows that it must send whole items.
    wanted = "a whole item: this server stores nothing, so ask for store: false"
    raise unexpected(kind, wanted, f"{param}.type")


def _call_id(item: Fields, param: str) -> str | None:
    return None if item.get("call_id") is None else text_field(item, "call_id", param)


def _object_text(arguments: str) -> str:
    """Return `arguments` as they are if they are a JSON object, else put into one.

    A model's own words are echoed even where they are no JSON. Servers that decode them
    for the template refuse the whole request then, or show an empty object.
    """
    if not arguments.strip():
        return "{}"
    try:
        msgspec.json.decode(arguments, type=dict)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return json_text({"input": arguments})
    return arguments


ItemReader: TypeAlias = Callable[[Conversation, Fields, str], None]

ITEMS: Final[Mapping[str, ItemReader]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _function_call,
    "function_call_output": _tool_output,
    "custom_tool_call": _custom_tool_call,
    "custom_tool_call_output": _tool_output,
    "local_shell_call_output": _local_shell_call_output,
    "tool_search_output": _tool_search_output,
    "item_reference": _refused,
    "compaction_trigger": _refused,
}
"""How each type of input item is taken; one that is not here, by `_other`."""

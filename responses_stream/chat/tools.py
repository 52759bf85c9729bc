"""The tools of a Responses request, and the choice among them, in the words of chat.

Chat knows functions with one flat name. A custom tool becomes a function with one
string; the tools of a namespace are told under `flat_name`; a hosted tool (web search,
code interpreter) is not told, as nobody here could run it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from responses_stream.tools import Tool, ToolIndex, declared_tools, flat_name

from .fields import Fields, kind_of, objects, text_field, unexpected

MODES: Final = ("auto", "none", "required")
"""The values of `tool_choice` that name no tool."""

NAMED_TOOLS: Final = ("function", "custom", "namespace")
"""The types of tools that cannot be told of without a name."""

DECLARING_ITEMS: Final = ("additional_tools", "tool_search_output")
"""The types of input items that bring tools."""

NO_PARAMETERS: Final[Fields] = {"type": "object", "properties": {}}
"""For a function without a schema: many chat templates read `parameters.properties`."""

CUSTOM_PARAMETERS: Final[Fields] = {
    "type": "object",
    "properties": {
        "input": {"type": "string", "description": "The whole input of the tool."}
    },
    "required": ["input"],
    "additionalProperties": False,
}
"""The one string of a custom tool, as the parameters of a function."""

CUSTOM_AS_FUNCTION: Final = (
    "Call it as a function with one string, `input`: the whole input, as plain text."
)
"""Said of each custom tool: codex's own words on `apply_patch` are that it is freeform, and
not to wrap the patch in JSON."""


def told_name(index: ToolIndex, fields: Fields, param: str) -> str:
    """The name under which the model knows the tool that `fields` names.

    `fields` is a call or a choice, with `name` and perhaps `namespace`. It goes by way
    of the index, so that the history, the choice and the declarations agree, also where
    a client lost the namespace.
    """
    name = text_field(fields, "name", param)
    return flat_name(
        index.resolve(flat_name(Tool(name, "function", fields.get("namespace"))))
    )


def tool_fields(request: Fields, index: ToolIndex) -> dict[str, Any]:
    """`tools`, `tool_choice` and `parallel_tool_calls`; nothing if no tool is left."""
    namespaces = _namespace_descriptions(request)
    # Of two tools with one flat name the model is told of that one which the name
    # means on the way back.
    names = [flat_name(tool) for tool in declared_tools(request)]
    tools = {name: index.resolve(name) for name in names}
    choice = request.get("tool_choice")
    if isinstance(choice, Mapping) and kind_of(choice) == "allowed_tools":
        # Chat servers do not know this form, but they can be told of fewer tools.
        tools = _allowed(tools, choice, index)
        choice = choice.get("mode", "auto")
    if not tools:
        return {}
    fields = {
        "tools": [_function(name, tool, namespaces) for name, tool in tools.items()],
        "tool_choice": _choice(choice, tools, index),
        "parallel_tool_calls": request.get("parallel_tool_calls"),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _declarations(request: Fields) -> Iterator[tuple[Fields, str]]:
    """Each entry of each list of tools in `request`, with its path."""
    yield from objects(request.get("tools") or [], "tools")
    items = request.get("input")
    for position, item in enumerate(items if isinstance(items, list) else []):
        if isinstance(item, Mapping) and kind_of(item) in DECLARING_ITEMS:
            yield from objects(item.get("tools") or [], f"input[{position}].tools")


def _namespace_descriptions(request: Fields) -> dict[str, str]:
    """What the model should know of each namespace. Checks all names on its way."""
    descriptions = {}
    for tool, param in _declarations(request):
        kind = text_field(tool, "type", param)
        if kind in NAMED_TOOLS:
            name = text_field(tool, "name", param)
            description = tool.get("description")
            if kind == "namespace" and isinstance(description, str):
                descriptions[name] = f"{name}: {description}"
    return descriptions


def _function(name: str, tool: Tool, namespaces: dict[str, str]) -> dict[str, Any]:
    told = {
        "name": name,
        "description": "\n\n".join(_description(tool, namespaces)),
        "parameters": CUSTOM_PARAMETERS
        if tool.kind == "custom"
        else tool.definition.get("parameters") or NO_PARAMETERS,
        "strict": tool.definition.get("strict"),
    }
    # Absent rather than null or empty: SGLang takes no null for `strict`.
    told = {key: value for key, value in told.items() if value not in (None, "")}
    return {"type": "function", "function": told}


def _description(tool: Tool, namespaces: dict[str, str]) -> list[str]:
    paragraphs = description(tool.definition, is_custom=tool.kind == "custom")
    if tool.namespace in namespaces:
        # Told once, with the first tool of the namespace: it may be long.
        paragraphs.insert(0, namespaces.pop(tool.namespace))
    return paragraphs


def description(definition: Fields, *, is_custom: bool) -> list[str]:
    """What a model should know of a tool that is told as a function, in paragraphs."""
    paragraphs = [definition.get("description")]
    if is_custom:
        paragraphs.append(CUSTOM_AS_FUNCTION)
    form = definition.get("format")
    if isinstance(form, Mapping) and kind_of(form) == "grammar":
        paragraphs.append(
            f"The input must match this {form.get('syntax')} grammar:\n"
            f"{form.get('definition')}"
        )
    return [text for text in paragraphs if text and isinstance(text, str)]


def _allowed(
    tools: Mapping[str, Tool], choice: Fields, index: ToolIndex
) -> dict[str, Tool]:
    names, namespaces = set(), set()
    for entry, param in objects(choice.get("tools"), "tool_choice.tools"):
        if kind_of(entry) in ("function", "custom"):
            names.add(told_name(index, entry, param))
        elif kind_of(entry) == "namespace":
            namespaces.add(text_field(entry, "name", param))
    return {
        name: tool
        for name, tool in tools.items()
        if name in names or tool.namespace in namespaces
    }


def _choice(choice: object, tools: Mapping[str, Tool], index: ToolIndex) -> object:
    """The chat form of `choice`; None where the client left it to the server."""
    if choice is None or choice in MODES:
        return choice
    if not isinstance(choice, Mapping):
        expected = f"one of {', '.join(MODES)}, or an object"
        raise unexpected(choice, expected, "tool_choice")
    if kind_of(choice) not in ("function", "custom"):
        # A hosted tool, of which the model was not told.
        return "auto"
    name = told_name(index, choice, "tool_choice")
    if name not in tools:
        declared = f"one of {', '.join(tools)}"
        raise unexpected(choice["name"], declared, "tool_choice.name")
    return {"type": "function", "function": {"name": name}}

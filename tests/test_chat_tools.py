"""Tools and the choice among them."""

from __future__ import annotations

from typing import Any

import pytest

from responses_stream.chat.fields import InvalidRequest
from responses_stream.chat.tools import (
    CUSTOM_AS_FUNCTION,
    CUSTOM_PARAMETERS,
    MODES,
    NO_PARAMETERS,
    tool_fields,
)
from responses_stream.tools import ToolIndex, flat_name

Fields = dict[str, Any]

RUN = {"type": "function", "name": "run", "parameters": {"type": "object"}}
PATCH = {"type": "custom", "name": "patch"}
AGENTS = {
    "type": "namespace",
    "name": "agents",
    "description": "Others.",
    "tools": [
        {"type": "function", "name": "spawn", "description": "Starts one."},
        {"type": "function", "name": "wait", "description": "Waits for one."},
    ],
}
WEB_SEARCH = {"type": "web_search"}


def told(*tools: Fields, **fields: Any) -> Fields:
    """The fields of the chat request for `tools`."""
    request = {"input": "hi", "tools": list(tools), **fields}
    return tool_fields(request, ToolIndex(request))


def functions(*tools: Fields, **fields: Any) -> list[Fields]:
    """The functions that the model is told of."""
    return [tool["function"] for tool in told(*tools, **fields).get("tools", [])]


def names(*tools: Fields, **fields: Any) -> list[str]:
    """Their names."""
    return [function["name"] for function in functions(*tools, **fields)]


def test_a_function() -> None:
    """Chat has the same fields one level deeper."""
    tool = {
        "type": "function",
        "name": "run",
        "description": "Runs.",
        "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}},
        "strict": False,
    }

    assert told(tool)["tools"] == [
        {
            "type": "function",
            "function": {name: tool[name] for name in tool if name != "type"},
        }
    ]


def test_a_function_without_parameters() -> None:
    """Templates read the properties of the schema, so there is always one."""
    tool = {"type": "function", "name": "now", "parameters": None, "strict": None}

    assert functions(tool) == [{"name": "now", "parameters": NO_PARAMETERS}]


def test_a_custom_tool() -> None:
    """A function of one string, with the grammar where the model can read it."""
    tool = {
        "type": "custom",
        "name": "apply_patch",
        "description": "Edits files.",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"},
    }

    assert functions(tool) == [
        {
            "name": "apply_patch",
            "description": f"Edits files.\n\n{CUSTOM_AS_FUNCTION}\n\n"
            "The input must match this lark grammar:\nstart: X",
            "parameters": CUSTOM_PARAMETERS,
        }
    ]


def test_a_namespace_is_opened() -> None:
    """Flat names; what the namespace is for is told once."""
    assert functions(AGENTS) == [
        {
            "name": "agents__spawn",
            "description": "agents: Others.\n\nStarts one.",
            "parameters": NO_PARAMETERS,
        },
        {
            "name": "agents__wait",
            "description": "Waits for one.",
            "parameters": NO_PARAMETERS,
        },
    ]


@pytest.mark.parametrize("swapped", [False, True])
def test_the_way_back_leads_to_the_tool_that_was_told(*, swapped: bool) -> None:
    """Of two tools with one flat name the model knows the one that the index finds."""
    twin = {"type": "function", "name": "agents__wait", "description": "The other."}
    request = {"tools": [twin, AGENTS] if swapped else [AGENTS, twin]}

    index = ToolIndex(request)

    functions = [tool["function"] for tool in tool_fields(request, index)["tools"]]

    (wait,) = (each for each in functions if each["name"] == "agents__wait")
    assert wait["description"] == "The other."
    assert index.resolve("agents__wait").definition == twin


def test_hosted_tools_are_not_told() -> None:
    """Nobody could run them; without any other tool there is nothing to choose."""
    fields = {"tool_choice": "required", "parallel_tool_calls": True}

    assert told(WEB_SEARCH, **fields) == {}
    assert names(WEB_SEARCH, RUN) == ["run"]


def test_tools_that_were_found_later_are_told() -> None:
    """The output of a search, and codex's item of tools, bring more, each once."""
    items = [
        {"type": "additional_tools", "tools": [RUN]},
        {"type": "tool_search_output", "tools": [PATCH, RUN]},
    ]

    assert names(input=items) == ["run", "patch"]


@pytest.mark.parametrize("value", [True, False])
def test_parallel_tool_calls_come_with_tools(*, value: bool) -> None:
    """And only with them."""
    assert told(RUN, parallel_tool_calls=value)["parallel_tool_calls"] is value
    assert told(parallel_tool_calls=value) == {}


@pytest.mark.parametrize("choice", MODES)
def test_choices_that_name_no_tool(choice: str) -> None:
    """They are the same in chat."""
    assert told(RUN, tool_choice=choice)["tool_choice"] == choice


def test_no_choice() -> None:
    """What a server does then is its own affair."""
    assert "tool_choice" not in told(RUN)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "function", "name": "run"}, "run"),
        ({"type": "custom", "name": "patch"}, "patch"),
        ({"type": "function", "name": "wait", "namespace": "agents"}, "agents__wait"),
        ({"type": "function", "name": "wait"}, "agents__wait"),
    ],
)
def test_choices_of_a_tool(choice: Fields, expected: str) -> None:
    """Every kind of tool is a function to chat."""
    fields = told(RUN, PATCH, AGENTS, tool_choice=choice)

    assert fields["tool_choice"] == {"type": "function", "function": {"name": expected}}


@pytest.mark.parametrize("kind", ["web_search_preview", "mcp", "shell", "future"])
def test_choices_of_a_hosted_tool(kind: str) -> None:
    """The model was not told of it, so the choice is its own."""
    assert told(RUN, tool_choice={"type": kind})["tool_choice"] == "auto"


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        ([{"type": "function", "name": "run"}], ["run"]),
        ([PATCH, {"type": "web_search"}], ["patch"]),
        (
            [{"type": "function", "name": "wait", "namespace": "agents"}],
            ["agents__wait"],
        ),
        (
            [{"type": "namespace", "name": "agents"}],
            ["agents__spawn", "agents__wait"],
        ),
        ([], []),
    ],
)
def test_allowed_tools(allowed: list[Fields], expected: list[str]) -> None:
    """The model is told of no others, in the order of the declaration."""
    choice = {"type": "allowed_tools", "mode": "required", "tools": allowed}

    fields = told(RUN, PATCH, AGENTS, tool_choice=choice)

    assert [tool["function"]["name"] for tool in fields.get("tools", [])] == expected
    assert fields.get("tool_choice") == ("required" if expected else None)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tools": {}}, None),
        ({"tools": {"a": 1}}, "tools: found an object, expected a list"),
        ({"tools": ["run"]}, 'tools[0]: found "run", expected an object'),
        ({"tools": [{}]}, "tools[0].type: found nothing, expected a string"),
        (
            {"tools": [{"type": "function", "function": {"name": "run"}}]},
            "tools[0].name: found nothing, expected a string",
        ),
        (
            {"input": [{"type": "additional_tools", "tools": [{"type": "custom"}]}]},
            "input[0].tools[0].name: found nothing, expected a string",
        ),
        (
            {"tools": [RUN], "tool_choice": "any"},
            'tool_choice: found "any", expected one of auto, none, required, or an object',
        ),
        (
            {"tools": [RUN], "tool_choice": {"type": "function", "name": "walk"}},
            'tool_choice.name: found "walk", expected one of run',
        ),
        (
            {"tools": [RUN], "tool_choice": {"type": "allowed_tools", "mode": "auto"}},
            "tool_choice.tools: found nothing, expected a list",
        ),
    ],
)
def test_errors(fields: Fields, message: str | None) -> None:
    """They name the field, and what would have been right."""
    request = {"input": "hi", **fields}
    if message is None:
        assert tool_fields(request, ToolIndex(request)) == {}
        return

    with pytest.raises(InvalidRequest) as caught:
        tool_fields(request, ToolIndex(request))

    assert caught.value.message == message
    assert caught.value.param == message.partition(":")[0]


def test_a_flat_name_is_what_the_index_finds() -> None:
    """The bridge never makes a name of its own."""
    request = {"tools": [RUN, PATCH, AGENTS]}
    index = ToolIndex(request)

    told_names = names(RUN, PATCH, AGENTS)

    assert told_names == [flat_name(index.resolve(name)) for name in told_names]

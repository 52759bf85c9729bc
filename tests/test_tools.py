"""A name that a model says leads back to the tool that was declared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import JSON

from responses_stream.tools import (
    SEPARATOR,
    SPOKEN_SEPARATORS,
    Tool,
    ToolIndex,
    declared_tools,
    flat_name,
    said_call_ids,
)

NAMES = st.text(st.sampled_from("ab_-."), min_size=1, max_size=4)
TOOLS = st.fixed_dictionaries(
    {"type": st.sampled_from(["function", "custom"]), "name": NAMES}
)
NAMESPACES = st.fixed_dictionaries(
    {"type": st.just("namespace"), "name": NAMES, "tools": st.lists(TOOLS, max_size=3)}
)
REQUESTS = st.fixed_dictionaries({"tools": st.lists(TOOLS | NAMESPACES, max_size=5)})


def named(*tools: tuple[str, ...]) -> dict[str, list[dict[str, object]]]:
    """A request that declares these functions, each by (namespace and) name."""
    return {
        "tools": [
            {"type": "namespace", "name": names[0], "tools": [function(names[1])]}
            if len(names) > 1
            else function(names[0])
            for names in tools
        ]
    }


def function(name: str) -> dict[str, object]:
    """A function tool."""
    return {"type": "function", "name": name}


def meant(request: dict[str, object], name: str) -> tuple[str | None, str]:
    """The namespace and name that `name` is resolved to."""
    tool = ToolIndex(request).resolve(name)
    return tool.namespace, tool.name


@given(REQUESTS)
def test_the_way_back_is_the_way_there(request_):
    """A declared tool's flat name resolves to that tool, or to an equal one before it."""
    index = ToolIndex(request_)
    tools = list(declared_tools(request_))

    for tool in tools:
        found = index.resolve(flat_name(tool))
        assert flat_name(tool) == flat_name(found)
        first = next(t for t in tools if flat_name(t) == flat_name(tool))
        assert found == first or found.namespace is None


@given(st.fixed_dictionaries({}, optional={"tools": JSON, "input": JSON}))
def test_any_request_is_read(request_):
    """What is no tool is passed over."""
    assert Tool("f", "function") == ToolIndex(request_).resolve("f")
    assert not list(said_call_ids(request_))


def test_a_function_is_found_by_its_name():
    """With its definition."""
    tool = ToolIndex(named(("f",))).resolve("f")

    assert Tool("f", "function", None, function("f")) == tool


def test_an_undeclared_name_is_a_plain_function():
    """Nothing is lost of a call that the model made up."""
    assert Tool("g", "function") == ToolIndex(named(("f",))).resolve("g")


@pytest.mark.parametrize("separator", SPOKEN_SEPARATORS)
def test_a_namespaced_tool_is_found_however_it_is_spoken(separator):
    """Models write other separators than they were told."""
    assert ("n", "t") == meant(named(("n", "t")), f"n{separator}t")


def test_a_namespaced_tool_is_found_by_its_bare_name_if_only_one_has_it():
    """Two of the same name cannot be told apart."""
    assert ("n", "t") == meant(named(("n", "t")), "t")
    assert (None, "t") == meant(named(("n", "t"), ("m", "t")), "t")


def test_the_most_literal_reading_wins():
    """A plain function keeps its name, even if it looks like a namespaced one's."""
    assert (None, "n__t") == meant(named(("n", "t"), ("n__t",)), "n__t")
    assert ("n", "t") == meant(named(("n", "t"), ("n__t",)), "n.t")


def test_functions_is_where_plain_functions_live():
    """Models trained on OpenAI's format say so."""
    assert (None, "f") == meant(named(("f",)), "functions.f")


def test_tools_are_declared_in_the_input_too():
    """Codex adds some there, and a tool search brings some."""
    request = named(("f",)) | {
        "input": [
            {"type": "additional_tools", "tools": [{"type": "custom", "name": "c"}]},
            {"type": "tool_search_output", "tools": named(("n", "t"))["tools"]},
            {"type": "message", "tools": [function("g")]},
        ]
    }

    assert ["f", "c", f"n{SEPARATOR}t"] == [flat_name(t) for t in declared_tools(request)]


def test_hosted_tools_have_no_name_to_call():
    """They are left out, as everything is that is no tool."""
    tools = [{"type": "web_search"}, {"type": "mcp", "name": "m"}, 5, {"name": "f"}]

    assert not list(declared_tools({"tools": tools}))


def test_call_ids_of_the_conversation():
    """Calls and their outputs, in the input's order."""
    request = {"input": [{"call_id": "a"}, {"id": "b"}, "text", {"call_id": 5}]}

    assert ["a"] == list(said_call_ids(request))
    assert not list(said_call_ids({"input": "text"}))

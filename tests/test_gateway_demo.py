"""The demo model: what it says, and that it fits what was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from gateway_world import ask, calls_in, said_in, serving
from helpers import violations
from hypothesis import given
from hypothesis import strategies as st

from responses_stream.gateway.demo_schema import Example
from responses_stream.gateway.demo_script import script
from responses_stream.gateway.settings import Settings

EXEC_COMMAND = {
    "type": "function",
    "name": "exec_command",
    "description": "Runs a command in a PTY.",
    "strict": False,
    "parameters": {
        "type": "object",
        "properties": {
            "cmd": {"type": "string", "description": "Shell command to execute."},
            "workdir": {"type": "string"},
            "tty": {"type": "boolean"},
            "yield_time_ms": {"type": "number"},
            "max_output_tokens": {"type": "number"},
        },
        "required": ["cmd"],
        "additionalProperties": False,
    },
}
OTHER_TOOLS = [
    {"type": "function", "name": "write_stdin", "parameters": {"type": "object"}},
    {"type": "custom", "name": "apply_patch"},
    {"type": "web_search"},
]
CODEX: dict[str, Any] = {
    "model": "demo",
    "stream": True,
    "store": False,
    "input": [
        {"type": "message", "role": "developer", "content": "You are codex."},
        {"type": "message", "role": "user", "content": "<environment_context>"},
        {"type": "message", "role": "user", "content": "say hello"},
    ],
    "tools": [*OTHER_TOOLS, EXEC_COMMAND],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "include": ["reasoning.encrypted_content"],
}
TITLE = {
    "type": "object",
    "properties": {"title": {"type": "string", "minLength": 1, "maxLength": 36}},
    "required": ["title"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module", name="url")
def _url() -> Iterator[str]:
    with serving(Settings(demo_pace=0)) as url:
        yield url


def test_a_prompt_gets_thoughts_and_text(url):
    """A newcomer's first stream: clean, quoted, several deltas of each kind."""
    got = ask(url, model="demo", input="Hello there", stream=True)
    kinds = [wire["type"] for wire in got.events]

    assert [] == violations(got.events)
    assert kinds.count("response.reasoning_text.delta") > 5
    assert kinds.count("response.output_text.delta") > 5
    assert "Hello there" in said_in(got.response["output"], "message")
    assert got.response["usage"]["output_tokens"] > 10


def test_codex_gets_a_harmless_command_and_then_a_summary(url):
    """Two turns: `echo`, and a quotation of what it printed."""
    first = ask(url, **CODEX).response["output"]
    ((name, arguments),) = calls_in(first)
    output = {
        "type": "function_call_output",
        "call_id": first[-1]["call_id"],
        "output": "Chunk ID: c0beb6\nWall time: 0.4 seconds\nOutput:\nhello, it is me\n",
    }
    second = ask(url, **{**CODEX, "input": [*CODEX["input"], *first, output]})

    assert "exec_command" == name
    assert {"cmd": "echo hello from responses_stream", "yield_time_ms": 1000} == json.loads(
        arguments
    )
    assert "1000.0" not in arguments
    assert () == calls_in(second.response["output"])
    said = said_in(second.response["output"], "message")
    assert "hello, it is me" in said
    assert "Wall time" not in said


TITLE_FORM = {"type": "json_schema", "name": "title", "strict": True, "schema": TITLE}


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("say hello", "say hello"),
        ("say hello to each of the nine planets", "say hello to each of the nine"),
        ("a" * 40, "a" * 36),
    ],
)
def test_codex_gets_a_title(url, prompt, title):
    """The request that its TUI sends beside the first turn: a title of whole words."""
    asked = f"Generate a title.\nBe concise.\n\nUser prompt:\n{prompt}\n"
    message = {"type": "message", "role": "user", "content": asked}
    request = {**CODEX, "input": [message], "tools": OTHER_TOOLS}
    got = ask(url, **request, text={"format": TITLE_FORM})

    assert () == calls_in(got.response["output"])
    assert {"title": title} == json.loads(said_in(got.response["output"], "message"))


def test_a_call_that_must_be_goes_before_json(url):
    """The answer that fits a schema comes when the tool has been called."""
    request = {**CODEX, "tool_choice": "required", "text": {"format": TITLE_FORM}}
    got = ask(url, **request)

    assert ["exec_command"] == [name for name, _ in calls_in(got.response["output"])]


def test_codex_gets_a_summary_when_it_compacts(url):
    """`tools: []` and no schema: plain text."""
    got = ask(url, **{**CODEX, "tools": []})

    assert said_in(got.response["output"], "message")


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("auto", "exec_command"),
        ("required", "exec_command"),
        ("none", None),
        ({"type": "function", "name": "write_stdin"}, "write_stdin"),
        ({"type": "custom", "name": "apply_patch"}, "apply_patch"),
    ],
    ids=str,
)
def test_the_choice_of_a_tool_is_obeyed(url, choice, called):
    """By mode, or by name."""
    got = ask(url, **{**CODEX, "tool_choice": choice})

    assert [called] == ([name for name, _ in calls_in(got.response["output"])] or [None])


def test_without_a_shell_the_first_tool_is_called(url):
    """Whatever it is."""
    got = ask(url, model="demo", input="x", tools=OTHER_TOOLS)

    assert (("write_stdin", "{}"),) == calls_in(got.json["output"])


def test_a_limit_is_obeyed(url):
    """The response is incomplete then, and its last item."""
    got = ask(url, model="demo", input="x", max_output_tokens=3)

    assert "incomplete" == got.json["status"]
    assert 3 == got.json["usage"]["output_tokens"]


def test_every_tool_output_since_the_call_is_quoted():
    """And none of earlier turns."""
    messages = [
        {"role": "user", "content": "go"},
        {"role": "tool", "content": "old"},
        {"role": "assistant", "content": ""},
        {"role": "tool", "content": "one"},
        {"role": "tool", "content": [{"type": "text", "text": "two"}]},
    ]
    text = "".join(delta.get("content", "") for delta in script({"messages": messages}))

    assert "“one”, then “two”" in text
    assert "old" not in text


SCHEMAS: dict[str, dict[str, Any]] = {
    "any": {},
    "string": {"type": "string"},
    "short": {"type": "string", "minLength": 1, "maxLength": 3},
    "long": {"type": "string", "minLength": 300},
    "date": {"type": "string", "format": "date"},
    "enum": {"enum": ["b", "a"]},
    "const": {"const": 7},
    "nullable": {"type": ["integer", "null"]},
    "minimum": {"type": "integer", "minimum": 10},
    "fraction": {"type": "number", "minimum": 0.2, "maximum": 0.8},
    "exclusive": {"type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 6},
    "negative": {"type": "integer", "maximum": -5},
    "multiple": {"type": "integer", "minimum": 11, "multipleOf": 5},
    "array": {"type": "array", "items": {"type": "boolean"}, "minItems": 3},
    "no_items": {"type": "array", "maxItems": 0},
    "any_of": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
    "all_of": {"allOf": [{"type": "string"}, {"minLength": 40}]},
    "optional_only": {"type": "object", "properties": {"a": {"type": "string"}}},
    "untyped": {"properties": {"a": {"items": {"type": "null"}}}, "required": ["a"]},
    "reference": {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/point"}},
        "required": ["p"],
        "$defs": {
            "point": {
                "type": "object",
                "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
                "required": ["x", "y"],
            }
        },
    },
    "recursive": {
        "type": "object",
        "properties": {"child": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}},
        "required": ["child"],
    },
    "title": TITLE,
    "exec_command": EXEC_COMMAND["parameters"],  # type: ignore[dict-item]
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_value_fits_its_schema(name):
    """In the judgement of jsonschema."""
    value = Example(SCHEMAS[name], "a topic").value()

    jsonschema.Draft202012Validator(SCHEMAS[name]).validate(value)


@given(st.integers(0, 50), st.integers(0, 50), st.text(max_size=60))
def test_a_string_fits_its_bounds(least, extra, topic):
    """Whatever it is about."""
    schema = {"type": "string", "minLength": least, "maxLength": least + extra}

    jsonschema.Draft202012Validator(schema).validate(Example(schema, topic).value())


def test_arrays_in_arrays_do_not_multiply():
    """Ten thousand entries, eight arrays deep, would be more than all memory."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(7):
        schema = {"type": "array", "items": schema, "minItems": 10_000}

    assert len(json.dumps(Example(schema, "x").value())) < 10_000


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda values: (
            st.lists(values, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ("type", "properties", "required", "items", "anyOf", "allOf", "enum")
                    + ("$ref", "minLength", "maxLength", "minItems", "minimum", "format")
                ),
                values,
                max_size=3,
            )
        ),
        max_leaves=8,
    )
)
def test_a_schema_of_nonsense_does_no_harm(schema):
    """The demo answers whatever it is given."""
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    messages = [{"role": "user", "content": "x"}]

    assert list(script({"messages": messages, "tools": tools}))

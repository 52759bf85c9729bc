"""Requests that make the tiny model say what a test wants, and what it then says."""

from __future__ import annotations

from typing import Any, NamedTuple

THOUGHT = "\nThe user asks a simple question. I will answer it briefly.\n"
TEXT = "\n\nHello! I am a tiny test model, and this is my whole answer."
TWICE = "\nI need the weather of two cities, so I call the tool twice.\n"
PATCH = "*** Begin Patch\n*** Add File: hi.txt\n+hi\n*** End Patch\n"


def function(name: str) -> dict[str, Any]:
    """A function tool without a schema to speak of."""
    return {"type": "function", "name": name, "parameters": {"type": "object"}}


WEATHER = [
    {
        **function("get_weather"),
        "parameters": {
            "type": "object",
            "properties": {"location": {"type": "string"}},
            "required": ["location"],
        },
    }
]
PATCHER = [{"type": "custom", "name": "apply_patch", "description": "Patches files."}]
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}
MAILER = {"type": "namespace", "name": "mail", "description": "Mail."}
BACKGROUND = {"background": True, "store": True}
ANSWERED = [
    {"role": "user", "content": "weather"},
    {
        "type": "function_call",
        "call_id": "call_1",
        "name": "get_weather",
        "arguments": "{}",
    },
    {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
]

Said = tuple[str, ...]
"""An item: its type, its status, and what it says (for a call: name and text)."""


class Case(NamedTuple):
    """A request, and the items that it must be answered with."""

    request: dict[str, Any]
    items: tuple[Said, ...]
    end: str = "completed"


def thought(text: str, status: str = "completed") -> Said:
    """A reasoning item."""
    return ("reasoning", status, text)


def text(said: str, status: str = "completed") -> Said:
    """A message."""
    return ("message", status, said)


def call(name: str, arguments: str, status: str = "completed") -> Said:
    """A function call."""
    return ("function_call", status, name, arguments)


CASES = {
    "text": Case({"input": "hi"}, (thought(THOUGHT), text(TEXT))),
    "weather": Case(
        {"input": "weather", "tools": WEATHER},
        (
            thought(TWICE),
            text("\n\nLet me look up the weather.\n"),
            call("get_weather", '{"location": "Paris"}'),
            call("get_weather", '{"location": "Tokyo"}'),
        ),
    ),
    "one_call_only": Case(
        {"input": "weather", "tools": WEATHER, "parallel_tool_calls": False},
        (
            thought(TWICE),
            text("\n\nLet me look up the weather.\n"),
            call("get_weather", '{"location": "Paris"}'),
        ),
    ),
    "after_a_tool": Case(
        {"input": ANSWERED, "tools": WEATHER},
        (
            thought("\nThe tool answered. Now I can summarise.\n"),
            text("\n\nIt is sunny in Paris and rainy in Tokyo."),
        ),
    ),
    "no_thinking": Case(
        {"input": "hi", "chat_template_kwargs": {"enable_thinking": False}},
        (text("Just text, no thinking."),),
    ),
    "empty_thought": Case(
        {"input": "emptythink"},
        (text("\n\nShort answer after an empty think block."),),
    ),
    "hidden_thought": Case({"input": "hi", "include_reasoning": False}, (text(TEXT),)),
    "only_a_call": Case(
        {"input": "onlytool", "tools": WEATHER},
        (call("get_weather", '{"location": "Berlin"}'),),
    ),
    "no_arguments": Case(
        {"input": "noargs", "tools": [function("get_time")]},
        (thought("\nNo arguments.\n"), call("get_time", "{}")),
    ),
    "namespace": Case(
        {"input": "namespaced", "tools": [{**MAILER, "tools": [function("send")]}]},
        (thought("\nA mail.\n"), call("mail/send", '{"to": "Ann"}')),
    ),
    "custom": Case(
        {"input": "custom", "tools": PATCHER},
        (
            thought("\nI patch a file.\n"),
            ("custom_tool_call", "completed", "apply_patch", PATCH),
        ),
    ),
    "custom_with_grammar": Case(
        {"input": "custom", "tools": [{**PATCHER[0], "format": GRAMMAR}]},
        (
            thought("\nI patch a file.\n"),
            ("custom_tool_call", "completed", "apply_patch", PATCH),
        ),
    ),
    "codex": Case(
        {"input": "runshell", "tools": [function("exec_command")]},
        (thought("\nI run it.\n"), call("exec_command", '{"cmd": "echo hi"}')),
    ),
    "shell": Case(
        {"input": "shell", "tools": [function("shell")]},
        (
            thought("\nI list the files.\n"),
            call("shell", '{"command": ["bash", "-lc", "ls"]}'),
        ),
    ),
    "unicode": Case(
        {"input": "unicode"},
        (
            thought("\nÜber 日本語 🤔\n"),
            text("\n\nGrüße 👋🏽 — 東京は晴れ ☀️ naïve “quotes” \\ and a tab\t."),
        ),
    ),
    "cut_thought": Case(
        {"input": "hi", "max_output_tokens": 9},
        (thought("\nThe user asks", "incomplete"),),
        "incomplete",
    ),
    "cut_text": Case(
        {"input": "hi", "max_output_tokens": 40},
        (thought(THOUGHT), text("\n\nHello! I am a", "incomplete")),
        "incomplete",
    ),
    "cut_call": Case(
        {"input": "onlytool", "tools": WEATHER, "max_output_tokens": 22},
        (call("get_weather", '{"location": "', "incomplete"),),
        "incomplete",
    ),
    "cut_at_once": Case({"input": "hi", "max_output_tokens": 1}, (), "incomplete"),
    "broken_call": Case(
        {"input": "broken", "tools": WEATHER},
        (
            thought("\nBroken call.\n"),
            call("get_weather", '{"location": "Ber', "incomplete"),
        ),
        "failed",
    ),
    "no_calls_wanted": Case(
        {"input": "hi", "tools": WEATHER, "tool_choice": "none"},
        (thought(THOUGHT), text(TEXT)),
    ),
    "refused": Case({"input": "hi", "logit_bias": {"999999": 1}}, (), "failed"),
}


def said(item: dict[str, Any]) -> Said:
    """What an item of a response says."""
    kind, status = item["type"], item["status"]
    if "call_id" in item:
        name = "/".join(filter(None, [item.get("namespace"), item["name"]]))
        return (kind, status, name, item.get("arguments", item.get("input")))
    return (kind, status, "".join(part["text"] for part in item["content"]))


def without_ids(response: dict[str, Any]) -> list[dict[str, Any]]:
    """The items of a response, but for the ids, which are never the same twice."""
    ids = ("id", "call_id")
    return [
        {key: value for key, value in item.items() if key not in ids}
        for item in response["output"]
    ]

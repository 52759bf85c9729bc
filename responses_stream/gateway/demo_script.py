"""What the demo model says to a chat request, as the deltas of a chat stream.

- Asked for JSON by a schema, it answers with some, about the last line of the prompt.
- Given tools, it calls one: the one that was chosen, a shell if there is one, or the
  first. The arguments fit its schema; a shell only ever gets to echo a greeting. A call
  that must be goes before JSON, any other behind it: codex offers tools with all it asks.
- Given what a tool returned, it quotes that and is done.
- Else it thinks aloud and says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any, Final
from uuid import uuid4

import msgspec

from .demo_schema import Example

Fields = Mapping[str, Any]
Delta = dict[str, Any]

SHELLS: Final = ("exec_command", "shell_command", "shell")
"""The names that codex has given its tool to run commands."""

SHELL_NUMBERS: Final[Mapping[str, int]] = {"yield_time_ms": 1000}
"""Told to a shell that knows them."""

LONGEST_QUOTE: Final = 200


def script(request: Fields) -> Iterator[Delta]:
    """The deltas of the answer to `request`."""
    messages = _objects(request.get("messages"))
    prompt = _prompt(messages)
    outputs = _outputs(messages)
    schema = _schema(request)
    may_call = not outputs and (schema is None or _must_call(request))
    tool = _tool(request) if may_call else None
    if tool is not None:
        yield from _say("reasoning", f"I shall call {tool['name']} and see.")
        yield from _call(tool, prompt)
    elif schema is not None:
        last_line = prompt.strip().rpartition("\n")[2]
        answer = Example(schema, _quote(last_line) or "demo").value()
        yield from _say("content", msgspec.json.encode(answer).decode())
    elif outputs:
        yield from _say("reasoning", "The tool has answered; I shall say what.")
        said = ", then ".join(f"“{_quote(output)}”" for output in outputs)
        yield from _say("content", f"Done. The tool said: {said}")
    else:
        yield from _say("reasoning", _thoughts(prompt))
        yield from _say("content", _greeting(prompt))


def _thoughts(prompt: str) -> str:
    return (
        f"The user writes: “{_quote(prompt)}”. I am a script, so I cannot know the"
        " answer. I can show what a stream looks like."
    )


def _greeting(prompt: str) -> str:
    return (
        f"You said: “{_quote(prompt)}”.\n\nI am the demo model of responses_stream."
        " There is no model behind me, only a script, but every event you see is what a"
        " real one would cause: first my thoughts, then this text word by word, and at"
        " the end the whole response once more. Start me with `--upstream URL` to put a"
        " chat-completions server in my place. 👋"
    )


def _say(field: str, text: str) -> Iterator[Delta]:
    for word in re.findall(r"\s*\S+\s*$|\s*\S+", text):
        yield {field: word}


def _call(tool: Fields, prompt: str) -> Iterator[Delta]:
    arguments = msgspec.json.encode(_arguments(tool, prompt)).decode()
    begun = {
        "index": 0,
        "id": f"call_{uuid4().hex[:24]}",
        "type": "function",
        "function": {"name": tool["name"], "arguments": ""},
    }
    yield {"tool_calls": [begun]}
    for piece in re.findall(r"(?s).{1,8}", arguments):
        yield {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


def _arguments(tool: Fields, prompt: str) -> Any:
    parameters = tool.get("parameters")
    schema = parameters if isinstance(parameters, Mapping) else {"type": "object"}
    arguments = Example(schema, _quote(prompt) or "demo").value()
    if tool["name"] in SHELLS and isinstance(arguments, dict):
        known = schema.get("properties") or {}
        arguments |= {k: v for k, v in SHELL_NUMBERS.items() if k in known}
    return arguments


def _must_call(request: Fields) -> bool:
    return request.get("tool_choice") not in (None, "none", "auto")


def _tool(request: Fields) -> Fields | None:
    """The tool to call, if any."""
    functions = _objects([t.get("function") for t in _objects(request.get("tools"))])
    tools: dict[str, Fields] = {
        function["name"]: function
        for function in functions
        if isinstance(function.get("name"), str)
    }
    choice = request.get("tool_choice")
    if choice == "none" or not tools:
        return None
    if isinstance(choice, Mapping):
        named = choice.get("function")
        return tools.get(str(named.get("name") if isinstance(named, Mapping) else None))
    shell = next((name for name in SHELLS if name in tools), None)
    return tools[shell] if shell else next(iter(tools.values()))


def _schema(request: Fields) -> Fields | None:
    """What the answer has to fit, if anything."""
    form = request.get("response_format")
    match form:
        case {"type": "json_object"}:
            return {"type": "object", "properties": {"answer": {"type": "string"}}}
        case {"type": "json_schema", "json_schema": {"schema": Mapping() as schema}}:
            return schema
        case _:
            return None


def _objects(values: object) -> list[Fields]:
    entries = values if isinstance(values, list) else []
    return [entry for entry in entries if isinstance(entry, Mapping)]


def _prompt(messages: Iterable[Fields]) -> str:
    said = [_text(m.get("content")) for m in messages if m.get("role") == "user"]
    return said[-1] if said else ""


def _outputs(messages: list[Fields]) -> list[str]:
    """What the tools have returned since the model spoke last."""
    since = list(takewhile(lambda m: m.get("role") != "assistant", messages[::-1]))
    return [_output(_text(m.get("content"))) for m in since[::-1] if _is_tool(m)]


def _is_tool(message: Fields) -> bool:
    return message.get("role") == "tool"


def _output(text: str) -> str:
    """What a tool returned, without the report that codex puts before it."""
    return text.rpartition("Output:\n")[2]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in _objects(content)]
    return " ".join(text for text in texts if isinstance(text, str))


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…"

"""The requests that codex sends, as chat requests."""

from __future__ import annotations

import json
from typing import Any, Final

from responses_stream.chat.request import to_chat_request

Item = dict[str, Any]


def message(number: int, role: str, *texts: str) -> Item:
    content = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "message", "role": role, "id": f"msg_{number}", "content": content}


SYSTEM: Final = message(0, "developer", "You are a coding agent.")
SKILLS: Final = message(1, "developer", "<skills/>", "<permissions/>")
ENVIRONMENT: Final = message(2, "user", "<environment_context/>")
PROMPT: Final = message(3, "user", "Say hi in the shell.")
EXEC_COMMAND: Final[Item] = {
    "type": "function",
    "name": "exec_command",
    "description": "Runs a command.",
    "strict": False,
    "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}},
}
MULTI_AGENT: Final[Item] = {
    "type": "namespace",
    "name": "multi_agent_v1",
    "description": "Other agents.",
    "tools": [
        {"type": "function", "name": "spawn_agent", "parameters": {"type": "object"}},
        {"type": "function", "name": "wait_agent", "parameters": {"type": "object"}},
    ],
}
FIRST_TURN: Final[Item] = {
    "model": "qwen3",
    "stream": True,
    "store": False,
    "input": [SYSTEM, SKILLS, ENVIRONMENT, PROMPT],
    "tools": [
        EXEC_COMMAND,
        MULTI_AGENT,
        {"type": "web_search", "external_web_access": True},
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "reasoning": {"effort": "high", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "0199",
    "client_metadata": {"x-codex-window-id": "0199:0"},
}
SECOND_STEP: Final[list[Item]] = [
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "Thinking ..."}],
        "encrypted_content": None,
    },
    {
        "type": "message",
        "status": "completed",
        "id": "msg_4",
        "role": "assistant",
        "content": [
            {
                "type": "output_text",
                "text": "I will run it.",
                "annotations": [],
                "logprobs": [],
            }
        ],
    },
    {
        "type": "function_call",
        "status": "completed",
        "id": "fc_1",
        "name": "exec_command",
        "arguments": '{"cmd": "echo hi"}',
        "call_id": "call_1",
    },
    {
        "type": "function_call_output",
        "id": "fco_1",
        "call_id": "call_1",
        "output": "Process exited with code 0\nOutput:\nhi\n",
    },
]


def chat_of(items: list[Item]) -> list[Item]:
    """The messages for `items`."""
    messages: list[Item] = to_chat_request({"input": items})["messages"]
    return messages


def test_codex_first_turn() -> None:
    """The whole request: one system message, two of the user, flat tools, no more."""
    chat = to_chat_request(FIRST_TURN)

    assert chat == {
        "model": "qwen3",
        "messages": [
            {
                "role": "system",
                "content": "You are a coding agent.\n\n<skills/>\n<permissions/>",
            },
            {"role": "user", "content": "<environment_context/>"},
            {"role": "user", "content": "Say hi in the shell."},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "exec_command",
                    "description": "Runs a command.",
                    "parameters": EXEC_COMMAND["parameters"],
                    "strict": False,
                },
            },
            {
                "type": "function",
                "function": {
                    "name": "multi_agent_v1__spawn_agent",
                    "description": "multi_agent_v1: Other agents.",
                    "parameters": {"type": "object"},
                },
            },
            {
                "type": "function",
                "function": {
                    "name": "multi_agent_v1__wait_agent",
                    "parameters": {"type": "object"},
                },
            },
        ],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning_effort": "high",
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_codex_second_step() -> None:
    """Reasoning, text and call are one assistant message; the output answers it."""
    messages = chat_of([PROMPT, *SECOND_STEP])

    assert messages[1:] == [
        {
            "role": "assistant",
            "content": "I will run it.",
            "reasoning": "Thinking ...",
            "reasoning_content": "Thinking ...",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {
                        "name": "exec_command",
                        "arguments": '{"cmd": "echo hi"}',
                    },
                }
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": "Process exited with code 0\nOutput:\nhi\n",
        },
    ]


def test_codex_compaction() -> None:
    """A compaction is the history with one more prompt, and no word about tools."""
    ask = {"type": "message", "role": "user", "content": "Summarise."}
    request = {
        **FIRST_TURN,
        "input": [PROMPT, *SECOND_STEP, ask],
        "tools": [],
        "parallel_tool_calls": False,
    }

    chat = to_chat_request(request)

    assert chat.keys().isdisjoint({"tools", "tool_choice", "parallel_tool_calls"})
    assert chat["messages"][-1] == {"role": "user", "content": "Summarise."}


def test_codex_title() -> None:
    """The title request asks for JSON by a schema."""
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string", "minLength": 1, "maxLength": 36}},
    }
    form = {"type": "json_schema", "name": "title", "strict": True, "schema": schema}

    chat = to_chat_request({**FIRST_TURN, "tools": [], "text": {"format": form}})

    assert chat["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "title", "strict": True, "schema": schema},
    }


def test_codex_interrupted_turn() -> None:
    """Thoughts that nothing came of stay; the users' messages around them too."""
    aborted = {"type": "message", "role": "user", "content": "<turn_aborted/>"}
    again = {"type": "message", "role": "user", "content": "Now say ho."}

    messages = chat_of([PROMPT, SECOND_STEP[0], aborted, again])

    assert messages == [
        {"role": "user", "content": "Say hi in the shell."},
        {
            "role": "assistant",
            "content": "",
            "reasoning": "Thinking ...",
            "reasoning_content": "Thinking ...",
        },
        {"role": "user", "content": "<turn_aborted/>"},
        {"role": "user", "content": "Now say ho."},
    ]


def test_codex_additional_tools() -> None:
    """Tools inside an item are told like those outside of it, and the item is not."""
    item = {"type": "additional_tools", "role": "developer", "tools": [EXEC_COMMAND]}
    request = {"model": "m", "input": [item, PROMPT], "tool_choice": "auto"}

    chat = to_chat_request(request)

    assert [tool["function"]["name"] for tool in chat["tools"]] == ["exec_command"]
    assert [message["role"] for message in chat["messages"]] == ["user"]


def test_codex_apply_patch() -> None:
    """A custom call comes back as it was declared: one JSON object with the input."""
    patch = '*** Begin Patch\n+print("hi")\n*** End Patch'
    call = {
        "type": "custom_tool_call",
        "id": "ctc_1",
        "status": "completed",
        "call_id": "call_2",
        "name": "apply_patch",
        "input": patch,
    }
    output = {
        "type": "custom_tool_call_output",
        "call_id": "call_2",
        "output": "Success.",
    }

    message, answer = chat_of([PROMPT, call, output])[1:]

    (sent,) = message["tool_calls"]
    assert json.loads(sent["function"]["arguments"]) == {"input": patch}
    assert answer == {"role": "tool", "tool_call_id": "call_2", "content": "Success."}

"""Tools and input items as codex sends them."""

from __future__ import annotations

from typing import Any, Final

Fields = dict[str, Any]

WEATHER: Final[Fields] = {
    "type": "function",
    "name": "get_weather",
    "strict": False,
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}}},
}
NAMESPACE: Final[Fields] = {
    "type": "namespace",
    "name": "multi_agent_v1",
    "description": "Other agents.",
    "tools": [{"type": "function", "name": "wait_agent", "parameters": {"type": "object"}}],
}
CUSTOM: Final[Fields] = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edits files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
}
WEB_SEARCH: Final[Fields] = {"type": "web_search", "external_web_access": True}
TOOL_SEARCH: Final[Fields] = {
    "type": "tool_search",
    "execution": "client",
    "description": "Finds tools.",
    "parameters": {"type": "object", "properties": {}},
}


def said(role: str, *texts: str) -> Fields:
    """A message of the client."""
    parts = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "message", "role": role, "id": f"msg_{role}", "content": parts}


def answered(text: str) -> Fields:
    """A message of the model, echoed."""
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    message = {"type": "message", "role": "assistant", "id": "msg_1"}
    return {**message, "phase": "final_answer", "status": "completed", "content": [part]}


def thought(text: str | None) -> Fields:
    """Reasoning, echoed."""
    content = [{"type": "reasoning_text", "text": text}] if text else None
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    return {**reasoning, "content": content, "encrypted_content": None}


def call_item(kind: str, call_id: str, **fields: object) -> Fields:
    """A call, echoed, or its output."""
    return {"type": kind, "id": f"fc_{call_id}", "call_id": call_id, **fields}


IMAGE_OUTPUT: Final[list[Fields]] = [
    {"type": "input_text", "text": "an image"},
    {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "high"},
]

EVERYTHING: Final[list[Fields]] = [
    {"type": "additional_tools", "role": "developer", "tools": [CUSTOM]},
    said("developer", "You are a coding agent."),
    said("developer", "<skills/>", "<permissions/>"),
    said("user", "<environment_context/>"),
    said("user", "Hello"),
    thought(None),
    call_item("function_call", "c1", name="get_weather", arguments="{}"),
    call_item("custom_tool_call", "c2", name="apply_patch", input="*** Begin Patch"),
    call_item("function_call", "c3", name="wait_agent", arguments='{"cut')
    | {"namespace": "multi_agent_v1", "status": "incomplete"},
    call_item("function_call_output", "c1", output="sunny"),
    call_item("custom_tool_call_output", "c2", output=IMAGE_OUTPUT[:1]),
    call_item("function_call_output", "c3", output="no JSON"),
    answered("Hi."),
    said("developer", "Mind the content filter."),
    thought("Interrupted before I spoke."),
    said("user", "<turn_aborted>"),
    said("user", "What is the weather?"),
]
"""An input with all that codex may send."""

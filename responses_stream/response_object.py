"""The response object: what the request asked for, and what has come of it.

It carries every key that openai-python's types and the Open Responses schema want, and
echoes the request's values without judging them: a value that one client's model does not
know (`effort: "max"`) must not break the stream (clients.md R19).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from .code_points import mend_all
from .items import Item
from .usage import Usage

DEFAULTS: Final[Mapping[str, Any]] = {
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "model": "unknown",
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": False,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
"""What stands for a value that the request leaves out, or gives as null."""

NOT_ECHOED: Final = frozenset(
    ("input", "include", "stream", "stream_options")
    + ("id", "object", "created_at", "completed_at", "status")
    + ("output", "usage", "error", "incomplete_details")
)
"""What concerns the request alone, and what the response has of its own."""

FUNCTION_DEFAULTS: Final = {"description": None, "parameters": None, "strict": None}
"""Keys that Open Responses wants in every function tool (clients.md 1.2)."""


def echo(request: Mapping[str, Any]) -> dict[str, Any]:
    """What a response repeats of its request; unknown keys too, in the request's order.

    TypeError if the request holds anything that is not JSON.
    """
    asked = {
        key: value
        for key, value in request.items()
        if key not in NOT_ECHOED and value is not None
    }
    echoed = {**DEFAULTS, **asked}
    for key in ("reasoning", "text"):
        if isinstance(echoed[key], Mapping):
            echoed[key] = {**DEFAULTS[key], **echoed[key]}
    if isinstance(echoed["tools"], (list, tuple)):
        echoed["tools"] = [_whole_tool(tool) for tool in echoed["tools"]]
    try:
        # A copy: the request may change while its response is being made.
        copied: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(echoed))
    except UnicodeEncodeError:
        return dict(mend_all(echoed))
    return copied


def _whole_tool(tool: Any) -> Any:
    if isinstance(tool, Mapping) and tool.get("type") == "function":
        return {**FUNCTION_DEFAULTS, **tool}
    return tool


def response_object(  # noqa: PLR0913  (each is a key of the object)
    response_id: str,
    created_at: int,
    echoed: Mapping[str, Any],
    *,
    status: str = "in_progress",
    output: Sequence[Item] = (),
    usage: Usage | None = None,
    completed_at: int | None = None,
    error: Mapping[str, Any] | None = None,
    incomplete_details: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The response object of one event. `output` holds the very items that went out."""
    return {
        "id": response_id,
        "object": "response",
        "created_at": created_at,
        "status": status,
        "completed_at": completed_at,
        "error": error,
        "incomplete_details": incomplete_details,
        **echoed,
        "output": list(output),
        "usage": usage,
    }

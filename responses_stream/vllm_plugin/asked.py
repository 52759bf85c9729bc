"""What clients ask for and vLLM turns down, said so that it takes it.

A custom tool with a grammar (codex's `apply_patch`) is a 400 in vLLM, which would have to
hold the model to the grammar. Here the model is told of it instead, as in the gateway. The
response still echoes what was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from responses_stream.chat.tools import description


def acceptable(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The request for vLLM; `asked` itself is not changed."""
    tools = asked.get("tools")
    if not isinstance(tools, list):
        return dict(asked)
    return {**asked, "tools": [_acceptable_tool(tool) for tool in tools]}


def _acceptable_tool(tool: Any) -> Any:
    if not isinstance(tool, Mapping):
        return tool
    if isinstance(tool.get("tools"), list):
        return {**tool, "tools": [_acceptable_tool(nested) for nested in tool["tools"]]}
    form = tool.get("format")
    if not isinstance(form, Mapping) or form.get("type") != "grammar":
        return tool
    told = "\n\n".join(description(tool, is_custom=True))
    return {**tool, "description": told, "format": {"type": "text"}}

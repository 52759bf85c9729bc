"""The tools that a request declares, and the way back to them from what a model says.

A chat model knows only flat function names; a Responses client wants a custom tool
called as such and a namespaced tool by `name` and `namespace`. `flat_name` is the way
there, `ToolIndex.resolve` the way back, so the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from .code_points import mend

ToolKind = Literal["function", "custom"]

SEPARATOR: Final = "__"
"""Between namespace and name in a flat name: legal in every server's name pattern."""

SPOKEN_SEPARATORS: Final = (SEPARATOR, ".", "/", "-", "_", "")
"""What models write there, whatever the prompt said; the usual one is looked up first."""

TOP_LEVEL: Final = "functions"
"""The namespace that models trained on OpenAI's format give to plain functions."""


class Tool(msgspec.Struct, frozen=True):
    """One tool that the model may call."""

    name: str
    kind: ToolKind
    namespace: str | None = None
    definition: Mapping[str, Any] = {}
    """The tool as the request declared it."""


def flat_name(tool: Tool) -> str:
    """The one name under which a chat model is told of `tool`."""
    return f"{tool.namespace}{SEPARATOR}{tool.name}" if tool.namespace else tool.name


def declared_tools(request: Mapping[str, Any]) -> Iterator[Tool]:
    """Every function and custom tool of `request`, namespaces opened, in its order.

    Besides `tools`, the input may hold more: codex puts them into an `additional_tools`
    item, and the answer of a tool search brings some (`tool_search_output`). Hosted
    tools have no name to call and are left out.
    """
    yield from _declared(request.get("tools"), None)
    for item in _mappings(request.get("input")):
        if item.get("type") in ("additional_tools", "tool_search_output"):
            yield from _declared(item.get("tools"), None)


def _declared(tools: object, namespace: str | None) -> Iterator[Tool]:
    for tool in _mappings(tools):
        name, kind = tool.get("name"), tool.get("type")
        if not isinstance(name, str):
            continue
        name = mend(name)
        if kind == "namespace":
            yield from _declared(tool.get("tools"), name)
        elif kind in ("function", "custom"):
            yield Tool(name, kind, namespace, tool)


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        yield from (entry for entry in value if isinstance(entry, Mapping))


def said_call_ids(request: Mapping[str, Any]) -> Iterator[str]:
    """The call ids that the conversation in `request` has used."""
    for item in _mappings(request.get("input")):
        call_id = item.get("call_id")
        if isinstance(call_id, str):
            yield call_id


class ToolIndex:
    """Finds the declared tool that a model means by a name."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        tools = list(declared_tools(request))
        self._tools: dict[str, Tool] = {}
        # The most literal readings first: a later, looser one never displaces them.
        for tool in tools:
            if tool.namespace is None:
                self._tools.setdefault(tool.name, tool)
        for separator in SPOKEN_SEPARATORS:
            for tool in tools:
                namespace = tool.namespace or TOP_LEVEL
                self._tools.setdefault(f"{namespace}{separator}{tool.name}", tool)
        bare = [tool for tool in tools if tool.namespace is not None]
        names = [tool.name for tool in bare]
        for tool in bare:
            if names.count(tool.name) == 1:
                self._tools.setdefault(tool.name, tool)

    def resolve(self, name: str) -> Tool:
        """The declared tool that `name` means; a plain function of that name if none is."""
        return self._tools.get(name) or Tool(name, "function")

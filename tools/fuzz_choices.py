"""Bytes as choices: any input of a fuzzer, read as deltas, or as a JSON value.

A fuzzer that mutates bytes seldom hits upon JSON with the right keys. Read this way every
input is a value that is nearly right, and a byte more or less changes it a little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

DEEPEST = 6
"""How deep values are nested."""

# fmt: off
KEYS = (
    "type", "role", "content", "text", "name", "call_id", "output", "tools", "summary",
    "arguments", "input", "id", "format", "schema", "mode", "image_url", "namespace",
    "description", "parameters", "effort", "tool_choice", "reasoning", "instructions",
    "index", "function", "refusal", "tool_calls", "logprobs", "top_logprobs", "token",
    "logprob", "bytes", "annotations", "url_citation", "url", "file_data", "file_id",
    "filename", "status", "item", "part", "delta", "response", "item_id", "output_index",
    "content_index", "summary_index", "sequence_number", "error", "code", "message",
    "usage", "model", "stream", "metadata", "include", "text", "max_output_tokens",
    "parallel_tool_calls", "strict", "encrypted_content", "action", "detail", "title",
)
WORDS = (
    "message", "user", "assistant", "developer", "system", "tool", "reasoning",
    "function_call", "custom_tool_call", "function_call_output",
    "custom_tool_call_output", "namespace", "input_text", "output_text", "input_image",
    "input_file", "refusal", "reasoning_text", "summary_text", "function", "custom",
    "allowed_tools", "json_schema", "json_object", "tool_search_output",
    "additional_tools", "grammar", "shell_call", "shell_call_output", "local_shell_call",
    "local_shell_call_output", "auto", "required", "none", "completed", "incomplete",
    "in_progress", "failed", "url_citation", "web_search", "f", "patch", "agents",
    "item_reference", "compaction",
)
TEXTS = (
    "", " ", "\n\n", "a", "word ", "{", "}", '{"a": ', "1}", '"', '{"input": "', '"}',
    "\\", "\\u", "\\ud83d", "\\ude00", "d83d", "\ud83d", "\ude00", "\U0001f600", "\x00",
    "\u2028", "é", "[", "]", ",", ":", "null", "true", "-1e9", "\ufffd", "\ufeff", "\r",
)
# fmt: on
NUMBERS = (0.5, -1e300, 2**63, -(2**70), 1e-300, 10**40)
NAMED = ("type", "role", "name", "status", "effort", "mode")
"""Keys whose value is mostly one of WORDS."""
LISTED = ("input", "tools", "content", "output", "summary", "tool_calls", "annotations")
"""Keys whose value is mostly a list."""
NUMBERED = ("index", "output_index", "content_index", "summary_index", "sequence_number")
"""Keys whose value is mostly a small number."""


class Choices:
    """Reads one byte for each choice; behind the last one all choices are the first."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> bool:
        """Whether there are bytes left."""
        return self._at < len(self._data)

    def number(self, below: int) -> int:
        """A number from 0 up."""
        at, self._at = self._at, self._at + 1
        return self._data[at] % below if at < len(self._data) else 0

    def one_of(self, values: Sequence[T]) -> T:
        """One of these."""
        return values[self.number(len(values))]

    def text(self) -> str:
        """Some text: one of TEXTS, or what stands in the next bytes."""
        length = self.number(64)
        if length < len(TEXTS):
            return TEXTS[length]
        length -= len(TEXTS)
        at, self._at = self._at, self._at + length
        return self._data[at : at + length].decode("latin-1")

    def value(self, depth: int = 0) -> Any:
        """Any JSON value."""
        kind = self.number(10 if depth < DEEPEST else 6)
        if kind > 6:  # noqa: PLR2004
            return self.object(depth)
        if kind == 6:  # noqa: PLR2004
            return [self.value(depth + 1) for _ in range(self.number(4))]
        scalars = (
            lambda: None,
            lambda: self.one_of((False, True)),
            lambda: self.number(256) - 64,
            lambda: self.one_of(NUMBERS),
            self.text,
            lambda: self.one_of(WORDS),
        )
        return scalars[kind]()

    def object(self, depth: int = 0) -> dict[str, Any]:
        """A JSON object, with keys that mean something."""
        found: dict[str, Any] = {}
        for _ in range(self.number(7)):
            key = self.one_of(KEYS)
            found[key] = self._value_of(key, depth + 1)
        return found

    def _value_of(self, key: str, depth: int) -> Any:
        if depth >= DEEPEST or self.number(8) == 0:
            return self.value(DEEPEST)
        if key in NAMED:
            return self.one_of(WORDS)
        if key in LISTED:
            return [self.object(depth) for _ in range(self.number(4))]
        if key in NUMBERED:
            return self.number(4)
        return self.value(depth)

    def deltas(self) -> Iterator[dict[str, Any]]:
        """Deltas, until no bytes are left."""
        while self.left:
            yield self._delta()

    def _delta(self) -> dict[str, Any]:
        said: dict[str, Any] = {}
        common, rare = self.number(8), self.number(32)
        if common & 1:
            said["reasoning"] = self.text()
        if common & 2:
            said["content"] = self.text()
        if common & 4:
            said["tool_calls"] = [self._call() for _ in range(1 + self.number(3))]
        match rare:
            case 1:
                said["refusal"] = self.text()
            case 2:
                said["logprobs"] = [self._logprob() for _ in range(self.number(3))]
            case 3:
                said["annotations"] = [self.object(DEEPEST - 2)]
            case 4:
                said |= self.object()
        return said

    def _call(self) -> dict[str, Any]:
        call: dict[str, Any] = {}
        kinds = self.number(32)
        if kinds & 1:
            call["index"] = self.one_of((0, 1, 2, 7, -1))
        if kinds & 2:
            call["id"] = self.one_of(("call_1", "call_2", "", "\ud83d"))
        if kinds & 4:
            call["name"] = self.one_of(("f", "patch", "agents__wait", " ", "get_weather"))
        if kinds & 8:
            call["arguments"] = self.text()
        return {"function": call, **call} if kinds & 16 else call

    def _logprob(self) -> dict[str, Any]:
        value = self.one_of((-0.5, float("-inf"), float("nan"), 0, None))
        return {"token": self.text(), "logprob": value, "bytes": [self.number(256)]}

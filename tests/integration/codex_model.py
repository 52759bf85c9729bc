"""What a scripted model is told and says, whichever server it stands behind.

A script is a list of steps: the deltas of a chat stream, and what else may happen to one.
Each request plays the next script of its model, or the last one again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

USAGE: Final = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}

Script = list[Any]


class Pause(NamedTuple):
    """Silence."""

    seconds: float


GO_ON: Final = object()
"""More of the same, for longer than any test waits."""


class Finish(NamedTuple):
    """The last chunks, and the end of the body. A real engine counts for itself."""

    reason: str = "stop"
    usage: Any = USAGE


def say(text: str, *, reasoning: str = "", usage: Any = USAGE) -> Script:
    """An answer of text, word by word, thoughts first."""
    return [*thoughts(reasoning), *words(text), Finish(usage=usage)]


def thoughts(text: str) -> Script:
    """Deltas of reasoning."""
    return [{"reasoning": piece} for piece in _pieces(text)]


def words(text: str) -> Script:
    """Deltas of content."""
    return [{"content": piece} for piece in _pieces(text)]


def call(name: str, arguments: object, index: int = 0) -> Script:
    """Deltas of a call; `arguments` is a value, or the very text of one."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    name_delta = {"index": index, "id": f"call_{name}_{index}", "type": "function"}
    return [
        {"tool_calls": [name_delta | {"function": {"name": name, "arguments": ""}}]},
        *(
            {"tool_calls": [{"index": index, "function": {"arguments": text[at : at + 9]}}]}
            for at in range(0, len(text), 9)
        ),
    ]


def calling(
    *calls: Script, reasoning: str = "", text: str = "", usage: Any = USAGE
) -> Script:
    """An answer that ends with calls."""
    deltas = [delta for deltas in calls for delta in deltas]
    return [*thoughts(reasoning), *words(text), *deltas, Finish("tool_calls", usage)]


def _pieces(text: str) -> list[str]:
    return [piece for piece in text.replace(" ", "\0 ").split("\0") if piece]


def written(thought: str, text: str, calls: Iterable[tuple[str, str]] = ()) -> str:
    """What an assistant said, as Qwen3 writes it; calls are names and arguments."""
    said = f"<think>{thought}</think>" if thought else ""
    return said + text + written_calls(calls)


def written_calls(calls: Iterable[tuple[str, str]]) -> str:
    """The same of calls alone."""
    told = (f'{{"name": "{name}", "arguments": {text}}}' for name, text in calls)
    return "\n".join(f"<tool_call>\n{one}\n</tool_call>" for one in told)


class Told(NamedTuple):
    """A message as the model gets it."""

    role: str
    text: str


class Conversation(list[Told]):
    """All messages of a request; and whether an image came with them."""

    def __init__(self, messages: Iterable[Told], *, has_image: bool) -> None:
        super().__init__(messages)
        self.has_image = has_image

    def said(self, role: str) -> list[str]:
        """The texts of a role."""
        return [message.text for message in self if message.role == role]


class Model(Protocol):
    """A model that says what a test tells it to, and notes what it was told."""

    told: Sequence[Conversation]
    """Each request that has played a script."""
    title: str
    """What is said to the TUI's side request for a title, from the next `plays` on."""
    busy: bool
    """Whether somebody waits for the end of an answer."""

    def forget(self) -> None:
        """Makes it as it was at first."""

    def plays(self, *scripts: Script) -> None:
        """Gives the scripts, one for each request that comes from now on."""


def is_for_title(schema: Mapping[str, Any]) -> bool:
    """Whether an answer of this schema is the TUI's title."""
    return list(schema.get("properties", {})) == ["title"]

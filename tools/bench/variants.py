"""Everything that is measured on W, by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from responses_stream import Delta

from .workload import said, workload

Run = Callable[[], Sequence[bytes | str]]
"""Sends W once; returns what was sent."""


@dataclass(frozen=True)
class Variant:
    """One way from a parser's deltas to bytes."""

    title: str
    kind: Literal["ours", "peer", "limit"]
    function: str
    """`module:function` in this package; the module imports what it takes."""
    given: str = ""
    """`module:function` that makes the function's input of the deltas."""
    baseline: str = "vllm-sync"
    """Which of vLLM's two figures it is compared with: sync with sync, async with async."""
    is_whole: bool = True
    """Whether it sends a whole response, and not the frames of deltas alone."""

    def load(self, deltas: list[Delta]) -> Run:
        """Imports and prepares all that it takes. ImportError if it is not installed."""
        function = _named(self.function)
        return partial(function, _named(self.given)(deltas) if self.given else deltas)


def _named(place: str) -> Callable[..., Any]:
    module, name = place.split(":")
    found: Callable[..., Any] = getattr(
        importlib.import_module(f".{module}", __package__), name
    )
    return found


def texts(deltas: Sequence[Delta]) -> list[str]:
    """What the floor is given."""
    return [text for text in map(said, deltas) if text]


def messages(deltas: Sequence[Delta]) -> list[Any]:
    """What vLLM's event code is given, and our plugin."""
    from .vllm_peer import message

    return list(map(message, deltas))


VLLM: Final[Mapping[str, Any]] = {"given": "variants:messages", "baseline": "vllm"}

VARIANTS = {
    "typed": Variant("`feed` and `encode`", "ours", "ours:typed"),
    "generator": Variant(
        "frames from one async generator", "ours", "ours:one_generator", baseline="vllm"
    ),
    "gateway": Variant(
        "the gateway, between its parser and its sender",
        "ours",
        "ours:gateway",
        baseline="vllm",
    ),
    "gateway-asgi": Variant(
        "the same up to the ASGI server",
        "ours",
        "ours:gateway_asgi",
        baseline="vllm-asgi",
    ),
    "gateway-bytes": Variant(
        "the same from the chat server's bytes",
        "ours",
        "ours:gateway_from_bytes",
        "ours:chat_chunks",
        baseline="vllm-asgi",
    ),
    "plugin": Variant(
        "the vLLM plugin, behind the parser", "ours", "plugin:plugin", **VLLM
    ),
    "vllm-sync": Variant(
        "vLLM's event code without its async generators",
        "peer",
        "vllm_peer:processor",
        "variants:messages",
    ),
    "vllm": Variant("vLLM's event code", "peer", "vllm_peer:chain", **VLLM),
    "vllm-asgi": Variant(
        "the same up to the ASGI server",
        "peer",
        "vllm_peer:answer",
        "variants:messages",
        baseline="vllm-asgi",
    ),
    "litellm": Variant(
        "LiteLLM's responses iterator",
        "peer",
        "litellm_peer:iterator",
        "litellm_peer:chunks",
        baseline="vllm",
    ),
    "models": Variant(
        "openai's models, delta frames only", "peer", "plain:models", is_whole=False
    ),
    "dicts": Variant(
        "`json.dumps` of dicts, delta frames only", "peer", "plain:dicts", is_whole=False
    ),
    "yardstick": Variant(
        "the least machine, without any checks",
        "limit",
        "yardstick:yardstick",
        is_whole=False,
    ),
    "least-plugin": Variant(
        "the least plugin, without any checks", "limit", "plugin:least", **VLLM
    ),
    "floor": Variant(
        "F0: escape the delta, concatenate",
        "limit",
        "floor:floor",
        "variants:texts",
        is_whole=False,
    ),
}


def load(name: str) -> Run:
    """One of them, ready to run. ImportError if it is not installed."""
    return VARIANTS[name].load(workload())


def installed() -> dict[str, Run]:
    """Those that can be run here."""
    found = {}
    for name in VARIANTS:
        try:
            found[name] = load(name)
        except ImportError as missing:
            print(f"without {name}: {missing}")
    return found

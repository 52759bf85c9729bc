"""Everything that is measured on W, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from responses_stream import Delta

from .workload import said, workload

Run = Callable[[], Sequence[bytes | str]]
"""Sends W once; returns what was sent."""


@dataclass(frozen=True)
class Variant:
    """One way from a parser's deltas to bytes."""

    title: str
    load: Callable[[list[Delta]], Run]
    """Imports what it takes and prepares the input. ImportError if it is not installed."""


def _typed(deltas: list[Delta]) -> Run:
    from .ours import typed

    return partial(typed, deltas)


def _one_generator(deltas: list[Delta]) -> Run:
    from .ours import one_generator

    return partial(one_generator, deltas)


def _vllm_processor(deltas: list[Delta]) -> Run:
    from .vllm_peer import message, processor

    return partial(processor, list(map(message, deltas)))


def _vllm_chain(deltas: list[Delta]) -> Run:
    from .vllm_peer import chain, message

    return partial(chain, list(map(message, deltas)))


def _floor(deltas: list[Delta]) -> Run:
    from .floor import floor

    return partial(floor, [text for text in map(said, deltas) if text])


VARIANTS = {
    "typed": Variant("`feed` + `encode`", _typed),
    "one-generator": Variant("the same in one async generator", _one_generator),
    "vllm-sync": Variant("vLLM's processor, driven without async", _vllm_processor),
    "vllm": Variant("vLLM's event code", _vllm_chain),
    "floor": Variant("F0: escape the delta, concatenate", _floor),
}


def load(name: str) -> Run:
    """ImportError if it is not installed."""
    return VARIANTS[name].load(workload())


def installed() -> dict[str, Run]:
    """Those that can be run here."""
    found = {}
    for name in VARIANTS:
        try:
            found[name] = load(name)
        except ImportError:
            continue
    return found

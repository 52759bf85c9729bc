"""Whether all variants say the same: what costs less because it says less is no gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from responses_stream import ServerSentEvent, SSEDecoder, TranscriptChecker

from .variants import VARIANTS, Run
from .workload import said, workload

TWINS: Final = {"vllm": "vllm-sync", "plugin": "least-plugin"}
"""What runs with all that is round it, and without: both send the same events."""


def check(runs: Mapping[str, Run]) -> list[str]:
    """What each of them does not say as it should; nothing if all is well."""
    expected = "".join(map(said, workload()))
    faults = []
    sent = {name: _wires(run) for name, run in runs.items()}
    for name, wires in sent.items():
        text = "".join(
            wire["delta"] for wire in wires if isinstance(wire.get("delta"), str)
        )
        if text != expected:
            faults.append(f"{name}: {len(text)} characters in deltas, not those of W")
        if VARIANTS[name].is_whole and wires[-1]["type"] != "response.completed":
            faults.append(f"{name}: ends with {wires[-1]['type']}")
        if VARIANTS[name].kind == "ours":
            faults += [f"{name}: {message}" for message in _violations(wires)]
    for whole, bare in TWINS.items():
        if _types(sent.get(whole)) != _types(sent.get(bare)):
            faults.append(f"{bare}: other events than {whole}")
    return faults


def _types(wires: Sequence[Any] | None) -> list[str]:
    return [wire["type"] for wire in wires or ()]


def _wires(run: Run) -> list[Any]:
    events = _decoded(run())
    return [msgspec.json.decode(each.data) for each in events if each.data != "[DONE]"]


def _decoded(frames: Sequence[bytes | str]) -> list[ServerSentEvent]:
    decoder = SSEDecoder()
    return [
        event
        for frame in frames
        for event in decoder.feed(frame if isinstance(frame, bytes) else frame.encode())
    ]


def _violations(wires: Sequence[object]) -> list[str]:
    checker = TranscriptChecker()
    found = [violation for wire in wires for violation in checker.feed(wire)]
    return [violation.message for violation in [*found, *checker.close()]]

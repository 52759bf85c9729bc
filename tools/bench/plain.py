"""What one writes without a library: one object for each delta, and its JSON.

Delta frames only. Nobody opens or closes an item here, numbers come from a counter, and
nothing is checked: the least that these two encoders cost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from openai.types.responses import (
    ResponseFunctionCallArgumentsDeltaEvent,
    ResponseReasoningTextDeltaEvent,
    ResponseTextDeltaEvent,
)

from responses_stream import Delta

from .workload import said

MODELS: Final[dict[str, Any]] = {
    "response.reasoning_text.delta": ResponseReasoningTextDeltaEvent,
    "response.output_text.delta": ResponseTextDeltaEvent,
    "response.function_call_arguments.delta": ResponseFunctionCallArgumentsDeltaEvent,
}


def _fields(deltas: Sequence[Delta]) -> Iterator[dict[str, Any]]:
    """The keys of each delta event."""
    number = 3
    for delta in deltas:
        text = said(delta)
        if not text:
            continue
        number += 1
        if delta.content:
            yield {
                "type": "response.output_text.delta",
                "item_id": "msg_002",
                "output_index": 1,
                "content_index": 0,
                "delta": text,
                "logprobs": [],
                "sequence_number": number,
            }
        elif delta.reasoning:
            yield {
                "type": "response.reasoning_text.delta",
                "item_id": "rs_001",
                "output_index": 0,
                "content_index": 0,
                "delta": text,
                "sequence_number": number,
            }
        else:
            yield {
                "type": "response.function_call_arguments.delta",
                "item_id": "fc_003",
                "output_index": 2,
                "delta": text,
                "sequence_number": number,
            }


def dicts(deltas: Sequence[Delta]) -> list[str]:
    """A dict, and the standard library's JSON."""
    return [
        f"event: {fields['type']}\ndata: {json.dumps(fields)}\n\n"
        for fields in _fields(deltas)
    ]


def models(deltas: Sequence[Delta]) -> list[str]:
    """openai's pydantic model, and its JSON."""
    frames: list[str] = []
    for fields in _fields(deltas):
        event = MODELS[fields["type"]](**fields)
        frames.append(f"event: {event.type}\ndata: {event.model_dump_json()}\n\n")
    return frames

"""The floor F0: escape the delta, put it between two constants. No machine, no events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

HEAD = (
    b"event: response.output_text.delta\ndata: "
    b'{"type":"response.output_text.delta","item_id":"msg_001","output_index":1,'
    b'"content_index":0,"delta":'
)
TAIL = b',"logprobs":[],"sequence_number":1000}\n\n'

try:
    import orjson

    escape: Callable[[Any], bytes] = orjson.dumps
    NAME = "orjson"
except ImportError:
    escape = msgspec.json.Encoder().encode
    NAME = "msgspec"


def floor(texts: Sequence[str]) -> list[bytes]:
    """One frame for each text."""
    frames: list[bytes] = []
    for text in texts:
        frames.append(HEAD + escape(text) + TAIL)  # noqa: PERF401  (so do the others)
    return frames

"""Where ids and times come from: arguments of a stream, so that it can be replayed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from secrets import token_hex

Ids = Callable[[str], str]
"""Makes a new id from a prefix: `"msg"` -> `"msg_4f1c..."`.

codex echoes an id only if it has the form `prefix_rest` (codex.md section 3).
"""

Clock = Callable[[], float]
"""Seconds since the epoch."""


def random_ids(prefix: str) -> str:
    """A new id that no other response has."""
    return f"{prefix}_{token_hex(16)}"


def counted_ids() -> Ids:
    """Ids that count up, `msg_001`, `fc_002`: equal runs give equal transcripts."""
    numbers = itertools.count(1)
    return lambda prefix: f"{prefix}_{next(numbers):03}"

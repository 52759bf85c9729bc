"""How much of a chat server's answer is taken before it counts as broken."""

from __future__ import annotations

from typing import Final

import msgspec

MEBIBYTE: Final = 1024 * 1024


class AnswerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one answer may take of our memory.

    All that is said is kept until the end, for the final payload repeats it; so the
    answer as a whole is bounded, not only its parts.
    """

    max_event: int = 16 * MEBIBYTE
    """Bytes of one server-sent event, and so of one line; or of one JSON document."""
    max_answer: int = 128 * MEBIBYTE
    """Bytes of the whole answer."""
    max_held: int = 8 * MEBIBYTE
    """Characters that are held back: of calls that wait for the one before them, or for
    their name."""
    max_calls: int = 1000
    """Tool calls."""


DEFAULTS: Final = AnswerLimits()

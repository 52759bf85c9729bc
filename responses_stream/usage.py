"""Token counters: integers, and always all of them.

codex runs the whole request again when one is missing, null or 3.0 (codex.md section 3),
and decides by them when to compact its history. So they are read leniently, from either
API's words, and written strictly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from .errors import LocalProtocolError


class InputTokensDetails(Struct, frozen=True, gc=False):
    """How much of the input came from, or went into, the prefix cache."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputTokensDetails(Struct, frozen=True, gc=False):
    """How much of the output was reasoning."""

    reasoning_tokens: int = 0


class Usage(Struct, frozen=True):
    """The token counters of one response."""

    input_tokens: int = 0
    input_tokens_details: InputTokensDetails = InputTokensDetails()
    output_tokens: int = 0
    output_tokens_details: OutputTokensDetails = OutputTokensDetails()
    total_tokens: int = 0

    @classmethod
    def read(cls, usage: Usage | Mapping[str, Any] | None) -> Usage | None:
        """Usage in the words of either API; what is missing or null counts as 0.

        `input_tokens` is also read from `prompt_tokens`, and so on; a missing total is
        the sum. Raises LocalProtocolError for a counter that is not a whole number >= 0.
        """
        if usage is None or isinstance(usage, Usage):
            return usage
        if not isinstance(usage, Mapping):
            raise LocalProtocolError(
                f"usage is {type(usage).__name__}; expected a mapping of counters"
            )
        given_in = _details(usage, "input_tokens_details", "prompt_tokens_details")
        given_out = _details(usage, "output_tokens_details", "completion_tokens_details")
        given = _count(usage, "input_tokens", "prompt_tokens")
        made = _count(usage, "output_tokens", "completion_tokens")
        return cls(
            given,
            InputTokensDetails(
                _count(given_in, "cached_tokens"),
                _count(given_in, "cache_write_tokens"),
            ),
            made,
            OutputTokensDetails(_count(given_out, "reasoning_tokens")),
            _count(usage, "total_tokens") or given + made,
        )


def _details(usage: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    found = _first(usage, names, {})
    if not isinstance(found, Mapping):
        raise LocalProtocolError(f"usage.{names[0]} is {found!r}; expected a mapping")
    return found


def _count(usage: Mapping[str, Any], *names: str) -> int:
    found = _first(usage, names, 0)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise LocalProtocolError(
            f"usage.{names[0]} is {found!r}; expected a whole number, 0 or more"
        )
    return found


def _first(usage: Mapping[str, Any], names: tuple[str, ...], nothing: object) -> Any:
    """The value under the first of these names that has one."""
    for name in names:
        if (found := usage.get(name)) is not None:
            return found
    return nothing

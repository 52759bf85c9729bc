"""Why a model stopped, in the words of chat completions, and what comes of it."""

from __future__ import annotations

from typing import Final

COMPLETED: Final = frozenset({"stop", "tool_calls", "function_call"})
INCOMPLETE: Final = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""With what the response says in `incomplete_details.reason`."""
FAILED: Final = frozenset({"abort", "error"})
REASONS: Final = (*sorted(COMPLETED), *INCOMPLETE, *sorted(FAILED))

"""GET /v1/models: one body for OpenAI's clients and for codex (codex.md section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from responses_stream.codex_config import codex_catalog

DEFAULTS: Final[Mapping[str, Any]] = {"object": "model", "created": 0, "owned_by": ""}
"""What OpenAI's clients want in an entry, where the chat server left it out."""


def model_list(entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """`data` for OpenAI's clients, `models` for codex; each passes over the other."""
    named = [entry for entry in entries if isinstance(entry.get("id"), str)]
    return {
        "object": "list",
        "data": [{**DEFAULTS, **entry} for entry in named],
        **codex_catalog(named),
    }

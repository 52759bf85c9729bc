"""GET /v1/models: one body for OpenAI's clients and for codex (codex.md section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

OPENAI: Final[Mapping[str, Any]] = {"object": "model", "created": 0, "owned_by": ""}
"""What OpenAI's clients want in an entry; what the upstream server says goes before."""

CODEX: Final[Mapping[str, Any]] = {
    "description": None,
    "supported_reasoning_levels": [],
    "shell_type": "unified_exec",
    "visibility": "list",
    "supported_in_api": True,
    "priority": 0,
    "upgrade": None,
    "supports_reasoning_summaries": True,
    "support_verbosity": False,
    "default_verbosity": None,
    "apply_patch_tool_type": None,
    "truncation_policy": {"mode": "tokens", "limit": 10000},
    "supports_parallel_tool_calls": True,
    "experimental_supported_tools": [],
    "base_instructions": (
        "You are a coding agent that works in a terminal on the user's computer.\n\n"
        "Work on the user's task until it is done: look at the files that matter before"
        " you change them, make the smallest change that does it, and run what shows that"
        " it works. Use the tools that you are given to do things; do not only describe"
        " what could be done. To change a file, run `apply_patch` with a heredoc in the"
        " shell. Obey AGENTS.md files. Never undo or delete what you did not make, unless"
        " you are asked to.\n\n"
        "Say in one sentence what you are about to do before you call tools. At the end"
        " say briefly what you did, what you checked, and what is open."
    ),
}
"""What codex wants in an entry. An entry that lacks a required field, or has another word
for one, makes codex drop the whole list."""

CONTEXT_FIELDS: Final = (
    "max_model_len",  # vLLM, SGLang
    "context_length",  # OpenRouter, LM Studio
    "context_window",
    "max_context_length",
)
"""Where servers tell how long a context may be. codex decides by it when to compact."""


def model_list(entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """`data` for OpenAI's clients, `models` for codex; each ignores the other."""
    entries = [entry for entry in entries if isinstance(entry.get("id"), str)]
    return {
        "object": "list",
        "data": [{**OPENAI, **entry} for entry in entries],
        "models": [_for_codex(entry) for entry in entries],
    }


def _for_codex(entry: Mapping[str, Any]) -> dict[str, Any]:
    model = {"slug": entry["id"], "display_name": entry["id"], **CODEX}
    # llama.cpp nests it.
    meta = entry.get("meta")
    places = {**(meta if isinstance(meta, Mapping) else {}), **entry}
    for name in (*CONTEXT_FIELDS, "n_ctx", "n_ctx_train"):
        if type(places.get(name)) is int:
            return {**model, "context_window": places[name]}
    return model

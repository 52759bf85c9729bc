"""What codex is told of a server that is not OpenAI's: a configuration and a catalog.

Without a catalog codex takes a model that it does not know for one of OpenAI's, with a
warning: it sends a prompt of 17 KB, has no tool to change files, and compacts the history
by the size of another model's context. Measured with codex 0.169.0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

PROVIDER: Final = "responses_stream"
"""The name of our entry under `model_providers`."""

BASE_INSTRUCTIONS: Final = """\
You are a coding agent. You work in a terminal on the user's computer.

Keep at the user's task until it is done. Read the files that matter before you change
them; make the smallest change that does the task; run whatever shows that it works. Use
your tools to do things, not to talk of them, and never make up what a tool would say.

- Run commands with `exec_command`. Prefer `rg` for searching, if it is there.
- Change files with `apply_patch`. Its one string, `input`, is a patch of this form, with
  paths relative to the working directory:

*** Begin Patch
*** Add File: new.py
+print("every line of a new file has a plus")
*** Update File: old.py
@@ def f():
 a line that stays has a space
-a line that goes
+a line that comes
*** Delete File: useless.py
*** End Patch

- Obey AGENTS.md files. They hold for the folder that they are in, and all below it.
- Never undo or delete what you did not make, unless you are asked to.

Say in one sentence what you are about to do before you call tools. At the end say briefly
what you did, what you checked, and what is open.
"""
"""The system prompt. It speaks of the tools that CAPABILITIES give to the model."""

CAPABILITIES: Final[Mapping[str, Any]] = {
    "description": "Served by responses_stream.",
    "supported_reasoning_levels": [],
    "shell_type": "unified_exec",  # exec_command and write_stdin
    "apply_patch_tool_type": "freeform",  # the custom tool apply_patch
    "input_modalities": ["text", "image"],  # with images comes view_image
    "supports_parallel_tool_calls": True,
    "supports_reasoning_summaries": True,
    "support_verbosity": False,
    "supported_in_api": True,
    "visibility": "list",
    "priority": 0,
    "truncation_policy": {"mode": "tokens", "limit": 10000},
    "experimental_supported_tools": [],
    "base_instructions": BASE_INSTRUCTIONS,
}
"""An entry of the catalog, but for its name and its size. codex refuses a catalog of which
one entry lacks a field that it requires."""

CONTEXT_FIELDS: Final = (
    "context_window",
    "max_model_len",  # vLLM, SGLang
    "context_length",  # OpenRouter, LM Studio
    "max_context_length",
    "n_ctx",  # llama.cpp, under `meta`
    "n_ctx_train",
)
"""Where the entries of GET /models tell how long a context may be."""


def codex_catalog(models: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The catalog of `models`, the entries of GET /models.

    It goes into the file that `model_catalog_json` names.
    """
    return {"models": [_described(model) for model in models]}


def _described(model: Mapping[str, Any]) -> dict[str, Any]:
    described = {"slug": model["id"], "display_name": model["id"], **CAPABILITIES}
    told = model.get("input_modalities")
    if isinstance(told, list):
        # codex refuses a catalog with one that it does not know, and we serve no others.
        known = CAPABILITIES["input_modalities"]
        described["input_modalities"] = [one for one in known if one in told]
    window = context_window(model)
    return described if window is None else {**described, "context_window": window}


def context_window(model: Mapping[str, Any]) -> int | None:
    """How many tokens a model takes, if its server says so."""
    meta = model.get("meta")
    places = {**(meta if isinstance(meta, Mapping) else {}), **model}
    told = (places.get(name) for name in CONTEXT_FIELDS)
    return next((window for window in told if type(window) is int), None)


def codex_config(
    model: str, base_url: str, catalog: str, key_variable: str | None = None
) -> str:
    """The text of a config.toml.

    `catalog` is the absolute path of the catalog, `key_variable` the environment variable
    that has the server's API key.
    """
    key = "" if key_variable is None else f"env_key = {_string(key_variable)}\n"
    return f"""\
model = {_string(model)}
model_provider = "{PROVIDER}"
model_catalog_json = {_string(catalog)}
web_search = "disabled"  # it runs on OpenAI's servers
show_raw_agent_reasoning = true

[model_providers.{PROVIDER}]
name = "{PROVIDER}"
base_url = {_string(base_url)}
wire_api = "responses"
supports_websockets = false
{key}
[features]
daemon_auto_start = false  # else the TUI leaves a daemon behind
"""


def _string(text: str) -> str:
    """`text` as a string of TOML, which is one of JSON but for a character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

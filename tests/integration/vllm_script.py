"""Puts words into the mouth of a real vLLM: it leaves the sampler one token to choose.

This is a logits processor and runs in vLLM's worker; everything before and behind it (chat
template, scheduler, sampler, detokeniser, parsers, the plugin) is the real thing. What it
does is told by a folder, which the tests' side of this is in codex_vllm.py:

    scripts.json   {"scripts": [SCRIPT, ...], "title": TEXT}
    asked-N        the prompt of the Nth request that plays a script, as text
    title-N        that of the Nth request for a title, which gets `title` as its answer

A SCRIPT is a list of texts, and of numbers: seconds in which the engine stands still. Each
request plays the next one, or the last one again. Without scripts.json the model speaks
for itself.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import torch
from vllm.sampling_params import SamplingParams
from vllm.tokenizers import cached_tokenizer_from_config
from vllm.v1.sample.logits_processor import (
    BatchUpdate,
    LogitsProcessor,
    process_dict_updates,
)

FOLDER = "RESPONSES_STREAM_VLLM_SCRIPTS"
"""The environment variable that names the folder."""


class Play:
    """One request and its script. `said` is vLLM's own list of what it has sampled."""

    def __init__(self, script: list[str | float], said: list[int], tokenizer: Any) -> None:
        self.said = said
        self._tokens: list[int] = []
        self._pauses: dict[int, float] = {}
        for step in script:
            if isinstance(step, str):
                self._tokens += tokenizer.encode(step, add_special_tokens=False)
            else:
                self._pauses[len(self._tokens)] = step
        self._tokens.append(tokenizer.eos_token_id)

    def token(self) -> int:
        """The next one."""
        # Not a count of our own: what is sampled before the prompt is whole is thrown away.
        at = min(len(self.said), len(self._tokens) - 1)
        time.sleep(self._pauses.pop(at, 0))
        return self._tokens[at]


class Scripted(LogitsProcessor):
    """See the module."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:  # noqa: ARG002, FBT001 - vLLM's
        self._tokenizer = cached_tokenizer_from_config(vllm_config.model_config)
        self._folder = Path(os.environ[FOLDER])
        self._plays: dict[int, Play] = {}
        self._begun: list[Play] = []

    def is_argmax_invariant(self) -> bool:
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        process_dict_updates(self._plays, batch_update, self._play)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        for row, play in self._plays.items():
            logits[row] = -torch.inf
            logits[row, play.token()] = 0
        return logits

    def _play(
        self, asked: SamplingParams, prompt: list[int] | None, said: list[int]
    ) -> Play | None:
        for play in self._begun:
            if play.said is said:  # it had to wait for others, and goes on
                return play
        try:
            told = json.loads((self._folder / "scripts.json").read_text())
        except FileNotFoundError:
            return None
        kind = "title" if _is_for_title(asked) else "asked"
        number = len(list(self._folder.glob(f"{kind}-*")))
        text = self._tokenizer.decode(prompt or [], skip_special_tokens=False)
        written = self._folder / "being-written"
        written.write_text(text)
        written.rename(self._folder / f"{kind}-{number}")
        scripts = told["scripts"]
        answer = json.dumps({"title": told["title"]})
        script = (
            ["<think></think>", answer]
            if kind == "title"
            else scripts[min(number, len(scripts) - 1)]
        )
        self._begun.append(Play(script, said, self._tokenizer))
        return self._begun[-1]


def _is_for_title(asked: SamplingParams) -> bool:
    wanted = asked.structured_outputs
    schema = wanted.json if wanted else None
    schema = json.loads(schema) if isinstance(schema, str) else schema or {}
    return list(schema.get("properties", {})) == ["title"]

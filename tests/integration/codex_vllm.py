"""A real vLLM whose model is scripted: the tests' side of vllm_script.py."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from codex_model import (
    GO_ON,
    Conversation,
    Finish,
    Pause,
    Script,
    Told,
    written_calls,
)
from vllm_server import Server

MESSAGE: Final = re.compile(r"<\|im_start\|>(\w+)\n(.*?)<\|im_end\|>", re.DOTALL)
TOOL_OUTPUT: Final = re.compile(r"<tool_response>\n(.*)\n</tool_response>", re.DOTALL)
LONG: Final = 5000
"""Repetitions that take the tiny model half a minute."""


class ScriptedVLLM:
    """See Model. `server` knows of `folder`."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.url = server.base_url
        self.title = ""
        self._folder = folder

    @property
    def busy(self) -> bool:
        """See Model."""
        return self.server.metric("num_requests_running{") > 0

    @property
    def told(self) -> list[Conversation]:
        """See Model."""
        return self._prompts("asked")

    @property
    def titles(self) -> list[Conversation]:
        """The side requests for a title."""
        return self._prompts("title")

    def forget(self) -> None:
        """See Model."""
        for file in self._folder.iterdir():
            file.unlink()
        self.title = "A title"

    def plays(self, *scripts: Script) -> None:
        """See Model."""
        past: list[list[str | float]] = [[] for _ in self.told]
        told = {"scripts": past + [_steps(one) for one in scripts], "title": self.title}
        (self._folder / "new").write_text(json.dumps(told))
        (self._folder / "new").rename(self._folder / "scripts.json")

    def _prompts(self, kind: str) -> list[Conversation]:
        count = len(list(self._folder.glob(f"{kind}-*")))
        files = [self._folder / f"{kind}-{number}" for number in range(count)]
        return [_conversation(file.read_text()) for file in files]


def _steps(script: Script) -> list[str | float]:
    """A script as the text of the model itself, cut by the pauses."""
    steps: list[str | float] = []
    text, thinking = "<think>", True
    calls: dict[int, tuple[str, str]] = {}
    for step in script:
        if isinstance(step, Pause):
            steps += [text, step.seconds]
            text = ""
            continue
        if thinking and step is not GO_ON and "reasoning" not in step:
            text, thinking = f"{text}</think>", False
        match step:
            case {"reasoning": piece} | {"content": piece}:
                text += piece
            case _ if step is GO_ON:
                text += piece * LONG
            case {"tool_calls": [{"index": index, "function": function}]}:
                name, arguments = calls.get(index) or (function["name"], "")
                calls[index] = (name, arguments + function["arguments"])
            case Finish():
                break
            case _:
                raise AssertionError(f"a real model does not say {step!r}")
    return [*steps, text + written_calls(calls.values())]


def _conversation(prompt: str) -> Conversation:
    """The messages in a prompt, by the tiny model's template."""
    found = [Told(*message) for message in MESSAGE.findall(prompt)]
    told = [
        Told("tool", output[1]) if (output := TOOL_OUTPUT.fullmatch(one.text)) else one
        for one in found
    ]
    return Conversation(told, has_image=prompt.startswith("<image>"))

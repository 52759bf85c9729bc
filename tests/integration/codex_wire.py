"""A request as codex makes it, and the answer to the byte."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from typing import Any, Final
from urllib.parse import urlsplit

from codex_items import WEATHER, Fields, said

from responses_stream import SSEDecoder, TranscriptChecker

VLLM_BACKENDS: Final = ("chat", "plugin")
"""One vLLM counts for two: as `chat` it is behind the gateway and asked for chat
completions, as `plugin` codex talks to it."""

GATEWAY_AND_PLUGIN: Final = ("upstream", "plugin")
"""The backends that are the gateway and the plugin, once each."""


@dataclass
class Server:
    """Where Responses are served."""

    url: str
    model: str = "tiny"

    def request(self, prompt: str = "What is the weather?", **fields: Any) -> Fields:
        """A first turn as codex sends it, with less text."""
        return {
            "model": self.model,
            "input": [
                said("developer", "You are a coding agent."),
                said("developer", "<skills/>", "<permissions/>"),
                said("user", "<environment_context/>"),
                said("user", prompt),
            ],
            "tools": [WEATHER],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "reasoning": {"summary": "auto"},
            "store": False,
            "stream": True,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": "01a1fb3b-64b8-7fa1-bc73-123229b73a1a",
            "client_metadata": {"x-codex-installation-id": "01a1fb3b"},
            **fields,
        }

    def ask(self, prompt: str = "What is the weather?", **fields: Any) -> Transcript:
        """Asks, and reads all of the answer."""
        with self.asking(self.request(prompt, **fields)) as transcript:
            transcript.read()
        return transcript

    @contextmanager
    def asking(self, request: Fields) -> Iterator[Transcript]:
        """Asks; leaving hangs up."""
        where = urlsplit(self.url)
        connection = HTTPConnection(where.netloc, timeout=30)
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        body = json.dumps(request)
        connection.request("POST", f"{where.path}/responses", body, headers)
        try:
            yield Transcript(connection.getresponse())
        finally:
            connection.close()


@dataclass
class Transcript:
    """An answer."""

    response: HTTPResponse
    body: bytes = b""
    events: list[Fields] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """When each event came."""
    ended_at: float = 0.0
    _decoder: SSEDecoder = field(default_factory=SSEDecoder)

    @property
    def headers(self) -> Mapping[str, str]:
        """With names in lower case."""
        return {name.lower(): value for name, value in self.response.getheaders()}

    def read(self, until: str | None = None) -> None:
        """Reads to the end, or to an event of type `until`."""
        while piece := self.response.read1(65536):
            self.body += piece
            for frame in self._decoder.feed(piece):
                if frame.data != "[DONE]":
                    self.events.append(json.loads(frame.data))
                    self.times.append(time.monotonic())
            if until in self.types:
                return
        self.ended_at = time.monotonic()

    @property
    def types(self) -> list[str]:
        """Of the events, without the common prefix."""
        return [event["type"].removeprefix("response.") for event in self.events]

    def all(self, kind: str) -> list[Fields]:
        """The events of a type."""
        return [event for event in self.events if event["type"] == f"response.{kind}"]

    @property
    def items(self) -> list[Fields]:
        """The finished items, which is all that codex looks at."""
        return [event["item"] for event in self.all("output_item.done")]

    @property
    def final(self) -> Fields:
        """The response as the last event has it."""
        return dict(self.events[-1]["response"])

    @property
    def violations(self) -> list[str]:
        """What our own checker finds wrong."""
        checker = TranscriptChecker()
        found = [found for event in self.events for found in checker.feed(event)]
        return [str(one) for one in found + checker.close() if one.level == "error"]

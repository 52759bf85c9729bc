"""A chat completion whose every event knows its place in the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Place(StrEnum):
    """Where in an answer something goes wrong."""

    HEADERS = "before headers"
    DELTA = "before first delta"
    REASONING = "in reasoning"
    TEXT = "in text"
    CALL = "in a call"
    USAGE = "before usage"
    DONE = "before `[DONE]`"


AFTER_FINISH = (Place.USAGE, Place.DONE)

COMMON = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
DONE = b"data: [DONE]\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return event({**COMMON, "choices": [choice]})


def event(said: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % json.dumps(said).encode()


@dataclass(frozen=True)
class Frame:
    """One event of an answer."""

    place: Place
    bytes: bytes
    said: str = ""
    """The part of the response that it adds to."""
    text: str = ""


@dataclass(frozen=True)
class Answer:
    """A chat completion: thoughts, text and a call, all of `words` pieces of `size`."""

    words: int = 8
    size: int = 8
    pause: float = 0.0
    """Seconds before each piece."""

    def frames(self) -> Iterator[Frame]:
        """Its events."""
        yield Frame(Place.DELTA, chunk({"role": "assistant", "content": ""}))
        for kind, place in (("reasoning", Place.REASONING), ("content", Place.TEXT)):
            for word in self._words():
                yield Frame(place, chunk({kind: word}), kind, word)
        for begun, word in enumerate(['{"city":"', *self._words(), '"}']):
            call: dict[str, Any] = {"index": 0, "function": {"arguments": word}}
            if not begun:
                call |= {"id": "call_1", "type": "function"}
                call["function"]["name"] = "get_weather"
            yield Frame(Place.CALL, chunk({"tool_calls": [call]}), "arguments", word)
        yield Frame(Place.USAGE, chunk({}, "tool_calls"))
        yield Frame(Place.DONE, event({**COMMON, "choices": [], "usage": USAGE}))

    def until(self, place: Place) -> list[Frame]:
        """Its events up to the middle of a place."""
        frames = list(self.frames())
        here = [at for at, frame in enumerate(frames) if frame.place == place]
        places = list(Place)
        if place in AFTER_FINISH:
            return [f for f in frames if places.index(f.place) <= places.index(place)]
        return frames[: here[len(here) // 2]] if here else []

    def _words(self) -> Iterator[str]:
        for number in range(self.words):
            yield f"{number} ".ljust(self.size, "x")

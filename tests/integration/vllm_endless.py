"""Requests that a real vLLM would answer for ever: in a thought, in text, in a call."""

from __future__ import annotations

import json
from functools import cache
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import openai
from openai.types.responses import ResponseStreamEvent
from vllm_requests import BACKGROUND, WEATHER
from vllm_server import named

PLACES = {
    "reasoning": b"response.reasoning_text.delta",
    "text": b"response.output_text.delta",
    "call": b"response.function_call_arguments.delta",
}
"""Where a stream may be, and the event that tells."""


def endless(place: str) -> dict[str, Any]:
    """A request whose answer gets there and stays."""
    if place == "text":
        return {"input": "endless"}
    # Whatever would end it is forbidden: the end of the answer, and all markup.
    marks = _marks()
    begins = "<tool_call>" if place == "call" else None
    banned = {f"{number}": -100 for mark, number in marks.items() if mark != begins}
    if place == "reasoning":
        return {"input": "hi", "logit_bias": banned}
    for mark in ("<think>", "</think>"):
        del banned[f"{marks[mark]}"]
    return {"input": "onlytool", "tools": WEATHER, "logit_bias": banned}


@cache
def _marks() -> dict[str, int]:
    """The model's special tokens."""
    model = Path(named("MODEL"))
    tokenizer = json.loads((model / "tokenizer.json").read_text())
    return {token["content"]: token["id"] for token in tokenizer["added_tokens"]}


def endless_in_background(
    client: openai.OpenAI, **more: Any
) -> tuple[openai.Stream[ResponseStreamEvent], str]:
    """One of the official client: a stream whose text has begun, and its response's id."""
    asked: Any = {"model": "tiny", **endless("text"), **BACKGROUND, **more}
    stream = client.responses.create(stream=True, **asked)
    response_id = next(stream).response.id
    while next(stream).type != "response.output_text.delta":
        pass
    return stream, response_id


def until(stream: HTTPResponse, place: str) -> bytes:
    """The body up to the first words there."""
    seen = b""
    while PLACES[place] not in seen:
        line = stream.readline()
        assert line, seen
        seen += line
    return seen

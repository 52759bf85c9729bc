"""Requests that vLLM would turn down."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.requests import Request

from responses_stream.chat.tools import CUSTOM_AS_FUNCTION
from responses_stream.json_text import Unreadable
from responses_stream.vllm_plugin.asked import acceptable
from responses_stream.vllm_plugin.routes import _acceptable

FORM = {"type": "grammar", "syntax": "lark", "definition": "start: A"}
TOLD = f"{CUSTOM_AS_FUNCTION}\n\nThe input must match this lark grammar:\nstart: A"


def test_a_grammar_is_told():
    """The model reads it where vLLM cannot hold it to it."""
    tool = {"type": "custom", "name": "f", "description": "Does.", "format": FORM}
    asked = {"input": "hi", "tools": [tool]}

    assert acceptable(asked)["tools"] == [
        {**tool, "description": f"Does.\n\n{TOLD}", "format": {"type": "text"}}
    ]
    assert tool["format"] is FORM


def test_a_grammar_in_a_namespace():
    """A tool is the same wherever it stands."""
    tool = {"type": "custom", "name": "f", "format": FORM}
    (space,) = acceptable({"tools": [{"type": "namespace", "tools": [tool]}]})["tools"]

    assert space["tools"][0]["description"] == TOLD


@pytest.mark.parametrize(
    "asked",
    [
        {"input": "hi"},
        {"tools": 5},
        {"tools": [5, {"type": "function", "name": "f"}]},
        {"tools": [{"type": "custom", "name": "f", "format": {"type": "text"}}]},
    ],
)
def test_anything_else(asked):
    """It goes to vLLM as it came, right or wrong."""
    assert acceptable(asked) == asked


@pytest.mark.parametrize(
    "body",
    [
        *(b"{", b"\xff", b"[" * 100_000, b'{"tools":[' * 400 + b"]}" * 400),
        *(b'{"input": %b}' % value for value in (b"NaN", b"-Infinity", b"1e999")),
        *(b'{"input": %b}' % value for value in (b"9" * 5000, b'"\\ud800"', b'"\x00"')),
        b'{"input": "\xed\xa0\x80"}',
        '{"input": "hi"}'.encode("utf-16"),
    ],
    ids=lambda body: repr(body[:30]),
)
def test_a_body_that_nobody_means_is_refused(body):
    """With a reason, before anything is made of it."""
    request = Request({"type": "http", "headers": []}, receive=received(body))

    with pytest.raises(Unreadable, match="no JSON|levels"):
        asyncio.run(_acceptable(request))


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"input": "a\\u0000", "seed": 1}'], ids=repr
)
def test_any_other_body_is_for_vllm_to_judge(body):
    """It comes to it as it was."""

    async def main() -> bytes:
        request = Request({"type": "http", "headers": []}, receive=received(body))
        passed_on: bytes = await (await _acceptable(request)).body()
        return passed_on

    passed_on = asyncio.run(main())

    assert (json.loads(body) if body else None) == (json.loads(passed_on or b"null"))


def received(body: bytes) -> Any:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive

"""Every script of a chat server, through the gateway, before three judges."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from gateway_fixtures import server_of, url_of
from gateway_frames import Script
from gateway_scripts import SCRIPTS, STREAMED
from gateway_world import (
    REQUEST,
    Got,
    ask,
    calls_in,
    said_in,
)
from helpers import errors, violations

from responses_stream.wire import openai_models

CODEX_CODES = {"context_length_exceeded"}
"""Codes that codex wants to see and openai's types do not list."""

_server = server_of(SCRIPTS)
_url = url_of(linger=0.2)


def each(scripts: dict[str, Script]) -> Any:
    return pytest.mark.parametrize(("name", "script"), scripts.items(), ids=list(scripts))


def judge(got: Got, script: Script) -> None:
    """The response is what the script should come to."""
    response = got.response
    output = response["output"]
    assert f"response.{response['status']}" == got.events[-1]["type"]
    assert script.ends == response["status"]
    assert script.text == said_in(output, "message")
    assert script.thoughts == said_in(output, "reasoning")
    assert script.calls == calls_in(output)
    usage = response["usage"]
    counted = usage and (usage["input_tokens"], usage["output_tokens"])
    assert script.usage == counted
    match script.ends:
        case "failed":
            assert script.reason == response["error"]["code"]
            assert script.says in response["error"]["message"]
        case "incomplete":
            assert {"reason": script.reason} == response["incomplete_details"]


@each(STREAMED)
def test_each_script_comes_out_clean(url, name, script):
    """The checker finds nothing, openai's types take every event, the end is right."""
    got = ask(url, model=name, stream=True, **REQUEST)

    assert 200 == got.status
    assert [] == errors(got.events)
    assert [] == [v for v in violations(got.events) if v.rule != "error-code"]
    for wire in got.events:
        failure = wire.get("response", {}).get("error")
        if failure and failure["code"] in CODEX_CODES:
            failure["code"] = "server_error"
        openai_models()[wire["type"]].model_validate(wire, strict=True)
    judge(got, script)


@each(STREAMED)
def test_each_script_comes_whole(url, name, script):
    """Without `stream` the same response comes as one body, or a failure as a status."""
    got = ask(url, model=name, **REQUEST)

    if script.ends == "failed":
        assert got.status >= 400
        assert script.reason == got.error["code"]
        assert script.says in got.error["message"]
        return
    assert 200 == got.status
    assert "application/json" == got.headers["content-type"]
    assert script.ends == got.json["status"]
    assert script.text == said_in(got.json["output"], "message")
    assert script.calls == calls_in(got.json["output"])


@each(STREAMED)
def test_each_script_is_accumulated(url, name, script):
    """The official client's `responses.stream()` builds the same response."""
    with (
        openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client,
        client.responses.stream(model=name, **REQUEST) as stream,
    ):
        events = list(stream)

    last = events[-1]
    assert f"response.{script.ends}" == last.type
    output = [item.model_dump(mode="json") for item in last.response.output]
    assert script.text == said_in(output, "message")
    assert script.thoughts == said_in(output, "reasoning")
    if script.ends == "completed":
        assert stream.get_final_response().id == last.response.id


@each({name: script for name, script in SCRIPTS.items() if name not in STREAMED})
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("path", ["/responses", "/chat/completions"])
def test_each_refusal_keeps_its_status(url, name, script, stream, path):
    """What the chat server refuses is refused by us, in OpenAI's shape."""
    request = REQUEST if path == "/responses" else {"messages": []}
    got = ask(url, path, model=name, stream=stream, **request)

    assert script.ends == str(got.status)
    assert {"message", "type", "param", "code"} == set(got.error)
    assert script.reason == got.error["code"]
    assert script.says in got.error["message"]
    given = [h.partition(": ")[2] for h in script.headers if h.startswith("retry-after")]
    expected = given or (["2"] if got.status in (429, 503) else [])
    assert expected == got.headers.get_list("retry-after")


def test_there_are_enough_scripts():
    """The issue asks for 40 at the least."""
    assert len(SCRIPTS) >= 40

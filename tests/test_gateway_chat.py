"""POST /v1/chat/completions: what the chat server says, aligned."""

from __future__ import annotations

import json
import time

import httpx
import pytest
from gateway_fixtures import server_of, url_of
from gateway_frames import DONE, HELLO, ROLE, WHOLE, Script, chunk, said
from gateway_scripts import SCRIPTS, STREAMED
from gateway_world import Got, ask
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from responses_stream import SSEDecoder

MESSAGES = [{"role": "user", "content": "Hi"}]
OWN = {
    "slow_end": Script((ROLE, *said("Hi"), chunk({}, "stop")), ending="open"),
    "endless": Script((ROLE, *said("Hi")), ending="open"),
    "paced": Script(HELLO, pause=0.05),
}

_server = server_of({**SCRIPTS, **OWN})
_url = url_of(linger=0.2)


def chat(url: str, model: str, **request: object) -> Got:
    request = {"stream": True, "stream_options": {"include_usage": True}, **request}
    return ask(url, "/chat/completions", model=model, messages=MESSAGES, **request)


def test_what_is_right_goes_through_byte_for_byte(url):
    """Body and content type are those of OpenAI."""
    got = chat(url, "plain")

    assert b"".join(HELLO) == got.body
    assert "text/event-stream; charset=utf-8" == got.headers["content-type"]
    assert "no" == got.headers["x-accel-buffering"]


def test_the_request_goes_through_byte_for_byte(server, url):
    """Also what only the chat server understands."""
    body = {"model": "plain", "messages": MESSAGES, "top_k": 3, "n": 1, "stream": True}
    httpx.post(f"{url}/chat/completions", json=body)

    assert body == server.asked[-1].body


@pytest.mark.parametrize("name", STREAMED)
def test_each_script_is_a_stream_that_openai_could_have_sent(url, name):
    """Every frame has OpenAI's type, `[DONE]` comes once, a failure is told."""
    got = chat(url, name)
    assert 200 == got.status
    assert got.body.endswith(DONE)
    assert 1 == got.body.count(b"[DONE]")
    wires = [json.loads(event.data) for event in SSEDecoder().feed(got.body)[:-1]]
    for wire in wires:
        if "error" not in wire:
            ChatCompletionChunk.model_validate(wire)
    if STREAMED[name].ends == "failed" and name != "nameless_call_alone":
        assert wires[-1]["error"]["message"]


@pytest.mark.parametrize("name", STREAMED)
def test_each_script_is_whole_where_no_stream_was_asked_for(url, name):
    """One JSON document of OpenAI's type, or an HTTP error."""
    got = chat(url, name, stream=False)

    assert "application/json" == got.headers["content-type"]
    if got.status == 200:
        ChatCompletion.model_validate(got.json)
    else:
        assert "failed" == STREAMED[name].ends
        assert {"message", "type", "param", "code"} == set(got.error)


def test_a_whole_completion_goes_through_byte_for_byte(url):
    """Where no stream was asked for, and none came."""
    assert json.dumps(WHOLE).encode() == chat(url, "whole_json", stream=False).body


def test_usage_comes_only_if_asked_for(url):
    """LightLLM and others send it to everybody."""
    assert b"usage" not in chat(url, "plain", stream_options=None).body


def test_a_server_that_stays_open_does_not_hold_the_client(url):
    """Behind the finish reason we wait no longer than the linger."""
    begun = time.monotonic()
    got = chat(url, "slow_end")

    assert got.body.endswith(DONE)
    assert b'"finish_reason": "stop"' in got.body
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("stream", [True, False])
def test_hanging_up_cancels(server, url, stream):
    """Here as in /v1/responses."""
    body = {"model": "endless", "messages": MESSAGES, "stream": stream}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{url}/chat/completions", json=body, timeout=0.2)

    assert server.asked[-1].hung_up.wait(5)


def test_chunks_are_live(url):
    """Each leaves when it comes, not at the end."""
    body = {"model": "paced", "messages": MESSAGES, "stream": True}
    came = []
    with httpx.stream("POST", f"{url}/chat/completions", json=body) as response:
        came = [time.monotonic() for _ in response.iter_raw()]

    assert len(came) >= 4
    assert came[-1] - came[0] > 0.1

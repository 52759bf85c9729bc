"""The troubles that this project grew from, one named test each.

A fourth, proxies that hold a stream back, needs those proxies: see the tests with nginx
and Caddy.
"""

from __future__ import annotations

import json

import openai
from gateway_fixtures import server_of, url_of
from gateway_frames import COUNTED, DONE, HELLO, WHOLE, Script, chunk
from gateway_world import ask

LIGHTLLM = (
    chunk({"role": "assistant", "content": "Hel"}),
    chunk({"role": "assistant", "content": "lo"}),
    chunk({"role": "assistant", "content": ""}, "stop"),
    COUNTED,
)
BODY = b"".join(HELLO)
JSON = ("content-type: application/json",)
SCRIPTS = {
    "events_called_json": Script(HELLO, headers=JSON),
    "lightllm": Script(LIGHTLLM),
    "single_json": Script((json.dumps(WHOLE).encode(),), headers=JSON, framing="length"),
    **{
        f"cut_at_{at}": Script((BODY[:at], BODY[at:]), pause=0.001)
        for at in range(1, len(BODY))
    },
}

_server = server_of(SCRIPTS)
_url = url_of()


def chat(url: str, model: str) -> str:
    """The text that the official client gets of a chat stream."""
    with openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client:
        stream = client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        return "".join(
            choice.delta.content or "" for chunk in stream for choice in chunk.choices
        )


def respond(url: str, model: str) -> str:
    """The text that the official client gets of a response."""
    with (
        openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client,
        client.responses.stream(model=model, input="Hi") as stream,
    ):
        return stream.get_final_response().output_text


def test_the_content_type_is_right_through_a_proxy(url):
    """Events that an upstream calls JSON are events to our clients."""
    got = ask(url, "/chat/completions", model="events_called_json", stream=True)

    assert "text/event-stream; charset=utf-8" == got.headers["content-type"]
    assert "Hello" == chat(url, "events_called_json") == respond(url, "events_called_json")


def test_events_are_read_however_they_are_cut(url):
    """A chunk of the connection is no frame: two reads may share one, at any byte."""
    cuts = [name for name in SCRIPTS if name.startswith("cut_at_")]
    texts = {
        ask(url, model=name, input="Hi").json["output"][0]["content"][0]["text"]
        for name in cuts
    }

    assert len(cuts) > 500
    assert {"Hello"} == texts


def test_one_legacy_json_document_becomes_a_stream(url):
    """From a server that does not stream, on both routes."""
    assert "Hello" == chat(url, "single_json") == respond(url, "single_json")


def test_the_stream_of_lightllm_is_aligned(url):
    """Role on every chunk, no `[DONE]`, usage unasked: none of it reaches the client."""
    got = ask(url, "/chat/completions", model="lightllm", stream=True)

    assert 1 == got.body.count(b'"role"')
    assert got.body.endswith(DONE)
    assert b"usage" not in got.body
    assert "Hello" == chat(url, "lightllm") == respond(url, "lightllm")

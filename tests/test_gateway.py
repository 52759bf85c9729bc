"""The gateway as a server: its routes, headers and keys, and nobody behind it."""

from __future__ import annotations

import httpx
import pytest
from gateway_fixtures import server_of, url_of
from gateway_frames import HELLO, ROLE, Script
from gateway_world import (
    REQUEST,
    ask,
    gateway,
    serving,
)
from starlette.testclient import TestClient

from responses_stream.chat.template import ChatOptions
from responses_stream.gateway.app import create_app
from responses_stream.gateway.settings import Settings

SCRIPTS = {
    "plain": Script(HELLO),
    "silent": Script((ROLE,), ending="open"),
    "mute": Script((), gate="head"),
}

_server = server_of(SCRIPTS)
_url = url_of(linger=0.2)


# Routes and headers -------------------------------------------------------------------


def test_a_stream_has_the_headers_that_proxies_obey(url):
    """Neither caches nor nginx may hold the stream back, and no `openai-model` is said."""
    got = ask(url, model="plain", input="Hi", stream=True)

    assert "text/event-stream; charset=utf-8" == got.headers["content-type"]
    assert "no-cache, no-transform" == got.headers["cache-control"]
    assert "no" == got.headers["x-accel-buffering"]
    assert got.headers["x-request-id"].startswith("req_")
    assert "openai-model" not in got.headers


def test_the_request_id_is_told_to_the_chat_server(server, url):
    """One id for the logs of both sides."""
    got = ask(url, model="plain", input="Hi")

    assert got.headers["x-request-id"] == server.asked[-1].headers["x-request-id"]


def test_the_chat_server_is_asked_in_its_own_words(server, url):
    """The body that arrives is a chat request that streams and asks for usage."""
    ask(url, model="plain", stream=True, **REQUEST)
    body = server.asked[-1].body

    assert "/v1/chat/completions" == server.asked[-1].path
    assert ["user", "assistant", "tool"] == [m["role"] for m in body["messages"]]
    assert {"include_usage": True} == body["stream_options"]
    assert "agents__wait" in [tool["function"]["name"] for tool in body["tools"]]


def test_options_of_the_template_reach_the_chat_request(server):
    """What `ChatOptions` says is how the chat server is asked."""
    options = ChatOptions(output_limit_field="max_completion_tokens")
    with gateway(server, chat=options) as url:
        ask(url, model="plain", input="Hi", max_output_tokens=9)

    assert 9 == server.asked[-1].body["max_completion_tokens"]


def test_unknown_headers_query_and_fields_are_tolerated(url):
    """codex sends many of all three."""
    got = ask(
        url,
        "/responses?client_version=0.169.0",
        model="plain",
        input="Hi",
        stream=True,
        client_metadata={"a": "b"},
        surprise=1,
        headers={"x-codex-turn-metadata": "{}", "originator": "codex_exec"},
    )

    assert 200 == got.status
    assert 1 == got.response["surprise"]


def test_models_are_listed_for_openai_and_for_codex(server, url):
    """One body holds both lists, each with all its required fields."""
    server.models = {"data": [{"id": "org/m", "max_model_len": 4096}]}
    got = httpx.get(f"{url}/models?client_version=0.169.0").json()
    required = (
        *("slug", "display_name", "supported_reasoning_levels", "shell_type"),
        *("visibility", "supported_in_api", "priority", "base_instructions"),
        *("support_verbosity", "truncation_policy", "experimental_supported_tools"),
    )

    assert ["org/m"] == [model["id"] for model in got["data"]]
    assert {"id", "object", "created", "owned_by"} <= set(got["data"][0])
    assert ["org/m"] == [model["slug"] for model in got["models"]]
    assert set(required) <= set(got["models"][0])
    assert 4096 == got["models"][0]["context_window"]


def test_models_that_make_no_sense_are_a_bad_gateway(server, url):
    """The chat server's fault is told as such."""
    server.models = ["nothing"]

    assert 502 == httpx.get(f"{url}/models").status_code


def test_models_are_refused_as_the_chat_server_does(server, url):
    """With its status and its words."""
    server.models = Script((b'{"error": "who?"}',), status=401, framing="length")
    got = httpx.get(f"{url}/models")

    assert 401 == got.status_code
    assert "who?" == got.json()["error"]["message"]


def test_the_response_has_an_id_of_our_own(url):
    """Whatever the request says."""
    got = ask(url, model="plain", input="Hi", id="resp_theirs", created_at="now")

    assert 200 == got.status
    assert got.json["id"].startswith("resp_")
    assert "resp_theirs" != got.json["id"]


def test_health_needs_no_chat_server():
    """It says that this process serves, whatever stands behind it."""
    with serving(Settings(upstream="http://127.0.0.1:9/v1")) as url:
        got = httpx.get(url.removesuffix("/v1") + "/health")

    assert {"status": "ok"} == got.json()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing", 404), ("GET", "/responses", 405), ("POST", "/models", 405)],
)
def test_what_is_not_there_is_refused_in_the_same_shape(url, method, path, status):
    """Also routes that do not exist answer as OpenAI does."""
    got = httpx.request(method, url + path)

    assert status == got.status_code
    assert {"message", "type", "param", "code"} == set(got.json()["error"])


def test_a_websocket_is_declined_for_good():
    """By 426: codex takes any other status for a passing failure."""
    # As our command has it: no WebSockets in uvicorn either.
    with TestClient(create_app()) as client:
        got = client.get("/v1/responses", headers={"upgrade": "websocket"})

    assert 426 == got.status_code
    assert "HTTP/1.1" == got.headers["upgrade"]
    assert "upgrade_required" == got.json()["error"]["code"]


# Requests that are wrong --------------------------------------------------------------


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b"[" * 100_000], ids=repr
)
@pytest.mark.parametrize("path", ["/responses", "/chat/completions"])
def test_a_body_that_is_no_object_is_a_bad_request(url, path, body):
    """400, and no word to the chat server."""
    got = httpx.post(url + path, content=body)

    assert 400 == got.status_code
    assert "invalid_request_error" == got.json()["error"]["type"]


def test_a_wrong_field_is_named(url):
    """The path of the field at fault is in `param`."""
    got = ask(url, model="plain", input=[{"type": "message", "role": "king"}])

    assert 400 == got.status
    assert "input[0].role" == got.error["param"]


def test_a_body_that_is_too_large_is_refused(server):
    """413, whether its length is told or not."""
    with gateway(server, max_body=1000) as url:
        told = httpx.post(f"{url}/responses", content=b"x" * 1001)
        untold = httpx.post(f"{url}/responses", content=iter([b"x" * 600] * 2))

    assert [413, 413] == [told.status_code, untold.status_code]


def test_a_compressed_body_is_refused(url):
    """Rather than read as nonsense."""
    headers = {"content-encoding": "gzip"}
    got = httpx.post(f"{url}/responses", content=b"x", headers=headers)

    assert 415 == got.status_code


# Keys ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Basic secret"}, 401),
        ({"authorization": "Bearer sécret".encode()}, 401),
        ({"authorization": "Bearer secret"}, 200),
        ({"authorization": "bearer  secret"}, 200),
    ],
    ids=repr,
)
def test_clients_need_the_key(server, given, status):
    """With a key set, only who gives it is served."""
    with gateway(server, api_key="secret") as url:
        body = {"model": "plain", "input": "Hi"}
        got = httpx.post(f"{url}/responses", json=body, headers=given)

    assert status == got.status_code


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, None),
        ({"upstream_key": "ours"}, "Bearer ours"),
        ({"pass_authorization": True}, "Bearer theirs"),
        ({"pass_authorization": True, "upstream_key": "ours"}, "Bearer theirs"),
    ],
    ids=repr,
)
def test_the_chat_server_is_given_the_right_key(server, settings, told):
    """Ours if there is one; the client's own only where that is asked for."""
    headers = {"authorization": "Bearer theirs"}
    with gateway(server, **settings) as url:
        ask(url, model="plain", input="Hi", headers=headers)

    assert told == server.asked[-1].headers.get("authorization")


# A chat server that is not there ------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
def test_a_chat_server_that_is_down_is_unavailable(stream):
    """503, and when to try again."""
    with serving(Settings(upstream="http://127.0.0.1:9/v1")) as url:
        got = ask(url, model="m", input="Hi", stream=stream)

    assert 503 == got.status
    assert "cannot be reached" in got.error["message"]
    assert got.headers["retry-after"].isdigit()


def test_a_name_that_does_not_resolve_is_unavailable():
    """The same as a server that is down."""
    with serving(Settings(upstream="http://nowhere.invalid/v1")) as url:
        got = ask(url, model="m", input="Hi")

    assert 503 == got.status


def test_a_chat_server_that_does_not_connect_is_a_timeout(server):
    """The same as one that is silent, but found out sooner."""
    with gateway(server, connect_timeout=1e-9) as url:
        got = ask(url, model="plain", input="Hi")

    assert 504 == got.status
    assert "could not be reached in time" in got.error["message"]


def test_a_silent_chat_server_is_a_timeout(server):
    """504 before the first byte, `response.failed` after it."""
    with gateway(server, first_byte_timeout=0.1) as url:
        before = ask(url, model="mute", input="Hi", stream=True)
    with gateway(server, idle_timeout=0.1) as url:
        after = ask(url, model="silent", input="Hi", stream=True)

    assert 504 == before.status
    assert "failed" == after.response["status"]
    assert "silent for too long" in after.response["error"]["message"]

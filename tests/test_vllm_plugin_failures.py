"""Error bodies of vLLM, at the edge of its application.

The application is a stand-in that answers what a test says: the bodies were recorded from
vLLM 0.32.
"""

from __future__ import annotations

import asyncio
import json

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse

from responses_stream.vllm_plugin.failures import Edge
from responses_stream.vllm_plugin.routes import no_websocket, said_invalid


def answered(status, *bodies, path="/v1/responses", headers=()):
    """The messages that reach the server, if the application answers this."""
    sent = []

    async def app(_scope, _receive, send):
        start = {"type": "http.response.start", "status": status, "headers": list(headers)}
        await send(start)
        for number, body in enumerate(bodies, 1):
            more = number < len(bodies)
            await send({"type": "http.response.body", "body": body, "more_body": more})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": path, "headers": []}
    asyncio.run(Edge(app)(scope, None, send))
    return sent


def vllm_error(message, kind, code, param=None):
    """An error as vLLM says it."""
    error = {"message": message, "type": kind, "param": param, "code": code}
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            400,
            vllm_error(
                "max_tokens must be at least 1", "BadRequestError", 400, "max_tokens"
            ),
            ("invalid_request_error", "invalid_prompt", "max_tokens"),
        ),
        (
            400,
            vllm_error("maximum context length is 9", "BadRequestError", 400, "input"),
            ("invalid_request_error", "context_length_exceeded", "input"),
        ),
        (
            404,
            vllm_error("The model `x` does not exist.", "NotFoundError", 404, "model"),
            ("invalid_request_error", "model_not_found", "model"),
        ),
        (
            404,
            vllm_error("Response with id 'r' not found.", "invalid_request_error", 404),
            ("invalid_request_error", "not_found", None),
        ),
        (
            401,
            b'{"error":"Unauthorized"}',
            ("authentication_error", "invalid_api_key", None),
        ),
        (405, b'{"detail":"Not"}', ("invalid_request_error", "method_not_allowed", None)),
        (500, b"Internal Server Error", ("server_error", "server_error", None)),
    ],
)
def test_an_error(status, body, expected):
    """Each of vLLM's shapes becomes OpenAI's; the status stays."""
    start, said = answered(status, body[:9], body[9:])
    error = json.loads(said["body"])["error"]
    headers = dict(start["headers"])

    assert start["status"] == status
    assert (error["type"], error["code"], error["param"]) == expected
    assert error["message"]
    assert headers[b"content-length"] == str(len(said["body"])).encode()
    assert headers[b"x-request-id"].startswith(b"req_")


def test_no_error():
    """What is right goes on as it comes, with an id."""
    start, *bodies = answered(200, b"a", b"b", headers=[(b"x-request-id", b"mine")])

    assert start["headers"] == [(b"x-request-id", b"mine")]
    assert [message["body"] for message in bodies] == [b"a", b"b"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses/render"])
def test_other_paths(path):
    """Other routes keep vLLM's errors."""
    body = vllm_error("no", "BadRequestError", 400)

    assert answered(400, body, path=path)[1]["body"] == body


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (
            [{"loc": ("body", "input"), "msg": "Field required", "type": "missing"}],
            ("input", "input: Field required"),
        ),
        (
            [
                {"loc": ("body", "tools", 0, "x"), "msg": "one", "type": "a"},
                {"loc": ("body", "tools", 0, "y"), "msg": "two", "type": "b"},
            ],
            ("tools", "tools: one (or 1 more ways to be right)"),
        ),
        (
            [{"loc": ("body", 1), "msg": "JSON decode error", "type": "json_invalid"}],
            (None, "the body is no JSON: JSON decode error"),
        ),
        ([], (None, "the request is invalid")),
    ],
)
def test_an_invalid_request(errors, expected):
    """Pydantic's list becomes one line."""
    assert said_invalid(errors) == expected


def test_a_websocket_is_declined_for_good():
    """By 426: codex takes any other status for a passing failure."""
    app = Starlette(routes=[WebSocketRoute("/v1/responses", no_websocket)])

    with (
        pytest.raises(WebSocketDenialResponse) as declined,
        TestClient(app).websocket_connect("/v1/responses"),
    ):
        raise AssertionError("it was accepted")

    assert declined.value.status_code == 426
    assert declined.value.headers["upgrade"] == "HTTP/1.1"

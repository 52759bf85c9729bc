"""The README's first command, and what curl sees of it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration

ASKED = {"model": "demo", "input": "Hello!", "stream": True}


def curl(*arguments: str) -> str:
    """What `curl` prints."""
    command = ["curl", "--silent", "--show-error", "--max-time", "20", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def ask(url: str, *arguments: str) -> tuple[dict[str, str], str]:
    """The headers and the body of a response."""
    said = curl("-N", "-i", f"{url}/responses", "--json", json.dumps(ASKED), *arguments)
    head, _, body = said.partition("\n\n")
    lines = [line.partition(": ") for line in head.splitlines()[1:]]
    return {name.lower(): value for name, _, value in lines}, body


@pytest.mark.parametrize("dialect", ["openai", "openresponses"])
def test_a_stream_is_clean(gateway, dialect):
    """`curl -N` shows a stream in which `responses-stream check` finds nothing."""
    _, body = ask(gateway("--dialect", dialect))
    command = [sys.executable, "-m", "responses_stream", "check", "-"]
    done = subprocess.run(command, input=body, capture_output=True, text=True, check=False)

    assert body.startswith("event: response.created\ndata: {")
    assert body.endswith("\n\ndata: [DONE]\n\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(" events, 0 errors, 0 warnings\n")


def test_headers(gateway):
    """Those that keep a stream a stream, and none that names a model."""
    headers, _ = ask(gateway())

    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-cache, no-transform"
    assert headers["x-accel-buffering"] == "no"
    assert headers["x-request-id"].startswith("req_")
    assert "openai-model" not in headers
    assert "content-length" not in headers


def test_without_stream(gateway):
    """The same, run to its end: one JSON document."""
    asked = json.dumps(ASKED | {"stream": False})
    response = json.loads(curl(f"{gateway()}/responses", "--json", asked))

    assert response["status"] == "completed"
    assert [item["type"] for item in response["output"]] == ["reasoning", "message"]


def test_other_routes(gateway):
    """Health, and the models in both of the lists that clients look for."""
    models = json.loads(curl(f"{gateway()}/models"))

    assert curl(gateway().replace("/v1", "/health")) == '{"status":"ok"}'
    assert [model["id"] for model in models["data"]] == ["demo"]
    assert [model["slug"] for model in models["models"]] == ["demo"]

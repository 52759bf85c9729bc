"""GET /metrics: what has been counted after exchanges of every kind."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from gateway_fixtures import server_of
from gateway_frames import END, HELLO, ROLE, STOP, Script, call, calls, chunk, said
from gateway_sockets import address, head
from gateway_world import ScriptedServer, ask, serving
from prometheus_client.parser import text_string_to_metric_families

from responses_stream.gateway.settings import Settings

SCRIPTS = {
    "plain": Script(HELLO),
    "long": Script((ROLE, *said(*"abcdefgh" * 50), STOP, *END)),
    "length": Script((ROLE, *said("Hi"), chunk(finish="length"), *END)),
    "error": Script((ROLE, *said("Hi"), b'data: {"error": {"message": "no"}}\n\n')),
    "refused": Script((b'{"error": "no"}',), status=404, framing="length"),
    "reset": Script((ROLE,), ending="reset"),
    "silent": Script((ROLE, *said("Hi")), ending="open"),
    "held": Script(
        (
            calls(call(0, "call_a", "f", "{")),
            calls(call(1, "call_b", "g", "x" * 500)),
        ),
        ending="open",
    ),
}

RESPONSES, CHAT = "/v1/responses", "/v1/chat/completions"

_server = server_of(SCRIPTS)


@pytest.fixture(name="url")
def _url(server: ScriptedServer) -> Iterator[str]:
    with serving(Settings(upstream=server.url, idle_timeout=0.5)) as url:
        yield url


def metrics(url: str) -> dict[tuple[str, ...], float]:
    """Each sample by its name, without what all have in common, and its labels' values."""
    got = httpx.get(url.removesuffix("/v1") + "/metrics")
    assert 200 == got.status_code
    assert got.headers["content-type"].startswith("text/plain")
    return {
        (
            sample.name.removeprefix("responses_stream_"),
            *sample.labels.values(),
        ): sample.value
        for family in text_string_to_metric_families(got.text)
        for sample in family.samples
    }


def answers(url: str) -> dict[tuple[str, ...], float]:
    """How the requests ended: by path, end and code."""
    found = {k: v for k, v in metrics(url).items() if k[0] == "answers_total"}
    # The labels come in the order of their names.
    return {(path, end, code): v for (_, code, end, path), v in found.items()}


def wait_for(url: str, key: tuple[str, ...], value: float) -> dict[tuple[str, ...], float]:
    """The metrics, once one of them has this value."""
    deadline = time.monotonic() + 10
    while (found := metrics(url)).get(key) != value:
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def test_a_new_gateway_has_counted_nothing(url):
    """But tells of itself: its memory, its descriptors."""
    found = metrics(url)

    assert 0 == found["open_streams",]
    assert 0 == found["held_characters",]
    assert 0 == found["clients_gone_total",]
    assert 0 < found["process_resident_memory_bytes",]
    assert 0 < found["process_open_fds",]


@pytest.mark.parametrize("model", ["plain", "long", "error"])
def test_events_are_counted_by_type(url, model):
    """As many as went over the wire."""
    got = ask(url, model=model, input="Hi", stream=True)
    sent = Counter(event["type"] for event in got.events)
    found = {key[1]: v for key, v in metrics(url).items() if key[0] == "events_total"}

    assert sent == found


@pytest.mark.parametrize(
    ("asked", "ends"),
    [
        ({"model": "plain"}, (RESPONSES, "completed", "")),
        ({"model": "plain", "stream": True}, (RESPONSES, "completed", "")),
        ({"model": "length"}, (RESPONSES, "incomplete", "max_output_tokens")),
        (
            {"model": "length", "stream": True},
            (RESPONSES, "incomplete", "max_output_tokens"),
        ),
        ({"model": "error", "stream": True}, (RESPONSES, "failed", "server_error")),
        ({"model": "error"}, (RESPONSES, "refused", "server_error")),
        ({"model": "refused", "stream": True}, (RESPONSES, "refused", "model_not_found")),
        ({"model": "plain", "input": 5}, (RESPONSES, "refused", "invalid_request_error")),
        ({"model": "plain", "path": "/chat/completions"}, (CHAT, "completed", "")),
        (
            {"model": "error", "path": "/chat/completions"},
            (CHAT, "refused", "server_error"),
        ),
        (
            {"model": "error", "path": "/chat/completions", "stream": True},
            (CHAT, "failed", "server_error"),
        ),
    ],
    ids=str,
)
def test_answers_are_counted_by_their_end(url, asked, ends):
    """And by the code of what went wrong. A client that has it all is not gone."""
    ask(url, **{"input": "Hi", **asked})

    assert {ends: 1} == answers(url)
    assert 0 == metrics(url)["clients_gone_total",]


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("error", "answer"),
        ("refused", "status"),
        ("reset", "broke_off"),
        ("silent", "timeout"),
    ],
)
@pytest.mark.parametrize("path", ["/responses", "/chat/completions"])
@pytest.mark.parametrize("stream", [True, False])
def test_errors_of_the_chat_server_are_counted_by_kind(url, model, kind, path, stream):
    """However they are told to the client."""
    ask(url, path, model=model, input="Hi", stream=stream)
    found = {k: v for k, v in metrics(url).items() if k[0] == "upstream_errors_total"}

    assert {("upstream_errors_total", kind): 1} == found


def test_a_chat_server_that_is_down_is_counted():
    """It could not be reached."""
    with serving(Settings(upstream="http://127.0.0.1:9/v1")) as url:
        ask(url, model="m", input="Hi")

        assert 1 == metrics(url)["upstream_errors_total", "unreachable"]


def test_time_is_measured(url):
    """To the first delta, and to the end."""
    ask(url, model="long", input="Hi", stream=True)
    found = metrics(url)

    assert 1 == found["first_delta_seconds_count",]
    assert 1 == found["answer_seconds_count", RESPONSES]
    assert 0 < found["first_delta_seconds_sum",] <= found["answer_seconds_sum", RESPONSES]


def test_a_failure_without_a_delta_has_no_time_to_it(url):
    """Nothing was said."""
    ask(url, model="reset", input="Hi", stream=True)

    assert 0 == metrics(url)["first_delta_seconds_count",]


def test_what_is_open_and_what_is_held_is_told(server):
    """While it is; and a client that hangs up is counted."""
    body: dict[str, Any] = {"model": "held", "input": "Hi", "stream": True}
    with serving(Settings(upstream=server.url)) as url:
        with httpx.stream("POST", f"{url}/responses", json=body):
            found = wait_for(url, ("held_characters",), 500)
            assert 1 == found["open_streams",]
        found = wait_for(url, ("open_streams",), 0)

        assert 0 == found["held_characters",]
        assert 1 == found["clients_gone_total",]
        assert {(RESPONSES, "gone", ""): 1} == answers(url)


def test_a_client_that_hangs_up_within_its_request_is_gone(server):
    """It was never answered."""
    with serving(Settings(upstream=server.url)) as url:
        with socket.create_connection(address(url)) as client:
            client.sendall(head(9) + b"{")
            wait_for(url, ("open_streams",), 1)
        wait_for(url, ("clients_gone_total",), 1)

"""A stream of the gateway: its silence, its end when somebody hangs up, its live text."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import pytest
from gateway_fixtures import closed_gate, server_of, url_of
from gateway_frames import CALLED, END, HELLO, ROLE, STOP, Script, call, calls, said
from gateway_scripts import SCRIPTS
from gateway_sockets import address, head, post
from gateway_world import (
    REQUEST,
    Got,
    ScriptedServer,
    ask,
    gateway,
    said_in,
)
from helpers import errors

from responses_stream import FrameStream, SSEDecoder
from responses_stream.chat.reader import ChatReader
from responses_stream.gateway.answers import EventAnswer
from responses_stream.gateway.exchange import Exchange
from responses_stream.gateway.limits import OpenStreams
from responses_stream.gateway.settings import Settings
from responses_stream.gateway.upstream import Question

OWN = {
    # Silent for longer than the keep-alive of these tests, again and again.
    "slow": Script(HELLO, pause=0.06),
    "late": Script(HELLO, gate="head"),
    "late_refusal": Script(
        (json.dumps({"error": {"message": "no"}}).encode(),),
        status=400,
        framing="length",
        gate="head",
    ),
    "gated": Script(HELLO[1:], gate="rest"),
    "gated_call": Script(
        (
            calls(call(0, "call_a", "get_weather", '{"city":')),
            calls(call(0, arguments='"Paris"}')),
            CALLED,
            *END,
        ),
        gate="rest",
    ),
    "endless": Script((ROLE, *said(*"abcdefghij")), ending="open"),
    "silent": Script((ROLE,), ending="open"),
    "mute": Script((), gate="head"),
    "kept": Script(HELLO, keep=True),
    "pings_after_finish": Script(
        (ROLE, *said("Hello"), STOP, *[b": ping\n\n"] * 2000), pause=0.02
    ),
    "error_then_open": Script(
        (b'data: {"error": {"message": "died"}}\n\n',), ending="open"
    ),
}

_server = server_of({**SCRIPTS, **OWN})
_closed_gate = closed_gate()
_url = url_of(linger=0.2)


# Silence ------------------------------------------------------------------------------


def in_progress(got: Any) -> int:
    return sum(wire["type"] == "response.in_progress" for wire in got.events)


def test_a_silent_line_is_kept_alive_by_events(server):
    """`response.in_progress` again and again, numbered, and still a clean transcript."""
    with gateway(server, keep_alive=0.02) as url:
        got = ask(url, model="slow", input="Hi", stream=True)

    assert in_progress(got) > 3
    assert [] == errors(got.events)
    assert "Hello" == said_in(got.response["output"], "message")


@pytest.mark.parametrize(
    "settings", [{"keep_alive_mode": "comment"}, {"dialect": "openresponses"}], ids=repr
)
def test_a_silent_line_is_kept_alive_by_comments(server, settings):
    """Where that is asked for, and where a second in_progress would be an error."""
    with gateway(server, keep_alive=0.02, **settings) as url:
        got = ask(url, model="slow", input="Hi", stream=True)

    assert got.body.count(b": keep-alive\n\n") > 3
    assert 1 == in_progress(got)


def test_a_silent_line_may_be_left_alone(server):
    """Mode `none` sends nothing of its own."""
    with gateway(server, keep_alive=0.02, keep_alive_mode="none") as url:
        got = ask(url, model="slow", input="Hi", stream=True)

    assert b"keep-alive" not in got.body
    assert 1 == in_progress(got)


def behind_a_gate(server: ScriptedServer, url: str, model: str) -> Got:
    """Opens the gate only when our headers are there."""
    body = {"model": model, "input": "Hi", "stream": True}
    with httpx.stream("POST", f"{url}/responses", json=body, timeout=20) as response:
        server.gate.set()
        return Got(response.status_code, response.headers, response.read())


def test_a_long_prefill_is_covered(server):
    """Our headers leave after one interval, even if the chat server has sent none."""
    with gateway(server, keep_alive=0.02) as url:
        got = behind_a_gate(server, url, "late")

    assert "Hello" == said_in(got.response["output"], "message")


def test_an_early_refusal_keeps_its_status(server, url):
    """Within the first interval there is nothing that would have to be taken back."""
    server.gate.set()

    assert 400 == ask(url, model="late_refusal", input="Hi", stream=True).status


def test_a_late_refusal_fails_the_stream(server):
    """What comes after our headers can only be an event."""
    with gateway(server, keep_alive=0.02) as url:
        got = behind_a_gate(server, url, "late_refusal")

    assert 200 == got.status
    assert "invalid_prompt" == got.response["error"]["code"]


# Hanging up ---------------------------------------------------------------------------


def hang_up_after(url: str, body: dict[str, Any], seen: bytes) -> None:
    """Reads until `seen` has come, then closes the connection."""
    with socket.create_connection(address(url)) as client:
        post(client, **body)
        got = b""
        while seen not in got:
            got += client.recv(65536)


def seconds_to_cancel(server: ScriptedServer, hang_up: Callable[[], None]) -> float:
    """The best of three: other processes may have kept the machine from being fast."""
    took = []
    for _ in range(3):
        before = len(server.asked)
        hang_up()
        hung_up_at = time.monotonic()
        asked = server.asked[before]
        assert asked.hung_up.wait(5)
        took.append(asked.hung_up_at - hung_up_at)
    return min(took)


@pytest.mark.parametrize("model", ["endless", "silent"])
def test_hanging_up_cancels_within_100_ms(server, url, model):
    """The chat server sees its connection close, whether it is speaking or not."""
    body = {"model": model, "input": "Hi", "stream": True}

    def hang_up() -> None:
        hang_up_after(url, body, b"response.in_progress")

    assert seconds_to_cancel(server, hang_up) < 0.1


@pytest.mark.parametrize("stream", [True, False])
def test_hanging_up_cancels_before_the_headers_too(server, url, stream):
    """Also while nothing has come of the request yet, and without `stream`."""
    body = {"model": "mute", "input": "Hi", "stream": stream}

    def hang_up() -> None:
        before, deadline = len(server.asked), time.monotonic() + 5
        with socket.create_connection(address(url)) as client:
            post(client, **body)
            while len(server.asked) == before and time.monotonic() < deadline:
                time.sleep(0.002)
            client.settimeout(0.05)
            with pytest.raises(TimeoutError):
                client.recv(1)

    assert seconds_to_cancel(server, hang_up) < 0.1


def test_hanging_up_after_the_end_is_normal(url, caplog):
    """codex always does; nothing is logged, and the next request is served."""
    body = {"model": "plain", "input": "Hi", "stream": True}
    hang_up_after(url, body, b"response.completed")

    assert 200 == ask(url, **body).status
    assert [] == caplog.records


def test_hanging_up_within_the_request_is_normal(url, caplog):
    """Half a body asks nothing."""
    with socket.create_connection(address(url)) as client:
        client.sendall(head(9) + b"{")

    assert 200 == ask(url, model="plain", input="Hi").status
    assert [] == caplog.records


def test_a_failed_stream_ends_at_once(url):
    """codex acts on `response.failed` only when the body ends (codex.md section 5)."""
    begun = time.monotonic()
    got = ask(url, model="error_then_open", input="Hi", stream=True)

    assert "failed" == got.response["status"]
    assert time.monotonic() - begun < 5


def test_a_server_that_pings_after_the_finish_is_left(url):
    """It is not silent, but it has said all; `ask` would not wait for its end."""
    got = ask(url, model="pings_after_finish", input="Hi", stream=True)

    assert "completed" == got.response["status"]


# Live text ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "delta"),
    [
        ("gated", b"response.output_text.delta"),
        ("gated_call", b"response.function_call_arguments.delta"),
    ],
)
def test_a_delta_leaves_before_the_second_chunk_has_come(server, url, model, delta):
    """Although tools are present (clients.md 5.1, 53), nothing is held back."""
    body = {"model": model, "stream": True, **REQUEST}
    seen = b""
    with httpx.stream("POST", f"{url}/responses", json=body) as response:
        chunks = response.iter_raw()
        while delta not in seen:
            seen += next(chunks)
        assert not server.gate.is_set()
        server.gate.set()
        seen += b"".join(chunks)

    assert b"response.completed" in seen


def test_what_is_ready_together_leaves_together(url):
    """One write for all events of one write of the chat server."""
    body = {"model": "one_write", "input": "Hi", "stream": True}
    with httpx.stream("POST", f"{url}/responses", json=body) as response:
        pieces = list(response.iter_raw())

    # created and in_progress; all the rest.
    assert len(pieces) <= 2
    assert len(SSEDecoder().feed(b"".join(pieces))) > 8


def test_many_are_served_at_once(server, url):
    """The title request of codex's TUI runs beside the first turn."""
    before = len(server.asked)

    async def main() -> list[int]:
        async with httpx.AsyncClient(timeout=20) as client:
            body = {"model": "gated", "input": "Hi", "stream": True}
            asked = [
                asyncio.ensure_future(client.post(f"{url}/responses", json=body))
                for _ in range(20)
            ]
            while len(server.asked) < before + 20:  # noqa: ASYNC110
                await asyncio.sleep(0.002)
            server.gate.set()
            return [got.status_code for got in await asyncio.gather(*asked)]

    assert [200] * 20 == asyncio.run(main())


# Behind the scenes --------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/responses", "/chat/completions"])
@pytest.mark.parametrize("stream", [True, False])
def test_connections_to_the_chat_server_are_kept(server, path, stream):
    """The next request uses the one before's."""
    before = server.connections
    with gateway(server) as url:
        for _ in range(3):
            ask(url, path, model="kept", input="Hi", messages=[], stream=stream)
            # The end of the body comes behind [DONE].
            time.sleep(0.05)

    assert 1 == server.connections - before


@pytest.mark.parametrize("stream", [True, False])
def test_a_bug_of_ours_is_told_and_logged(url, monkeypatch, caplog, stream):
    """Even then a stream has its end, and nobody sees a traceback."""

    def broken(*_: object) -> None:
        message = "secret"
        raise RuntimeError(message)

    monkeypatch.setattr(ChatReader, "feed", broken)
    got = ask(url, model="plain", input="Hi", stream=stream)

    assert (200 if stream else 500) == got.status
    assert "the gateway broke" in got.response["error"]["message"]
    assert b"secret" not in got.body
    if stream:  # Otherwise the server itself logs it.
        assert "secret" in caplog.text


def test_a_client_that_does_not_read_is_not_kept_alive():
    """What it has not read yet would only pile up."""

    class Reply:
        async def read(self) -> bytes:
            return HELLO[1]

        def finish(self) -> None:
            raise AssertionError

    class Endless:
        @asynccontextmanager
        async def chat(self, *_: object) -> AsyncIterator[Reply]:
            yield Reply()

    async def main() -> list[bytes]:
        stream = FrameStream({}, order="interleaved")
        question = Question(Endless(), b"", {}, Exchange("req_1", "/"), OpenStreams(0, 0))  # type: ignore[arg-type]
        answer = EventAnswer(question, stream, Settings(keep_alive=0.001))
        sent: list[bytes] = []

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))
            if len(sent) > 3:
                await asyncio.sleep(30)

        with suppress(TimeoutError):
            await asyncio.wait_for(answer.answer(send), 0.1)
        return sent

    # Headers, the first events, two deltas; the last of them is still waiting.
    sent = asyncio.run(main())
    assert 4 == len(sent)
    assert b"response.in_progress" not in b"".join(sent[2:])

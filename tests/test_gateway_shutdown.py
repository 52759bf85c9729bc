"""The end of a gateway: what happens to its streams when the process is told to go."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx
import pytest
from gateway_fixtures import closed_gate, server_of
from gateway_frames import HELLO, ROLE, Script, chunk, said
from gateway_process import Running, running
from gateway_sockets import address, all_of, head, narrow, post
from gateway_world import Got, ScriptedServer, ask
from helpers import errors

from responses_stream.gateway.app import create_app
from responses_stream.gateway.limits import OpenStreams
from responses_stream.gateway.settings import Settings

SCRIPTS = {
    "plain": Script(HELLO),
    "gated": Script(HELLO, gate="rest"),
    "endless": Script((ROLE, *said(*"abcdefghij" * 1000)), pause=0.02),
    "mute": Script((), gate="head"),
    "flood": Script((ROLE, *[chunk({"content": "x" * 60_000})] * 2000), pause=1e-4),
}

SIGNALS = [signal.SIGTERM, signal.SIGINT]

_server = server_of(SCRIPTS)
_closed_gate = closed_gate()


def in_front_of(server: ScriptedServer, *options: str) -> AbstractContextManager[Running]:
    return running("--upstream", server.url, *options)


@contextmanager
def streaming(url: str, path: str = "/responses", **body: Any) -> Iterator[httpx.Response]:
    """A stream whose headers have come."""
    body = {"input": "Hi", "stream": True, **body}
    with httpx.stream("POST", url + path, json=body, timeout=20) as response:
        yield response


def rest_of(response: httpx.Response) -> Got:
    return Got(response.status_code, response.headers, response.read())


@pytest.mark.parametrize("number", SIGNALS)
def test_without_streams_it_ends_at_once(server, number):
    """Also while a client keeps an idle connection."""
    with in_front_of(server) as gateway, httpx.Client() as client:
        client.get(f"{gateway.url}/models")
        begun = time.monotonic()
        gateway.tell(number)
        said = gateway.end()

    assert time.monotonic() - begun < 10
    assert "All streams have ended." in said


@pytest.mark.parametrize("number", SIGNALS)
def test_an_open_stream_may_finish(server, number):
    """As if nothing had happened; whoever looks at the terminal is told what goes on."""
    with in_front_of(server) as gateway, streaming(gateway.url, model="gated") as response:
        gateway.tell(number)
        server.gate.set()
        got = rest_of(response)
        said = gateway.end()

    assert "completed" == got.response["status"]
    assert "1 open streams may finish, for up to 20 s" in said


def test_after_the_grace_time_a_stream_fails(server):
    """With the code that makes codex run the turn again (codex.md section 5)."""
    with in_front_of(server, "--grace", "0.3") as gateway:
        with streaming(gateway.url, model="endless") as response:
            gateway.tell()
            got = rest_of(response)
        said = gateway.end()

    assert server.asked[-1].hung_up.wait(5)
    assert [] == errors(got.events)
    assert "failed" == got.response["status"]
    assert "server_error" == got.response["error"]["code"]
    assert "shutting down" in got.response["error"]["message"]
    assert "Ending 1 open streams." in said


def test_after_the_grace_time_a_chat_stream_fails(server):
    """As a chat server would say it."""
    with in_front_of(server, "--grace", "0") as gateway:
        with streaming(gateway.url, "/chat/completions", model="endless") as response:
            gateway.tell()
            body = response.read()
        gateway.end()

    *_, last, done, nothing = body.split(b"\n\n")
    assert (b"data: [DONE]", b"") == (done, nothing)
    assert "server_error" == json.loads(last.removeprefix(b"data: "))["error"]["code"]


def test_a_second_signal_ends_the_grace_time(server):
    """For who does not want to wait."""
    with in_front_of(server, "--grace", "600") as gateway:
        with streaming(gateway.url, model="endless") as response:
            gateway.tell(signal.SIGINT)
            gateway.process.send_signal(signal.SIGINT)
            got = rest_of(response)
        gateway.end()

    assert "failed" == got.response["status"]


def test_an_answer_that_has_not_begun_is_unavailable(server):
    """503 with `Retry-After`, and the connection is closed behind it."""
    before = len(server.asked)
    with in_front_of(server, "--grace", "0.2") as gateway:
        with socket.create_connection(address(gateway.url)) as client:
            post(client, model="mute")
            while len(server.asked) == before:
                time.sleep(0.01)
            gateway.tell()
            got = all_of(client).lower()
        gateway.end()

    assert got.startswith(b"http/1.1 503 ")
    assert b"\r\nretry-after: 2\r\n" in got
    assert b"\r\nconnection: close\r\n" in got
    assert b"shutting down" in got


@pytest.mark.parametrize(
    "sent", [b"POST /v1/resp", b"{", None], ids=["head", "body", "all"]
)
def test_a_client_that_does_not_go_on_does_not_stop_it(server, sent):
    """Whether it does not send its request, or does not read the answer."""
    body = json.dumps({"model": "flood", "input": "Hi", "stream": True}).encode()
    with in_front_of(server, "--grace", "0.3") as gateway, narrow(gateway.url) as client:
        client.sendall(sent if sent == b"POST /v1/resp" else head(len(body)))
        client.sendall(b"" if sent == b"POST /v1/resp" else sent or body)
        time.sleep(0.5)
        gateway.tell()
        gateway.end()


def test_a_request_that_comes_too_late_is_refused():
    """503: an open connection may bring one before it is closed."""

    async def main() -> httpx.Response:
        app = create_app(Settings())
        app.state.streams.close()
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            return await client.post("/v1/responses", json={"model": "m", "input": "Hi"})

    got = asyncio.run(main())

    assert 503 == got.status_code
    assert "2" == got.headers["retry-after"]
    assert "shutting down" in got.json()["error"]["message"]


def test_ending_twice_is_ending_once():
    """Neither what is over, nor what is just being ended, minds."""

    async def main() -> list[str]:
        streams = OpenStreams(9, 600)
        ended = []

        async def stream() -> None:
            try:
                async with streams.timed():
                    await asyncio.sleep(60)
            except Exception as error:  # noqa: BLE001 - which, the test asks
                ended.append(f"{type(error).__name__}: {error}")

        async with asyncio.TaskGroup() as group:
            group.create_task(stream())
            await asyncio.sleep(0)
            streams.end()
            streams.end()
            await asyncio.sleep(0.01)
            streams.end()
        return ended

    assert ["Refused: the gateway is shutting down; please ask again"] == asyncio.run(
        main()
    )


def test_after_an_end_a_gateway_serves_again(server):
    """A new process on the same port, at once."""
    with in_front_of(server) as gateway:
        _, port = address(gateway.url)
        assert 200 == ask(gateway.url, model="plain", input="Hi").status
        gateway.tell()
        gateway.end()
        with in_front_of(server, "--port", str(port)) as second:
            assert 200 == ask(second.url, model="plain", input="Hi").status

"""The bounds of a gateway: how much, how many, how long; and clients that do not read."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import httpx
import msgspec
import pytest
from gateway_fixtures import closed_gate, server_of
from gateway_frames import HELLO, ROLE, Script, call, calls, chunk, said, with_choice
from gateway_sockets import address, all_of, head, narrow, post
from gateway_world import Asked, ScriptedServer, ask, gateway
from helpers import errors

from responses_stream import SSEDecoder
from responses_stream.chat.limits import AnswerLimits
from responses_stream.gateway.connection import MAX_HEAD

BIG = chunk({"content": "x" * 60_000})


def whole(size: int) -> Script:
    message = {"role": "assistant", "content": "x" * size}
    told = with_choice(message=message, finish_reason="stop")
    return Script((json.dumps(told).encode(),), framing="length")


SCRIPTS = {
    "plain": Script(HELLO),
    "mute": Script((), gate="head"),
    "gated": Script(HELLO, gate="rest"),
    "silent": Script((ROLE, *said("Hi")), ending="open"),
    "endless": Script((ROLE, *said(*"abcdefghij" * 100)), pause=0.02),
    "flood": Script((ROLE, *[BIG] * 2000), pause=1e-4),
    "big_event": Script((ROLE, BIG)),
    "long": whole(10_000_000),
    # As much as fits below asyncio's high water, behind what the system takes.
    "short": whole(90_000),
    "held": Script(
        (
            calls(call(0, "call_a", "f", "{")),
            *[calls(call(1, "call_b", "g", "x" * 50)) for _ in range(9)],
        )
    ),
}

_server = server_of(SCRIPTS)
_closed_gate = closed_gate()


@contextmanager
def unread(
    url: str, path: str = "/v1/responses", **request: Any
) -> Iterator[socket.socket]:
    """A `narrow` client that has asked, for a stream unless told otherwise."""
    with narrow(url) as client:
        post(client, path, **{"stream": True, **request})
        yield client


def events_of(body: bytes) -> list[dict[str, Any]]:
    """The events of a raw HTTP answer, chunked, up to where it was cut."""
    _, _, rest = body.partition(b"\r\n\r\n")
    data = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        data += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    frames = [frame.data for frame in SSEDecoder().feed(data)]
    return [msgspec.json.decode(frame) for frame in frames if frame != "[DONE]"]


# How much -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "limits", "says"),
    [
        ("big_event", AnswerLimits(max_event=50_000), "an event of"),
        ("endless", AnswerLimits(max_answer=2_000), "an answer of"),
        ("held", AnswerLimits(max_held=300), "characters wait"),
        ("held", AnswerLimits(max_calls=1), "more than 1 calls"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_beyond_a_limit_fails(server, model, limits, says, stream):
    """As an event, or as an HTTP status; and the chat server is left."""
    with gateway(server, answer=limits) as url:
        got = ask(url, model=model, input="Hi", stream=stream)

        assert server.asked[-1].hung_up.wait(5)
    if stream:
        assert [] == errors(got.events)
        assert "server_error" == got.response["error"]["code"]
        assert says in got.response["error"]["message"]
    else:
        assert 502 == got.status
        assert says in got.error["message"]


# How many -----------------------------------------------------------------------------


def test_more_streams_than_allowed_are_told_to_wait(server):
    """429 with `Retry-After`, without which codex would give up; until one has ended."""
    body = {"model": "gated", "input": "Hi", "stream": True}
    with gateway(server, max_streams=2) as url, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(httpx.stream("POST", f"{url}/responses", json=body))
        refused = ask(url, model="plain", input="Hi")
        chat = ask(url, "/chat/completions", model="plain", messages=[])
        listed = httpx.get(f"{url}/models").status_code
        stack.close()
        deadline = time.monotonic() + 5
        while (later := ask(url, model="plain", input="Hi")).status == 429:
            assert time.monotonic() < deadline

    assert [429, 429] == [refused.status, chat.status]
    assert "2" == refused.headers["retry-after"]
    assert "rate_limit_exceeded" == refused.error["code"]
    assert "rate_limit_error" == refused.error["type"]
    assert "2 streams are open" in refused.error["message"]
    assert 200 == listed
    assert 200 == later.status


def test_a_request_that_is_being_sent_counts(server):
    """Its body takes memory, too."""
    with (
        gateway(server, max_streams=1) as url,
        socket.create_connection(address(url)) as client,
    ):
        client.sendall(head(100) + b"{")
        deadline = time.monotonic() + 5
        while ask(url, model="plain", input="Hi").status != 429:
            assert time.monotonic() < deadline


# How long -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "setting", "says"),
    [
        ("mute", "first_byte_timeout", "was silent for too long"),
        ("mute", "total_timeout", "took longer than the 0.1 s"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_that_does_not_begin_is_a_gateway_timeout(
    server, model, setting, says, stream
):
    """504, as nothing has been sent yet."""
    with gateway(server, **{setting: 0.1}) as url:
        got = ask(url, model=model, input="Hi", stream=stream)

        assert server.asked[-1].hung_up.wait(5)
    assert 504 == got.status
    assert says in got.error["message"]


@pytest.mark.parametrize(
    ("model", "setting", "says"),
    [
        ("silent", "idle_timeout", "was silent for too long"),
        ("silent", "total_timeout", "took longer than the 0.3 s"),
        ("endless", "total_timeout", "took longer than the 0.3 s"),
    ],
)
def test_an_answer_that_does_not_end_fails(server, model, setting, says):
    """What was said until then is there, and the chat server is left."""
    with gateway(server, **{setting: 0.3}) as url:
        got = ask(url, model=model, input="Hi", stream=True)

        assert server.asked[-1].hung_up.wait(5)
    assert [] == errors(got.events)
    assert "server_error" == got.response["error"]["code"]
    assert says in got.response["error"]["message"]
    assert "incomplete" == got.response["output"][0]["status"]


def test_silence_before_the_first_byte_is_another_matter(server):
    """A long prompt may take longer than any pause behind it."""
    with gateway(server, idle_timeout=0.05, first_byte_timeout=20) as url:
        threading.Timer(0.4, server.gate.set).start()
        got = ask(url, model="mute", input="Hi", stream=True)

    # It was waited for; what came then was nothing.
    assert "is empty" in got.response["error"]["message"]


@pytest.mark.parametrize("sent", [b"", b"POST /v1/resp", head(100)[:-2]], ids=repr)
def test_a_head_that_does_not_come_ends_the_connection(server, sent):
    """Whatever there is of it."""
    with (
        gateway(server, request_timeout=0.2) as url,
        socket.create_connection(address(url)) as client,
    ):
        client.sendall(sent)
        client.settimeout(10)

        assert b"" == client.recv(100)


def test_a_body_that_does_not_come_is_a_timeout(server):
    """408, and no more is read."""
    with (
        gateway(server, request_timeout=0.2) as url,
        socket.create_connection(address(url)) as client,
    ):
        client.sendall(head(100) + b"{")
        client.settimeout(10)
        got = all_of(client)

    assert got.startswith(b"HTTP/1.1 408 ")
    assert b"longer than 0.2 s" in got


@pytest.mark.parametrize(
    "sent",
    [
        b"x-long: " + b"x" * 2 * MAX_HEAD,
        b"x: y\r\n" * MAX_HEAD,
    ],
    ids=["one", "many"],
)
def test_a_head_without_end_is_refused(server, sent):
    """431, after a bounded number of bytes."""
    with gateway(server) as url, socket.create_connection(address(url)) as client:
        client.settimeout(10)
        try:
            client.sendall(b"POST /v1/responses HTTP/1.1\r\nhost: x\r\n" + sent)
            got = client.recv(1000)
        except ConnectionError:
            got = b"HTTP/1.1 431 "  # It hung up while we were still sending.

    assert got.startswith(b"HTTP/1.1 431 ")


def test_trailers_without_end_end_the_connection(server):
    """A chunked request may have some, and uvicorn would keep them all."""
    with gateway(server) as url, socket.create_connection(address(url)) as client:
        client.settimeout(10)
        client.sendall(
            b"POST /v1/responses HTTP/1.1\r\nhost: x\r\n"
            b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n"
        )
        with pytest.raises(ConnectionError):  # noqa: PT012 - sooner or later
            for _ in range(1000):
                client.sendall(b"x: y\r\n" * 1000)
            all_of(client)


def test_a_body_in_small_chunks_is_welcome(server):
    """Their framing may weigh as much as they do."""
    body = json.dumps({"model": "plain", "input": "x" * 200_000}).encode()
    pieces = (body[at : at + 8] for at in range(0, len(body), 8))
    with gateway(server) as url:
        got = httpx.post(f"{url}/responses", content=pieces, timeout=30)

    assert 200 == got.status_code


# Clients that do not read -------------------------------------------------------------


def last_asked(server: ScriptedServer, before: int) -> Asked:
    """The request that has come since."""
    deadline = time.monotonic() + 10
    while len(server.asked) == before:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return server.asked[-1]


def test_a_client_that_does_not_read_stops_the_chat_server(server):
    """Backpressure reaches it: of 120 MB it can send what two systems hold, and no more."""
    before = len(server.asked)
    with gateway(server) as url, unread(url, model="flood"):
        asked = last_asked(server, before)
        sent = 0
        while sent != asked.sent:
            sent = asked.sent
            time.sleep(0.7)

        assert sent < 10_000_000
        assert not asked.hung_up.is_set()


def test_a_client_that_does_not_read_is_left(server):
    """Its connection ends, and with it the chat server's work."""
    before = len(server.asked)
    with gateway(server, read_timeout=0.3) as url, unread(url, model="flood"):
        assert last_asked(server, before).hung_up.wait(20)


def test_a_client_that_reads_slowly_is_not_left(server):
    """Each time it has read a little, it has as much time again."""
    before = len(server.asked)
    with gateway(server, read_timeout=0.5) as url, unread(url, model="flood") as client:
        got = 0
        until = time.monotonic() + 3
        while time.monotonic() < until:
            got += len(client.recv(20_000))
            time.sleep(0.02)

        assert not last_asked(server, before).hung_up.is_set()
    assert got > 200_000


def test_a_client_that_reads_late_misses_nothing(server):
    """What was on its way when the time was up comes before the failure."""
    with gateway(server, total_timeout=1.5) as url, unread(url, model="flood") as client:
        client.settimeout(20)
        # By then all buffers are full, and a write waits.
        time.sleep(2)
        events = events_of(all_of(client))

    assert "response.failed" == events[-1]["type"]
    assert "took longer" in events[-1]["response"]["error"]["message"]
    assert [] == errors(events)


@pytest.mark.parametrize(("model", "size"), [("long", 10_000_000), ("short", 90_000)])
def test_an_answer_that_was_not_read_does_not_keep_its_connection(server, model, size):
    """Also when all of it has been made, and only waits to be read."""
    with (
        gateway(server, read_timeout=0.3) as url,
        unread(url, path="/v1/chat/completions", model=model, stream=False) as client,
    ):
        client.settimeout(10)
        time.sleep(2)
        got = 0
        with suppress(ConnectionError):
            while data := client.recv(1_000_000):
                got += len(data)

    assert 0 < got < size

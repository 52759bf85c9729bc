"""Clients that leave a real vLLM server, or read slowly, and what it does about them."""

from __future__ import annotations

import json
import socket
import time
from contextlib import ExitStack, closing

import pytest
from vllm_endless import PLACES, endless, until
from vllm_server import vllm_fixture, wait_until  # noqa: F401

from responses_stream.recorded import read

pytestmark = pytest.mark.integration

FEW = 30_000
"""Fewer tokens than an endless answer would have."""


def rests(vllm):
    """Whether it works for nobody, and knows it."""
    idle = vllm.metric("num_requests_running{") == vllm.metric("num_requests_waiting{") == 0
    return idle and vllm.get("/load").object["server_load"] == 0


@pytest.fixture(name="nothing_is_left")
def _nothing_is_left(vllm):
    """The engine rests afterwards, and every socket is closed."""
    wait_until(lambda: rests(vllm))
    # The last question's own connection is to be closed, too.
    time.sleep(0.5)
    before = vllm.descriptors
    tokens = vllm.metric("generation_tokens_total{")
    yield
    wait_until(lambda: rests(vllm))
    wait_until(lambda: vllm.descriptors == before)
    assert vllm.metric("generation_tokens_total{") < tokens + FEW


@pytest.mark.usefixtures("nothing_is_left")
@pytest.mark.parametrize("place", PLACES)
def test_a_client_that_hangs_up(vllm, place):
    """Wherever the answer is, the engine stops."""
    with vllm.streaming(**endless(place)) as stream:
        until(stream, place)


@pytest.mark.usefixtures("nothing_is_left")
def test_many_clients_that_hang_up(vllm):
    """At once, in different places, more of them than the engine serves at a time."""
    with ExitStack() as stack:
        streams = [
            (stack.enter_context(vllm.streaming(**endless(place))), place)
            for place in [*PLACES, *PLACES]
        ]
        for stream, place in streams:
            until(stream, place)


@pytest.mark.usefixtures("nothing_is_left")
@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_hangs_up_before_the_headers(vllm, stream):
    """The engine stops also for who has got nothing yet, or asked for no stream."""
    asked = json.dumps({"model": "tiny", "stream": stream, **endless("text")})
    head = f"POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: {len(asked)}\r\n"
    with closing(socket.create_connection(("127.0.0.1", vllm.port))) as client:
        client.sendall(f"{head}content-type: application/json\r\n\r\n{asked}".encode())
        if not stream:
            wait_until(lambda: vllm.metric("num_requests_running{") == 1)


@pytest.mark.usefixtures("nothing_is_left")
@pytest.mark.parametrize("place", PLACES)
def test_a_client_that_reads_late_and_slowly(vllm, place):
    """It gets all of the answer, in a clean transcript."""
    with vllm.streaming(**endless(place), max_output_tokens=600) as stream:
        body = until(stream, place)
        wait_until(lambda: rests(vllm))
        while piece := stream.read1(8192):
            body += piece
            time.sleep(0.01)
    recording = read(body)

    assert recording.findings == ()
    assert recording.events[-1]["type"] == "response.incomplete"
    assert recording.events[-1]["response"]["usage"]["output_tokens"] == 600

"""The end of a vLLM server. It must be the last of the tests that share it."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from vllm_endless import PLACES, endless, until
from vllm_server import SERVERS, vllm_fixture  # noqa: F401

from responses_stream.recorded import read

pytestmark = pytest.mark.integration

KINDS = {"reasoning": "reasoning", "text": "message", "call": "function_call"}
"""The item that is open, by place."""


def test_the_engine_dies(vllm):
    """Every stream ends with a failure, in the foreground and in the background."""
    background = {"background": True, "store": True}
    asked = [{**endless(place), **more} for place in PLACES for more in ({}, background)]
    places = [place for place in PLACES for _ in range(2)]
    with ExitStack() as stack:
        streams = [stack.enter_context(vllm.streaming(**request)) for request in asked]
        bodies = [until(*begun) for begun in zip(streams, places, strict=True)]
        vllm.kill_engine()
        bodies = [
            seen + stream.read() for seen, stream in zip(bodies, streams, strict=True)
        ]
    SERVERS.stop()

    for body, place in zip(bodies, places, strict=True):
        recording = read(body)
        last = recording.events[-1]
        assert recording.findings == ()
        assert last["type"] == "response.failed"
        assert last["response"]["error"]["code"] == "server_error"
        assert last["response"]["output"][-1]["type"] == KINDS[place]
        assert last["response"]["output"][-1]["status"] == "incomplete"

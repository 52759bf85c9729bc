"""The end of a vLLM server. It must be the last of the tests that share it."""

from __future__ import annotations

import pytest
from vllm_server import SERVERS, vllm_fixture  # noqa: F401

from responses_stream.recorded import read

pytestmark = pytest.mark.integration


def until_delta(response):
    """The body up to the first words."""
    seen = b""
    while b"output_text.delta" not in seen:
        seen += response.readline()
    return seen


def test_the_engine_dies(vllm):
    """Every stream ends with a failure, in the foreground and in the background."""
    background = {"background": True, "store": True}
    with (
        vllm.streaming(input="endless") as first,
        vllm.streaming(input="endless", **background) as second,
    ):
        streams = [first, second]
        bodies = [until_delta(stream) for stream in streams]
        vllm.kill_engine()
        bodies = [
            seen + stream.read() for seen, stream in zip(bodies, streams, strict=True)
        ]
    SERVERS.stop()

    for body in bodies:
        recording = read(body)
        assert recording.findings == ()
        assert recording.events[-1]["type"] == "response.failed"
        assert recording.events[-1]["response"]["error"]["code"] == "server_error"

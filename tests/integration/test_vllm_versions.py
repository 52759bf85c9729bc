"""The plugin in vLLMs that are not as expected. Each test has a server of its own."""

from __future__ import annotations

import textwrap

import pytest
from vllm_requests import CASES, said
from vllm_server import SERVERS, WITH_KEY

pytestmark = pytest.mark.integration


@pytest.fixture(name="vllm_with")
def _vllm_with(tmp_path):
    """Starts a server in which a general plugin of the test has changed vLLM."""

    def start(code: str, plugins: str, **environment: str):
        (tmp_path / "change_vllm.py").write_text(textwrap.dedent(code))
        entry = tmp_path / "change_vllm-0.dist-info"
        entry.mkdir()
        (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: change-vllm\n")
        (entry / "entry_points.txt").write_text(
            "[vllm.general_plugins]\nchange_vllm = change_vllm:change\n"
        )
        environment |= {"PYTHONPATH": str(tmp_path), "VLLM_PLUGINS": plugins}
        return SERVERS.get(environment)

    yield start
    SERVERS.stop()


def test_an_unknown_version(vllm_with):
    """vLLM's own path serves, and one warning says what was not as expected."""
    vllm = vllm_with(
        """
        from vllm.entrypoints.openai.responses.serving import OpenAIServingResponses

        core = OpenAIServingResponses.responses_stream_generator

        def generate(self, request, sampling_params, *args, novelty=None, **kwargs):
            return core(self, request, sampling_params, *args, **kwargs)

        def change():
            OpenAIServingResponses.responses_stream_generator = generate
        """,
        "responses_stream,change_vllm",
    )
    answer = vllm.ask(CASES["weather"].request)
    whole = vllm.ask(CASES["text"].request, stream=False)
    behind = vllm.ask(CASES["text"].request, background=True, store=True)
    replayed = vllm.get(f"/v1/responses/{behind.final['id']}?stream=true")
    warnings = [line for line in vllm.log.splitlines() if "is not as expected" in line]

    assert answer.events[-1]["type"] == "response.completed"
    assert "presence_penalty" in answer.final, "vLLM's own response object has this key"
    assert whole.object["status"] == "completed"
    assert replayed.body == behind.body
    assert len(warnings) == 1
    assert "responses_stream_generator takes (" in warnings[0]
    assert "novelty" in warnings[0]
    assert vllm.get("/v1/responses/resp_0").status == 404


def test_a_version_without_endpoint_plugins(vllm_with):
    """The same two steps hang on vLLM's own functions.

    On the way: vLLM's authentication is in force, and a silent line is kept alive.
    """
    vllm = vllm_with(
        """
        from vllm.entrypoints.openai.responses import api_router, serving

        from responses_stream.vllm_plugin.plugin import hang_on

        def change():
            hang_on(api_router, serving)
        """,
        "change_vllm",
        **WITH_KEY,
        RESPONSES_STREAM_KEEP_ALIVE="0.001",
    )
    answer = vllm.ask(CASES["weather"].request)
    vllm.key = "wrong"
    stranger = vllm.ask(CASES["weather"].request)

    assert answer.recording.findings == ()
    assert tuple(map(said, answer.final["output"])) == CASES["weather"].items
    beats = [event for event in answer.events if event["type"] == "response.in_progress"]
    assert len(beats) > 1
    assert stranger.status == 401
    assert stranger.object["error"]["code"] == "invalid_api_key"

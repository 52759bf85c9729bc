"""The same turns of the real codex before every backend that there is.

The demo model always is. A vLLM with the plugin and the tiny model counts for two: behind
the gateway it is asked for chat completions, without the gateway for responses.
"""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from urllib.request import urlopen

import pytest
import servers
from codex_client import Codex, wait_until
from codex_wire import HAS_VLLM

pytest_plugins = ["codex_fixtures"]
pytestmark = pytest.mark.integration

BACKENDS = ("demo", "chat", "plugin") if HAS_VLLM else ("demo",)

PROMPT = "Use runshell to say hello."
"""The tiny model listens to `runshell`; the demo model calls a shell anyway."""


@pytest.fixture(name="codex")
def _codex(tmp_path, codex_for: Callable[..., Codex], request):
    """Codex before the backend that the test names."""
    vllm_url = "" if request.param == "demo" else request.getfixturevalue("vllm_url")
    if request.param == "plugin":
        yield codex_for(vllm_url)
        return
    options = ("--upstream", vllm_url) if vllm_url else ()
    with servers.gateway(tmp_path / "gateway.log", *options) as url:
        yield codex_for(url)


@pytest.mark.parametrize("codex", BACKENDS, indirect=True)
def test_codex_exec(codex):
    """A command runs, its output reaches the model, and the model has the last word."""
    turn = codex.exec(PROMPT)

    assert (turn.status, turn.retries) == (0, [])
    (command,) = turn.items("command_execution")
    assert (command["status"], command["exit_code"]) == ("completed", 0)
    assert command["aggregated_output"].strip()
    assert turn.messages[-1]
    assert turn.events[-1]["usage"]["output_tokens"] > 0


@pytest.mark.parametrize("codex", BACKENDS, indirect=True)
def test_codex_accepts_the_configuration(codex):
    """No warning, be it of the configuration, of the catalog, or of the model."""
    turn = codex.exec(PROMPT)

    assert turn.status == 0
    said = turn.stderr + "".join(item["message"] for item in turn.items("error"))
    assert not re.search(r"warn|metadata|unknown|deprecated", said, re.IGNORECASE), said


def test_a_server_with_a_key(tmp_path, codex_for, monkeypatch):
    """With --api-key-env codex gives the key that the gateway wants."""
    monkeypatch.setenv("TINY_KEY", "secret")
    options = ("--api-key-env", "TINY_KEY")

    with servers.gateway(tmp_path / "gateway.log", *options) as url:
        codex = codex_for(url, *options)
        codex.variables["TINY_KEY"] = "secret"
        turn = codex.exec(PROMPT)

    assert (turn.status, turn.retries) == (0, [])


@pytest.mark.parametrize("codex", ["demo"], indirect=True)
def test_the_demo_model_quotes_the_output(codex):
    """What the shell said stands in the answer: it went there and back."""
    turn = codex.exec(PROMPT)

    (command,) = turn.items("command_execution")
    assert command["aggregated_output"].strip() in turn.messages[-1]


@pytest.mark.parametrize("codex", ["demo"], indirect=True)
def test_the_demo_model_fits_a_schema(codex):
    """The answer fits --output-schema, also after a command has run."""
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}},
        "required": ["answer", "sure"],
        "additionalProperties": False,
    }
    (codex.home / "schema.json").write_text(json.dumps(schema))

    turn = codex.exec(PROMPT, "--output-schema", str(codex.home / "schema.json"))

    assert set(json.loads(turn.messages[-1])) == {"answer", "sure"}


@pytest.mark.parametrize("codex", BACKENDS, indirect=True)
def test_resume(codex):
    """A thread is taken up again where it was left."""
    first = codex.exec(PROMPT)
    second = codex.exec(PROMPT, "resume", first.thread)

    assert (second.status, second.thread) == (0, first.thread)
    assert second.messages[-1]
    counts = [turn.events[-1]["usage"]["input_tokens"] for turn in (first, second)]
    assert counts[0] < counts[1]


@pytest.mark.parametrize("codex", BACKENDS, indirect=True)
def test_the_tui(codex):
    """One typed turn, to its end."""
    with codex.tui() as terminal:
        terminal.wait_for("Ask Codex")
        terminal.type(PROMPT)
        screen = terminal.wait_for("• Ran ", "└ ", "Worked for")

    assert "■" not in screen
    assert "⚠" not in screen


if HAS_VLLM:
    on_vllm = pytest.mark.parametrize("codex", BACKENDS[1:], indirect=True)

    @on_vllm
    def test_apply_patch(codex):
        """The tiny model listens to `custom`, and calls a custom tool: a file is made."""
        turn = codex.exec("Use custom.")

        assert turn.status == 0
        assert (codex.folder / "hi.txt").read_text() == "hi\n"

    @on_vllm
    def test_two_parallel_calls(codex):
        """At `weather` it makes two calls; that there is no such tool is its answer."""
        turn = codex.exec("What is the weather?")

        assert (turn.status, turn.retries) == (0, [])
        assert "It is sunny in Paris" in turn.messages[-1]

    @on_vllm
    def test_sigint(codex, vllm_url):
        """Within 1 s of an interrupt vLLM's engine has nothing to do any more."""
        with codex.running("Be endless.") as running:
            wait_until(lambda: _running(vllm_url) > 0)
            running.send_signal(signal.SIGINT)
            wait_until(lambda: _running(vllm_url) == 0, patience=1)

    @on_vllm
    def test_esc(codex, vllm_url):
        """The same in the TUI."""
        with codex.tui() as terminal:
            terminal.wait_for("Ask Codex")
            terminal.type("Be endless.")
            terminal.wait_for("The quick brown fox")
            # The TUI asks for a title at the same time, which Esc does not stop.
            before = _running(vllm_url)
            terminal.press("Escape")
            wait_until(lambda: _running(vllm_url) < before, patience=1)
            terminal.wait_for("Conversation interrupted")


def _running(vllm_url: str) -> float:
    """How many requests vLLM's engine works on."""
    with urlopen(f"{vllm_url.removesuffix('/v1')}/metrics") as answer:
        metrics = answer.read().decode()
    counts = re.findall(r"^vllm:num_requests_running\{.*\} (\S+)$", metrics, re.MULTILINE)
    return sum(map(float, counts))

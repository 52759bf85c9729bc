"""What `--reasoning` does for the real codex; in the plugin, RESPONSES_STREAM_REASONING.

This wants a vLLM of its own, so it comes after the tests that share one.
"""

from __future__ import annotations

import subprocess

import pytest
from codex_client import PATIENCE
from codex_model import Pause, call, calling, say, thoughts
from codex_wire import VLLM_BACKENDS

pytest_plugins = ["codex_fixtures"]
pytestmark = pytest.mark.integration

CASES = [
    *(("upstream", reasoning) for reasoning in ("text", "summary", "both")),
    *((name, "both") for name in VLLM_BACKENDS),
]


@pytest.fixture(name="served_model", params=CASES, ids="-".join)
def _served_model(request, gateway, vllm_with):
    """A base URL where thoughts go out in some way, the model there, and the way."""
    name, reasoning = request.param
    if name == "upstream":
        model = request.getfixturevalue("upstream")
    else:
        model = vllm_with(REASONING="both")
    if name == "plugin":
        return model.url, model, reasoning
    return gateway("--upstream", model.url, "--reasoning", reasoning), model, reasoning


def test_thoughts_come_back_once(served_model, codex_for):
    """Whatever they go out as, the model gets them back, and not twice."""
    url, model, reasoning = served_model
    model.plays(
        calling(call("exec_command", {"cmd": "true"}), reasoning="I think so."),
        say("Done."),
    )

    turn = codex_for(url).exec("Hello")

    assert turn.messages == ["Done."]
    (assistant,) = model.told[1].said("assistant")
    assert assistant.count("I think so.") == 1
    shown = [item["text"] for item in turn.items("reasoning")]
    assert shown == ([] if reasoning == "text" else ["I think so."])


def test_thoughts_are_printed_once(served_model, codex_for):
    """With show_raw_agent_reasoning, which is in our configuration, in all three ways."""
    url, model, _ = served_model
    model.plays(say("It is sunny.", reasoning="I think so."))
    codex = codex_for(url)

    told = subprocess.run(
        codex.command("exec", "--skip-git-repo-check", "Hello"),
        cwd=codex.folder,
        env=codex.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )

    assert told.stdout == "It is sunny.\n"
    assert told.stderr.count("I think so.") == 1


def test_the_tui_shows_thoughts_once(served_model, codex_for):
    """Also in a TUI that draws summaries only; one that draws both would show both."""
    url, model, reasoning = served_model
    model.plays([*thoughts("I think so."), Pause(1), *say("It is sunny.")])
    codex = codex_for(url)
    codex.settings["show_raw_agent_reasoning"] = reasoning == "text"

    with codex.tui() as terminal:
        terminal.wait_for("Ask Codex", "tiny")
        terminal.type("Hello")
        terminal.wait_for("• I think so. (")
        terminal.wait_for("It is sunny.")
        terminal.press("C-t")
        terminal.wait_for("T R A N S C R I P T", "It is sunny.")
        assert terminal.visible().count("I think so.") == 1

"""The real codex before the gateway and its demo model, as the README says it."""

from __future__ import annotations

import json
import re

import pytest
from servers import ROOT

pytest_plugins = ["codex_fixtures"]
pytestmark = pytest.mark.integration

PROMPT = "Say hello."
"""Whatever the prompt, the demo model calls a shell that it is offered."""

PACE = "0.2"
"""Of a demo model that somebody can interrupt, in seconds."""

CAPTURE = re.compile(r"```text\n(/ T R A N S C R I P T.*?)\n```", re.DOTALL)
VARYING = {r"\d+ms": "0ms", r"(<1|\d+)s • \d\d:\d\d": "<1s • 00:00"}
"""What no two screens have in common."""


@pytest.fixture(name="codex")
def _codex(gateway, codex_for):
    """Codex before the demo model."""
    return codex_for(gateway())


def test_codex_exec(codex):
    """A command runs, and the answer quotes its output: it went there and back."""
    turn = codex.exec(PROMPT)

    assert (turn.status, turn.retries, turn.warnings) == (0, [], [])
    (command,) = turn.items("command_execution")
    assert (command["status"], command["exit_code"]) == ("completed", 0)
    assert command["aggregated_output"].strip() in turn.messages[-1]
    assert turn.events[-1]["usage"]["output_tokens"] > 0


def test_a_server_with_a_key(gateway, codex_for, monkeypatch):
    """With --api-key-env codex gives the key that the gateway wants."""
    monkeypatch.setenv("TINY_KEY", "secret")
    options = ("--api-key-env", "TINY_KEY")
    codex = codex_for(gateway(*options), *options)
    codex.variables["TINY_KEY"] = "secret"

    turn = codex.exec(PROMPT)

    assert (turn.status, turn.retries) == (0, [])


def test_output_schema(codex):
    """The answer fits --output-schema."""
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}},
        "required": ["answer", "sure"],
        "additionalProperties": False,
    }
    (codex.home / "schema.json").write_text(json.dumps(schema))

    turn = codex.exec(PROMPT, "--output-schema", str(codex.home / "schema.json"))

    assert json.loads(turn.messages[-1]) == {"answer": PROMPT, "sure": False}


def test_resume(codex):
    """A thread is taken up again where it was left."""
    first = codex.exec(PROMPT)
    second = codex.exec(PROMPT, "resume", first.thread)

    assert (second.status, second.thread) == (0, first.thread)
    assert "hello from responses_stream" in second.messages[-1]
    counts = [turn.events[-1]["usage"]["input_tokens"] for turn in (first, second)]
    assert counts[0] < counts[1]


def test_the_tui_is_as_in_the_readme(codex):
    """One typed turn with a title; what ctrl-T shows then stands in the README."""
    (readme,) = CAPTURE.findall((ROOT / "README.md").read_text())

    with codex.tui() as terminal:
        terminal.wait_for("Ask Codex")
        terminal.type(PROMPT)
        screen = terminal.wait_for("• Ran ", "└ ", "Worked for", "· Say hello")
        terminal.press("C-t")
        terminal.wait_for("T R A N S C R I P T", "The tool has answered")
        shown = terminal.visible()

    assert not re.search("■|⚠", screen)
    seen = shown[: shown.index("\n", shown.index("Worked for"))]
    assert constant(seen) == constant(readme)


def constant(screen):
    """What a screen has in common with one of another moment."""
    for varying, same in VARYING.items():
        screen = re.sub(varying, same, screen)
    return screen


def test_esc(gateway, codex_for):
    """A turn that is interrupted in the TUI ends, and the next one is served."""
    codex = codex_for(gateway("--demo-pace", PACE))

    with codex.tui() as terminal:
        terminal.wait_for("Ask Codex")
        terminal.type("Take your time.")
        terminal.wait_for("I shall call")
        terminal.press("Escape")
        terminal.wait_for("Conversation interrupted")
        terminal.type("And now?")
        screen = terminal.wait_for("• Ran ", "Worked for")

    assert screen.count("• Ran ") == 1

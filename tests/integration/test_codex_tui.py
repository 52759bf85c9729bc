"""The TUI of the real codex, in tmux; and interrupts, there and in `codex exec`."""

from __future__ import annotations

import signal
import time

import pytest
from codex_client import wait_until
from codex_model import GO_ON, Pause, call, calling, say, thoughts, words
from codex_upstream import ChatUpstream

pytest_plugins = ["codex_fixtures"]
pytestmark = pytest.mark.integration

GREET = calling(
    call("exec_command", {"cmd": "echo hello from the shell"}),
    reasoning="I shall call a command and see.",
    text="I run it now.",
)


@pytest.fixture(name="codex")
def _codex(backend, codex_for):
    """codex, in front of each backend."""
    return codex_for(backend.url)


def seconds_until_idle(model, pressed):
    """How long after an interrupt nobody works for the client any more."""
    wait_until(lambda: not model.busy)
    if isinstance(model, ChatUpstream):
        return model.asked[0].lost_at - pressed
    return time.monotonic() - pressed


def limit(model):
    """How long it may take: until the connection is lost, or until vLLM counts none."""
    return 0.2 if isinstance(model, ChatUpstream) else 1.0


def test_a_turn(codex, model):
    """One typed turn: thoughts live, the command with its output, the answer."""
    model.plays(
        [*thoughts("**Looking** at it."), Pause(1), *GREET], say("It **said** hello.")
    )

    with codex.tui() as terminal:
        terminal.wait_for("Ask Codex", "tiny")
        terminal.type("Greet me.")
        terminal.wait_for("Looking")
        screen = terminal.wait_for("• I run it now.", "• Ran echo hello", "It said hello.")
        terminal.press("C-t")
        terminal.wait_for("T R A N S C R I P T", "I shall call a command and see.")

    assert "└ hello from the shell" in screen
    assert "■" not in screen
    assert "⚠" not in screen


def test_the_title_is_asked_for_beside_the_turn(codex, model):
    """The TUI's request for a title is answered while the turn still runs."""
    model.title = "Of greetings"
    model.plays([*words("Slow and slower"), GO_ON])

    with codex.tui() as terminal:
        terminal.wait_for("Ask Codex", "tiny")
        terminal.type("Greet me.")
        terminal.wait_for("Of greetings")
        assert model.busy
        assert (len(model.told), len(model.titles)) == (1, 1)


@pytest.mark.parametrize("backend", ["upstream"], indirect=True)
def test_the_schema_of_the_title(codex, model):
    """A chat server that can hold its model to a schema is told of it."""
    model.plays(say("Hi."))

    with codex.tui() as terminal:
        terminal.wait_for("Ask Codex", "tiny")
        terminal.type("Greet me.")
        terminal.wait_for("A title")

    schema = model.titles[0].body["response_format"]["json_schema"]
    assert schema["schema"]["properties"]["title"]["maxLength"] == 36


ESCAPES = {
    "in the thoughts": (thoughts("**Wondering** a lot"), "Wondering"),
    "in the text": (words("It goes on"), "It goes on"),
}
"""What came before, and what is seen of it."""


def esc_ends_the_turn(codex, model, shown):
    """Presses Esc once `shown` is seen: the work ends in time, and codex goes on."""
    with codex.tui() as terminal:
        terminal.wait_for("Ask Codex", "tiny")
        terminal.type("Go on.")
        # Esc does not stop the request for a title, which would be waited for.
        terminal.wait_for(shown, "A title")
        assert model.busy
        pressed = time.monotonic()
        terminal.press("Escape")
        assert seconds_until_idle(model, pressed) < limit(model)
        terminal.wait_for("Conversation interrupted")
        terminal.type("And now?")
        terminal.wait_for("Here again.")


@pytest.mark.parametrize("where", ESCAPES)
def test_esc(codex, model, where):
    """Soon after Esc nobody works for the client any more; codex goes on.

    A chat server has lost its connection within 200 ms, vLLM runs nothing within 1 s.
    """
    begun, shown = ESCAPES[where]
    model.plays([*begun, GO_ON], say("Here again."))

    esc_ends_the_turn(codex, model, shown)

    assert shown not in "".join(model.told[1].said("assistant"))


@pytest.mark.parametrize("backend", ["upstream"], indirect=True)
def test_esc_before_the_first_token(codex, model):
    """The same while the chat server has not even answered with headers."""
    model.plays([GO_ON], say("Here again."))

    esc_ends_the_turn(codex, model, "esc to interrupt")


def test_sigint(codex, model):
    """An interrupt of `codex exec` is no slower."""
    model.plays([*words("It goes on"), GO_ON])

    with codex.running("Go on.") as running:
        wait_until(lambda: model.told)
        time.sleep(0.5)  # until the text is on its way
        assert model.busy
        pressed = time.monotonic()
        running.send_signal(signal.SIGINT)
        assert seconds_until_idle(model, pressed) < limit(model)
        running.communicate(timeout=10)

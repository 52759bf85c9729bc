"""The TUI of the real codex, in tmux; and interrupts, there and in `codex exec`."""

from __future__ import annotations

import signal
import time

import pytest
from codex_client import wait_until
from codex_upstream import Finish, Pause, call, calling, say, thoughts, words

pytest_plugins = ["codex_fixtures"]
pytestmark = pytest.mark.integration

GREET = calling(
    call("exec_command", {"cmd": "echo hello from the shell"}),
    reasoning="I shall call a command and see.",
    text="I run it now.",
)


def test_a_turn(codex, upstream):
    """One typed turn: thoughts live, the command with its output, the answer."""
    upstream.plays(
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


def test_the_title_is_asked_for_beside_the_turn(codex, upstream):
    """The TUI's request for a title is answered while the turn still runs."""
    upstream.title = "Of greetings"
    upstream.plays([*words("Slow"), Pause(20)])

    with codex.tui() as terminal:
        terminal.wait_for("Ask Codex", "tiny")
        terminal.type("Greet me.")
        terminal.wait_for("Of greetings")
        wait_until(lambda: upstream.titles and upstream.titles[0].ended)
        assert not upstream.asked[0].ended

    schema = upstream.titles[0].body["response_format"]["json_schema"]
    assert schema["schema"]["properties"]["title"]["maxLength"] == 36


ESCAPES = {
    "before the first token": ([Pause(0.2)], "esc to interrupt"),
    "in the thoughts": (thoughts("**Wondering** a lot"), "Wondering"),
    "in the text": (words("It goes on"), "It goes on"),
}
"""What came before, and what is seen of it."""


@pytest.mark.parametrize("where", ESCAPES)
def test_esc(codex, upstream, where):
    """Within 200 ms of Esc the chat server has lost its connection; codex goes on."""
    begun, shown = ESCAPES[where]
    upstream.plays([*begun, Pause(20)], say("Here again."))

    with codex.tui() as terminal:
        terminal.wait_for("Ask Codex", "tiny")
        terminal.type("Go on.")
        terminal.wait_for(shown)
        wait_until(lambda: upstream.asked)
        pressed = time.monotonic()
        terminal.press("Escape")
        wait_until(lambda: upstream.asked[0].lost_at)
        terminal.wait_for("Conversation interrupted")
        terminal.type("And now?")
        terminal.wait_for("Here again.")

    assert upstream.asked[0].lost_at - pressed < 0.2
    assert "It goes on" not in str(upstream.asked[1].said("assistant"))


def test_sigint(codex, upstream):
    """Within 200 ms of an interrupt of `codex exec` the chat server has lost it, too."""
    upstream.plays([*words("It goes on"), Pause(20), Finish()])

    with codex.running("Go on.") as running:
        wait_until(lambda: upstream.asked)
        time.sleep(0.2)  # until the text is on its way
        pressed = time.monotonic()
        running.send_signal(signal.SIGINT)
        wait_until(lambda: upstream.asked[0].lost_at)
        running.communicate(timeout=10)

    assert upstream.asked[0].lost_at - pressed < 0.2

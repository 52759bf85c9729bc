"""Who is answered in which dialect."""

from __future__ import annotations

import pytest

from responses_stream.clients import dialect_for


@pytest.mark.parametrize("originator", ["codex_exec", "codex-tui", "Codex X"])
def test_codex_is_answered_in_its_own(originator):
    """All of codex's programs begin their name with its own."""
    assert dialect_for(originator, "openai") == "codex"


@pytest.mark.parametrize("originator", [None, "", "my-codex", "curl"])
def test_everybody_else_is_answered_in_the_usual(originator):
    """A header is an exact thing."""
    assert dialect_for(originator, "openai") == "openai"


@pytest.mark.parametrize("usual", ["openresponses", "codex"])
def test_what_was_chosen_stays(usual):
    """An operator who asks for a dialect gets it, whoever is the client."""
    assert dialect_for("codex_exec", usual) == usual

"""Clients that say who they are, and what each is best answered with."""

from __future__ import annotations

from .kinds import Dialect


def dialect_for(originator: str | None, usual: Dialect) -> Dialect:
    """The dialect of an answer to a client that sent this `originator` header.

    codex names itself there (`codex_exec`, `codex-tui`, ...; codex.md section 2). It is
    answered in its own dialect where OpenAI's would be used, but never in place of one
    that was chosen.
    """
    is_codex = originator is not None and originator.lower().startswith("codex")
    return "codex" if is_codex and usual == "openai" else usual

"""What can be chosen about a gateway. The command line says it to people (command.py)."""

from __future__ import annotations

from typing import Literal

import msgspec

from responses_stream.chat.template import ChatOptions
from responses_stream.kinds import Dialect, ReasoningAs

KeepAliveMode = Literal["event", "comment", "none"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a gateway serves. Times are in seconds."""

    upstream: str | None = None
    """The base URL of the chat server, such as `http://127.0.0.1:8000/v1`; without one,
    the demo model answers."""
    upstream_key: str | None = None
    """Given to the chat server as its bearer token."""
    pass_authorization: bool = False
    """Whether the chat server is given the client's own `Authorization` instead."""
    api_key: str | None = None
    """What clients must give as bearer token; without one, all are served."""

    dialect: Dialect = "openai"
    reasoning: ReasoningAs = "text"
    chat: ChatOptions = ChatOptions()
    """What the chat server's template accepts."""

    keep_alive: float = 15.0
    """How long a line may be silent."""
    keep_alive_mode: KeepAliveMode = "event"
    """What breaks the silence: an event that codex counts, a comment, or nothing."""
    connect_timeout: float = 10.0
    idle_timeout: float = 600.0
    """How long the chat server may be silent."""
    linger: float = 2.0
    """How long usage and `[DONE]` are waited for after the finish reason."""
    max_body: int = 64 * 1024 * 1024
    """How many bytes a request may have."""

    demo_pace: float = 0.02
    """Between two chunks of the demo model."""

"""What can be chosen about a gateway. The command line says it to people (command.py)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from responses_stream.chat.limits import MEBIBYTE, AnswerLimits
from responses_stream.chat.template import ChatOptions
from responses_stream.kinds import Dialect, ReasoningAs

ALWAYS: Final = "responses_stream.gateway.server"
"""The logger that tells what the process does; whoever started it wants to know."""

LogFormat = Literal["text", "json"]
KeepAliveMode = Literal["event", "comment", "none"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a gateway serves. Times are in seconds; a limit of 0 is none."""

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

    max_streams: int = 1000
    """How many answers may be under way at one time."""
    max_body: int = 64 * MEBIBYTE
    """How many bytes a request may have."""
    answer: AnswerLimits = AnswerLimits()
    """How much of a chat server's answer is taken."""
    connect_timeout: float = 10.0
    first_byte_timeout: float = 600.0
    """How long the chat server may take to begin its answer: prompts are long."""
    idle_timeout: float = 600.0
    """How long it may be silent then. Some say nothing while a call is written."""
    total_timeout: float = 3600.0
    """How long an answer may take in all."""
    linger: float = 2.0
    """How long usage and `[DONE]` are waited for after the finish reason."""
    request_timeout: float = 60.0
    """How long a client may take to send its request."""
    read_timeout: float = 60.0
    """How long a client may read nothing of what is sent to it."""
    grace: float = 20.0
    """How long open streams may go on after SIGTERM."""

    demo_pace: float = 0.02
    """Between two chunks of the demo model."""

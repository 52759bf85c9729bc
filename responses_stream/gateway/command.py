"""`responses-stream serve`: the options, and what they mean to the gateway."""

from __future__ import annotations

import ipaddress
import logging
import os
import re
import socket
from typing import Any, Final

import click

from responses_stream.chat.limits import AnswerLimits
from responses_stream.chat.template import ChatOptions

from .options import SectionCommand, limit, option
from .settings import ALWAYS, LogFormat, Settings

EXTRA: Final = "responses-stream[gateway]"
UPSTREAM: Final = "Whom to ask"
CLIENTS: Final = "Whom to serve"
LIMITS: Final = "What to allow (a time of 0 is no limit)"
STREAM: Final = "What to send"
TEMPLATE: Final = "What the chat template accepts"
"""The sections of the help."""

URL: Final = re.compile(r"https?://[^/@?#\s]+(/[^?#\s]*)?")
"""Where a server is: no user, no password, no query."""


@click.command(
    cls=SectionCommand,
    epilog="Every option has an environment variable: --keep-alive is"
    " RESPONSES_STREAM_KEEP_ALIVE, and so on. A flag goes before it.",
)
@option(
    UPSTREAM,
    "--upstream",
    metavar="URL",
    help="Base URL of the chat-completions server, such as http://127.0.0.1:8000/v1."
    " Without it the embedded demo model answers.",
)
@option(
    UPSTREAM,
    "--upstream-key-env",
    metavar="NAME",
    help="Environment variable with the API key for the upstream server.",
)
@option(
    UPSTREAM,
    "--pass-authorization",
    is_flag=True,
    help="Pass the client's own Authorization header on to the upstream server.",
)
@option(
    UPSTREAM,
    "--demo-pace",
    metavar="SECONDS",
    default=0.02,
    help="How long the demo model takes for a word.",
)
@option(CLIENTS, "--host", default="127.0.0.1", help="Address to listen on.")
@option(CLIENTS, "--port", default=8080, help="Port to listen on; 0 picks one.")
@option(
    CLIENTS,
    "--api-key-env",
    metavar="NAME",
    help="Environment variable with the API key that clients must give.",
)
@option(
    CLIENTS,
    "--open-to-all",
    is_flag=True,
    help="Serve whoever can reach --host, without a key.",
)
@option(
    CLIENTS,
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    help="`info` logs each request, `warning` those that failed.",
)
@option(
    CLIENTS,
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="For people, or one JSON object a line.",
)
@limit(
    LIMITS, "--max-streams", "N", "Answers under way at one time; more are told to wait."
)
@limit(LIMITS, "--max-body", "BYTES", "Size of a request.")
@limit(LIMITS, "--max-event", "BYTES", "Size of one event or line of the upstream server.")
@limit(LIMITS, "--max-answer", "BYTES", "Size of its whole answer.")
@limit(LIMITS, "--max-held", "CHARS", "Text that waits for an earlier call to end.")
@limit(LIMITS, "--max-calls", "N", "Tool calls in one answer.")
@limit(LIMITS, "--connect-timeout", "SECONDS", "Time to connect to the upstream server.")
@limit(LIMITS, "--first-byte-timeout", "SECONDS", "Its time to begin an answer.")
@limit(LIMITS, "--idle-timeout", "SECONDS", "Its silence after that.")
@limit(LIMITS, "--total-timeout", "SECONDS", "Time for a whole answer.")
@limit(LIMITS, "--request-timeout", "SECONDS", "A client's time to send its request.")
@limit(LIMITS, "--read-timeout", "SECONDS", "Time in which a client reads nothing.")
@limit(LIMITS, "--grace", "SECONDS", "Time to finish after SIGTERM; 0 for none.")
@option(
    STREAM,
    "--dialect",
    type=click.Choice(["openai", "openresponses", "codex"]),
    default="openai",
    help="Whose words to use where they differ. With `openai`, a request whose"
    " `originator` header is codex's is answered as `codex`.",
)
@option(
    STREAM,
    "--reasoning",
    type=click.Choice(["text", "summary", "both"]),
    default="text",
    help="Send thoughts as they are, as a summary, or as both. The AI SDK shows"
    " summaries only.",
)
@option(
    STREAM,
    "--keep-alive",
    metavar="SECONDS",
    default=15.0,
    help="How long a stream may be silent before something is sent.",
)
@option(
    STREAM,
    "--keep-alive-mode",
    type=click.Choice(["event", "comment", "none"]),
    default="event",
    help="What is sent then: one more response.in_progress, which codex counts, a"
    " comment, or nothing.",
)
@option(
    TEMPLATE,
    "--system-role",
    type=click.Choice(["system", "developer", "user"]),
    default="system",
    help="Role of instructions and of system and developer messages at the beginning.",
)
@option(
    TEMPLATE,
    "--late-system-role",
    type=click.Choice(["system", "developer", "user"]),
    default="user",
    help="Role of system and developer messages that come later.",
)
@option(
    TEMPLATE,
    "--join-system/--no-join-system",
    default=True,
    help="Join the leading system and developer messages into one.",
)
@option(
    TEMPLATE,
    "--join-roles/--no-join-roles",
    default=False,
    help="Join consecutive messages of one role.",
)
@option(
    TEMPLATE,
    "--reasoning-field",
    "reasoning_fields",
    multiple=True,
    default=("reasoning", "reasoning_content"),
    envvar="RESPONSES_STREAM_REASONING_FIELD",
    help="Field of an assistant message that carries its thoughts; may be repeated."
    " An empty one leaves them out.",
)
@option(
    TEMPLATE,
    "--output-limit-field",
    type=click.Choice(["max_tokens", "max_completion_tokens"]),
    default="max_tokens",
    help="Field that carries max_output_tokens.",
)
def serve(
    host: str,
    port: int,
    log_level: str,
    log_format: LogFormat,
    *,
    open_to_all: bool,
    **options: Any,
) -> None:
    """Serve the Responses API in front of a chat-completions server.

    Serves POST /v1/responses, POST /v1/chat/completions (the upstream's, aligned to what
    OpenAI sends), GET /v1/models, GET /health and GET /metrics. It keeps nothing between
    requests, so any number of it may run side by side.
    """
    try:
        # The core goes without the extra, and `--help` too.
        from .logs import configure  # noqa: PLC0415
        from .server import Server  # noqa: PLC0415
    except ImportError as error:
        raise click.ClickException(
            f"{error.name} is missing; install it with: pip install '{EXTRA}'"
        ) from error
    settings = _settings(**options)
    if not (settings.api_key or open_to_all or _is_loopback(host)):
        raise click.ClickException(
            f"others can reach {host}, and there is no --api-key-env; to serve them all"
            " without a key, say --open-to-all"
        )
    configure(log_level, log_format)
    with _listen(host, port) as listener:
        _greet(settings, host, listener.getsockname()[1], log_format)
        Server(settings).run(sockets=[listener])


def _settings(
    *,
    api_key_env: str | None,
    upstream_key_env: str | None,
    **options: Any,
) -> Settings:
    """The options as Settings: with what belongs together, and keys looked up."""
    upstream = options["upstream"]
    if upstream is not None and not URL.fullmatch(upstream):
        if "@" in upstream:
            # It may hold a password, and belongs into no log.
            upstream = "a URL with a user"
        raise click.ClickException(
            f"--upstream is {upstream}; expected http://HOST:PORT/PATH (a key goes into"
            " --upstream-key-env)"
        )
    fields = options.pop("reasoning_fields")
    options["reasoning_fields"] = tuple(field for field in fields if field)
    chat, answer = (
        {name: options.pop(name) for name in kind.__struct_fields__ if name in options}
        for kind in (ChatOptions, AnswerLimits)
    )
    return Settings(
        api_key=_key(api_key_env),
        upstream_key=_key(upstream_key_env),
        chat=ChatOptions(**chat),
        answer=AnswerLimits(**answer),
        **options,
    )


def _key(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise click.ClickException(f"the environment has no {variable}, or an empty one")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise click.ClickException(f"{variable} holds what no header can carry")
    return key


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    from .server import listen  # noqa: PLC0415 - see serve

    try:
        return listen(host, port)
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {host}:{port}: {error.strerror}"
        ) from error


def _greet(settings: Settings, host: str, port: int, log_format: LogFormat) -> None:
    """Says what is served, and how to try it."""
    where = f"http://{f'[{host}]' if ':' in host else host}:{port}/v1"
    model = settings.upstream or "the demo model (no --upstream was given)"
    if log_format == "json":
        logging.getLogger(ALWAYS).info(
            "%s/responses is served, in front of %s", where, model
        )
        return
    name = "MODEL" if settings.upstream else "demo"
    key = " -H 'authorization: Bearer KEY'" if settings.api_key else ""
    click.echo(
        f"{where}/responses is served, in front of {model}. Try it:\n\n"
        f"  curl -N {where}/responses -H 'content-type: application/json'{key} \\\n"
        f'    -d \'{{"model": "{name}", "input": "Hello!", "stream": true}}\'\n',
        err=True,
    )

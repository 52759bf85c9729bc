"""`responses-stream serve`: the options, and what they mean to the gateway."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any, Final

import click

from responses_stream.chat.template import ChatOptions

from .settings import Settings

EXTRA: Final = "responses-stream[gateway]"
UPSTREAM: Final = "Whom to ask"
CLIENTS: Final = "Whom to serve"
STREAM: Final = "What to send"
TEMPLATE: Final = "What the chat template accepts"
"""The sections of the help."""

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


class SectionOption(click.Option):
    """An option with a place in the help, and an environment variable of its name."""

    def __init__(self, *args: Any, section: str, **kwargs: Any) -> None:
        name = next(arg for arg in args[0] if arg.startswith("--"))
        name = name.split("/")[0].lstrip("-").replace("-", "_").upper()
        kwargs.setdefault("envvar", f"RESPONSES_STREAM_{name}")
        super().__init__(*args, **kwargs)
        self.section = section


class SectionCommand(click.Command):
    """A command whose help has its options by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Overrides click's one list."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                section = getattr(parameter, "section", "Other")
                sections.setdefault(section, []).append(row)
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl(rows)


def _option(
    section: str, *args: str, **kwargs: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    kwargs.setdefault("show_default", True)
    return click.option(*args, cls=SectionOption, section=section, **kwargs)


@click.command(
    cls=SectionCommand,
    epilog="Every option has an environment variable: --keep-alive is"
    " RESPONSES_STREAM_KEEP_ALIVE, and so on. A flag goes before it.",
)
@_option(
    UPSTREAM,
    "--upstream",
    metavar="URL",
    help="Base URL of the chat-completions server, such as http://127.0.0.1:8000/v1."
    " Without it the embedded demo model answers.",
)
@_option(
    UPSTREAM,
    "--upstream-key-env",
    metavar="NAME",
    help="Environment variable with the API key for the upstream server.",
)
@_option(
    UPSTREAM,
    "--pass-authorization",
    is_flag=True,
    help="Pass the client's own Authorization header on to the upstream server.",
)
@_option(
    UPSTREAM,
    "--connect-timeout",
    metavar="SECONDS",
    default=10.0,
    help="How long connecting may take.",
)
@_option(
    UPSTREAM,
    "--idle-timeout",
    metavar="SECONDS",
    default=600.0,
    help="How long the upstream server may be silent.",
)
@_option(
    UPSTREAM,
    "--demo-pace",
    metavar="SECONDS",
    default=0.02,
    help="How long the demo model takes for a word.",
)
@_option(CLIENTS, "--host", default="127.0.0.1", help="Address to listen on.")
@_option(CLIENTS, "--port", default=8080, help="Port to listen on; 0 picks one.")
@_option(
    CLIENTS,
    "--api-key-env",
    metavar="NAME",
    help="Environment variable with the API key that clients must give.",
)
@_option(
    CLIENTS,
    "--max-body",
    metavar="BYTES",
    default=64 * 1024 * 1024,
    help="How large a request may be.",
)
@_option(
    CLIENTS,
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    help="`info` logs each request.",
)
@_option(
    STREAM,
    "--dialect",
    type=click.Choice(["openai", "openresponses", "codex"]),
    default="openai",
    help="Whose words to use where they differ. With `openai`, a request whose"
    " `originator` header is codex's is answered as `codex`.",
)
@_option(
    STREAM,
    "--reasoning",
    type=click.Choice(["text", "summary", "both"]),
    default="text",
    help="Send thoughts as they are, as a summary, or as both. The AI SDK shows"
    " summaries only.",
)
@_option(
    STREAM,
    "--keep-alive",
    metavar="SECONDS",
    default=15.0,
    help="How long a stream may be silent before something is sent.",
)
@_option(
    STREAM,
    "--keep-alive-mode",
    type=click.Choice(["event", "comment", "none"]),
    default="event",
    help="What is sent then: one more response.in_progress, which codex counts, a"
    " comment, or nothing.",
)
@_option(
    TEMPLATE,
    "--system-role",
    type=click.Choice(["system", "developer", "user"]),
    default="system",
    help="Role of instructions and of system and developer messages at the beginning.",
)
@_option(
    TEMPLATE,
    "--late-system-role",
    type=click.Choice(["system", "developer", "user"]),
    default="user",
    help="Role of system and developer messages that come later.",
)
@_option(
    TEMPLATE,
    "--join-system/--no-join-system",
    default=True,
    help="Join the leading system and developer messages into one.",
)
@_option(
    TEMPLATE,
    "--join-roles/--no-join-roles",
    default=False,
    help="Join consecutive messages of one role.",
)
@_option(
    TEMPLATE,
    "--reasoning-field",
    "reasoning_fields",
    multiple=True,
    default=("reasoning", "reasoning_content"),
    envvar="RESPONSES_STREAM_REASONING_FIELD",
    help="Field of an assistant message that carries its thoughts; may be repeated."
    " An empty one leaves them out.",
)
@_option(
    TEMPLATE,
    "--output-limit-field",
    type=click.Choice(["max_tokens", "max_completion_tokens"]),
    default="max_tokens",
    help="Field that carries max_output_tokens.",
)
def serve(host: str, port: int, log_level: str, **options: Any) -> None:
    """Serve the Responses API in front of a chat-completions server.

    Serves POST /v1/responses, POST /v1/chat/completions (the upstream's, aligned to what
    OpenAI sends), GET /v1/models and GET /health. It keeps nothing between requests, so
    any number of it may run side by side.
    """
    try:
        # The core goes without the extra, and `--help` too.
        import uvicorn  # noqa: PLC0415

        from .app import create_app  # noqa: PLC0415
    except ImportError as error:
        raise click.ClickException(
            f"{error.name} is missing; install it with: pip install '{EXTRA}'"
        ) from error
    settings = _settings(**options)
    config = uvicorn.Config(
        create_app(settings),
        log_level=log_level,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=5,
    )
    with _listen(host, port) as listener:
        _greet(settings, host, listener.getsockname()[1])
        uvicorn.Server(config).run(sockets=[listener])


def _settings(
    *,
    api_key_env: str | None,
    upstream_key_env: str | None,
    **options: Any,
) -> Settings:
    """The options as Settings: those of the chat template apart, keys looked up."""
    upstream = options["upstream"]
    if upstream is not None and not upstream.startswith(("http://", "https://")):
        raise click.ClickException(f"--upstream is {upstream!r}; expected http://...")
    fields = options.pop("reasoning_fields")
    options["reasoning_fields"] = tuple(field for field in fields if field)
    names = ChatOptions.__struct_fields__
    chat = {name: options.pop(name) for name in names if name in options}
    return Settings(
        api_key=_key(api_key_env),
        upstream_key=_key(upstream_key_env),
        chat=ChatOptions(**chat),
        **options,
    )


def _key(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        raise click.ClickException(f"the environment has no {variable}, or an empty one")
    return key


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {host}:{port}: {error.strerror}"
        ) from error


def _greet(settings: Settings, host: str, port: int) -> None:
    """Says what is served, and how to try it."""
    where = f"http://{f'[{host}]' if ':' in host else host}:{port}/v1"
    model = settings.upstream or "the demo model (no --upstream was given)"
    name = "MODEL" if settings.upstream else "demo"
    key = " -H 'authorization: Bearer KEY'" if settings.api_key else ""
    click.echo(
        f"{where}/responses is served, in front of {model}. Try it:\n\n"
        f"  curl -N {where}/responses -H 'content-type: application/json'{key} \\\n"
        f'    -d \'{{"model": "{name}", "input": "Hello!", "stream": true}}\'\n',
        err=True,
    )
    if host not in LOOPBACK and not settings.api_key:
        click.echo(f"Warning: {host} may be reached by anybody: no --api-key-env", err=True)

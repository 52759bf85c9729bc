"""The command line: `responses-stream emit | check | show | serve | codex-config`.

Exit status: 0 fine, 1 something is wrong with the input, 2 could not run.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

import click
import msgspec

from .codex_command import codex_config_command
from .delta_script import ScriptError, play
from .ids import counted_ids
from .recorded import Recording, read
from .sse import DONE, encode

STDIN = "-"

ORDER = click.Choice(["strict", "interleaved"])


class Commands(click.Group):
    """The commands here, and `serve`, whose libraries load only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See click.Group."""
        return sorted([*super().list_commands(ctx), "serve"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """See click.Group."""
        if cmd_name != "serve":
            return super().get_command(ctx, cmd_name)
        try:
            command = import_module("responses_stream.gateway.command").serve
        except ModuleNotFoundError as error:
            if str(error.name).startswith("responses_stream"):
                raise
            return _not_installed(str(error.name))
        return cast(click.Command, command)


def _not_installed(module: str) -> click.Command:
    def refuse() -> None:
        raise click.ClickException(
            f"serve needs {module}, which is not installed;"
            " pip install 'responses-stream[gateway]'"
        )

    return click.Command(
        "serve",
        callback=refuse,
        short_help="Serve /v1/responses (needs the extra 'gateway').",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="responses-stream")
def main() -> None:
    r"""Parser deltas in, one Responses-API transcript out.

    \b
      responses-stream emit script.jsonl            deltas to server-sent events
      responses-stream emit script.jsonl | responses-stream check -
      responses-stream check recorded.sse           judge anybody's transcript
      responses-stream show recorded.sse            look at it
      responses-stream serve                        a server, with a demo model
      responses-stream codex-config                 what codex must know of it

    Exit status: 0 fine, 1 something is wrong with the input, 2 could not run.
    """


@main.command()
@click.argument("file", default=STDIN)
@click.option(
    "--order",
    type=ORDER,
    default="interleaved",
    show_default=True,
    help="strict: reasoning, then text, then calls; anything else fails.",
)
@click.option(
    "--dialect",
    type=click.Choice(["openai", "openresponses", "codex"]),
    default="openai",
    show_default=True,
    help="Whose event names and habits to use.",
)
@click.option(
    "--reasoning",
    type=click.Choice(["text", "summary", "both"]),
    default="text",
    show_default=True,
    help="What thoughts go out as.",
)
@click.option(
    "--reproducible",
    is_flag=True,
    help="Count the ids and stop the clock: equal scripts give equal bytes.",
)
def emit(file: str, *, reproducible: bool, **options: Any) -> None:
    r"""Turn a delta script into server-sent events, as its lines arrive.

    FILE (or standard input) holds JSON lines:

    \b
      {"request": {"model": "tiny"}}                     optional, first
      {"reasoning": "Hm."}
      {"content": "It is sunny."}
      {"tool_calls": [{"index": 0, "id": "call_1",
        "function": {"name": "f", "arguments": "{}"}}]}
      {"finish_reason": "stop", "usage": {...}}
        or {"error": {"message": "...", "code": "..."}}

    A script that stops before is an input that ended early: response.failed.
    """
    if reproducible:
        options |= {"ids": counted_ids(), "clock": lambda: 0.0}
    out: IO[bytes] = sys.stdout.buffer
    try:
        with _lines(file) as lines:
            for events in play(lines, **options):
                out.write(b"".join(encode(event) for event in events))
                out.flush()
    except ScriptError as error:
        out.write(DONE)
        raise click.ClickException(f"{file}: {error}") from error
    out.write(DONE)


@main.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each file.")
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option(
    "--order",
    type=ORDER,
    default="interleaved",
    show_default=True,
    help="strict: also report items out of reasoning, text, calls.",
)
@click.option(
    "--starting-after",
    type=int,
    metavar="N",
    help="The files are resumed streams; event N came before them.",
)
def check(files: tuple[str, ...], *, as_json: bool, strict: bool, **options: Any) -> None:
    r"""Judge recorded transcripts, whoever made them.

    Each of FILES (- for standard input) is the body of a response as it came: LF or
    CRLF, with or without event: lines and [DONE]. Every broken rule is printed as

    \b
      file:line: rule: message

    Errors are what a strict client breaks on; warnings, marked so, are what it bears.
    """
    failed = False
    for name in files:
        recording = read(_body(name), **options)
        errors, warnings = recording.count("error"), recording.count("warning")
        failed = failed or errors > 0 or (strict and warnings > 0)
        if as_json:
            click.echo(_json(name, recording))
            continue
        for finding in recording.findings:
            found = finding.violation
            mark = "" if found.level == "error" else " (warning)"
            item = "" if found.item_id is None else f" [{found.item_id}]"
            click.echo(f"{name}:{finding.line}: {found.rule}: {found.message}{item}{mark}")
        click.echo(
            f"{name}: {len(recording.events)} events, {errors} errors, {warnings} warnings"
        )
    sys.exit(int(failed))


@main.command()
@click.argument("file", default=STDIN)
@click.option("--width", type=int, help="Columns; the terminal's if not given.")
def show(file: str, width: int | None) -> None:
    """Draw a transcript: a lane for each output item, violations marked."""
    # rich takes a while to load, and no other command draws.
    from rich.console import Console  # noqa: PLC0415

    from . import picture  # noqa: PLC0415

    recording = read(_body(file))
    picture.show(recording, file, Console(width=width, highlight=False))


main.add_command(codex_config_command)


def _lines(name: str) -> AbstractContextManager[IO[bytes]]:
    if name == STDIN:
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(name).open("rb")
    except OSError as error:
        message = f"{name}: {error.strerror}"
        raise CouldNotRun(message) from error


def _body(name: str) -> bytes:
    if name == STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        message = f"{name}: {error.strerror}"
        raise CouldNotRun(message) from error


class CouldNotRun(click.ClickException):
    """Nothing was found wrong, since nothing could be looked at."""

    exit_code = 2


def _json(name: str, recording: Recording) -> str:
    violations = [
        {"line": finding.line, "level": finding.violation.level}
        | msgspec.to_builtins(finding.violation)
        for finding in recording.findings
    ]
    summary = {
        "file": name,
        "events": len(recording.events),
        "errors": recording.count("error"),
        "warnings": recording.count("warning"),
        "violations": violations,
    }
    return msgspec.json.encode(summary).decode()

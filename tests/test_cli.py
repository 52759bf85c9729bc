"""The command line, from its standard input to its exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from helpers import errors

from responses_stream.cli import main
from responses_stream.sse import SSEDecoder

RECORDINGS = Path(__file__).parent / "recordings"
SCRIPT = RECORDINGS / "vllm_deltas" / "reasoning_text_two_calls.jsonl"
PULL_REQUEST = RECORDINGS / "vllm_pr38227_paris_london.sse"
WARNED = RECORDINGS / "vllm_transcripts" / "text_only.sse"
COMMAND = (sys.executable, "-m", "responses_stream")
GOOD = '{"request": {"model": "tiny"}}\n{"content": "Hi"}\n{"finish_reason": "stop"}\n'


def run(*arguments: object, said: str | bytes = "") -> Result:
    """The command's exit status and output."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=said)


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    """A clean transcript in a file."""
    file = tmp_path / "clean.sse"
    file.write_bytes(run("emit", "--reproducible", said=GOOD).stdout_bytes)
    return file


# emit ---------------------------------------------------------------------------------


def test_emit_writes_a_transcript():
    """Deltas from standard input, server-sent events to standard output."""
    result = run("emit", said=GOOD)

    frames = SSEDecoder().feed(result.stdout_bytes)
    assert (0, "") == (result.exit_code, result.stderr)
    assert "[DONE]" == frames.pop().data
    assert not errors(json.loads(frame.data) for frame in frames)
    assert "response.completed" == frames[-1].event


def test_emit_reads_a_file():
    """The same as from standard input."""
    said = SCRIPT.read_bytes()

    assert (
        run("emit", "--reproducible", SCRIPT).stdout
        == run("emit", "--reproducible", "-", said=said).stdout
    )


def test_emit_reproducible_is_reproducible():
    """Equal scripts give equal bytes; without it, ids differ."""
    assert (
        run("emit", "--reproducible", SCRIPT).stdout
        == run("emit", "--reproducible", SCRIPT).stdout
    )
    assert run("emit", SCRIPT).stdout != run("emit", SCRIPT).stdout


@pytest.mark.parametrize(
    ("options", "event"),
    [
        ([], "response.reasoning_text.delta"),
        (["--dialect", "openresponses"], "response.reasoning.delta"),
        (["--reasoning", "summary"], "response.reasoning_summary_text.delta"),
    ],
)
def test_emit_has_the_streams_options(options, event):
    """Whose names to use, and what thoughts go out as."""
    assert f"event: {event}\n" in run("emit", *options, SCRIPT).stdout


def test_emit_interleaves_unless_told_otherwise():
    """A serving skin must not lose what a model says after a call."""
    said = '{"content": "a"}\n{"reasoning": "b"}\n{"finish_reason": "stop"}\n'

    strict = run("emit", "--order", "strict", said=said)

    assert 0 == run("emit", said=said).exit_code
    assert 1 == strict.exit_code
    assert "line 2: reasoning in state TEXT" in strict.stderr
    assert "event: response.failed\n" in strict.stdout


def test_emit_names_the_bad_line_and_ends_the_transcript():
    """One line on standard error; a client that listens gets its end."""
    result = run("emit", said='{"content": "Hi"}\n{"content": 5}\n')

    assert 1 == result.exit_code
    assert result.stderr.endswith(": line 2: content is int; expected a string\n")
    assert 1 == len(result.stderr.splitlines())
    assert result.stdout.endswith("data: [DONE]\n\n")
    assert "event: response.failed\n" in result.stdout


def test_emit_of_nothing_has_failed():
    """A model server that says nothing has not answered."""
    result = run("emit")

    assert 0 == result.exit_code
    assert "event: response.failed\n" in result.stdout


# check --------------------------------------------------------------------------------


def test_check_of_a_clean_transcript(clean):
    """Nothing but the summary, and exit status 0."""
    result = run("check", clean)

    assert 0 == result.exit_code
    assert f"{clean}: 9 events, 0 errors, 0 warnings\n" == result.stdout


def test_check_prints_file_line_rule_and_message():
    """Each violation in one line that an editor can follow."""
    result = run("check", PULL_REQUEST)

    assert 1 == result.exit_code
    assert f"{PULL_REQUEST}:208: final-output: output[0].id is 'rs_" in result.stdout
    assert result.stdout.endswith(" errors, 6 warnings\n")


def test_warnings_are_marked_and_fail_only_if_strict():
    """A client bears them."""
    result = run("check", WARNED)

    assert all(line.endswith(" (warning)") for line in result.stdout.splitlines()[:-1])
    assert 0 == result.exit_code
    assert 1 == run("check", "--strict", WARNED).exit_code


def test_check_writes_json_for_programs(clean):
    """One object in one line for each file."""
    result = run("check", "--json", clean, PULL_REQUEST)

    good, bad = map(json.loads, result.stdout.splitlines())
    assert {
        "file": str(clean),
        "events": 9,
        "errors": 0,
        "warnings": 0,
        "violations": [],
    } == good
    assert bad["errors"] == sum(v["level"] == "error" for v in bad["violations"])
    assert {"line", "level", "rule", "message", "sequence_number", "item_id"} == (
        bad["violations"][0].keys()
    )
    assert 1 == result.exit_code


def test_one_bad_file_among_many_is_enough(clean):
    """All are judged, and the worst verdict counts."""
    result = run("check", PULL_REQUEST, clean)

    assert 1 == result.exit_code
    assert f"{clean}: 9 events" in result.stdout


def test_check_reads_standard_input(clean):
    """So that emit can be piped into it."""
    result = run("check", "-", said=clean.read_bytes())

    assert (0, "-: 9 events, 0 errors, 0 warnings\n") == (result.exit_code, result.stdout)


def test_check_judges_the_order_only_if_asked_for():
    """What a model says after a call is no error."""
    body = run(
        "emit", said='{"content": "a"}\n{"reasoning": "b"}\n{"finish_reason": "stop"}'
    ).stdout

    assert 0 == run("check", "-", said=body).exit_code
    assert 1 == run("check", "--order", "strict", "-", said=body).exit_code


def test_check_knows_resumed_streams():
    """With the number of the event before."""
    file = RECORDINGS / "vllm_transcripts" / "bg_get_stream_after40.sse"

    assert 0 == run("check", "--starting-after", 40, file).exit_code
    assert 1 == run("check", file).exit_code


# show ---------------------------------------------------------------------------------


def test_show_draws(clean):
    """A lane for the message, and the end."""
    result = run("show", "--width", 100, clean)

    assert 0 == result.exit_code
    assert "msg_002" in result.stdout
    assert "ends with response.completed" in result.stdout


# Whatever the command ----------------------------------------------------------------


@pytest.mark.parametrize("command", ["emit", "check", "show"])
@pytest.mark.parametrize("file", ["missing.sse", "."])
def test_a_file_that_cannot_be_read(command, file):
    """Exit status 2, nothing on standard output, and what it was on standard error."""
    result = run(command, file)

    assert (2, "") == (result.exit_code, result.stdout)
    assert file in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("command", ["emit", "check", "show"])
def test_an_error_is_one_line(command):
    """Nobody reads the usage to learn that a file is missing."""
    assert 1 == len(run(command, "missing.sse").stderr.splitlines())


@pytest.mark.parametrize("arguments", [["nonsense"], ["check"], ["emit", "--order", "x"]])
def test_what_cannot_be_run(arguments):
    """Exit status 2 for a wrong command line."""
    assert 2 == run(*arguments).exit_code


@pytest.mark.parametrize("command", [[], ["emit"], ["check"], ["show"]])
def test_help_teaches(command):
    """What goes in, and the exit status or the options."""
    result = run(*command, "--help")

    assert 0 == result.exit_code
    assert "Usage: " in result.stdout
    assert 10 < len(result.stdout.splitlines()) or command == ["show"]


def test_emit_piped_into_check():
    """The two programs as a user runs them."""
    emit = subprocess.run([*COMMAND, "emit", SCRIPT], capture_output=True, check=True)
    check = subprocess.run(
        [*COMMAND, "check", "-"], input=emit.stdout, capture_output=True, check=False
    )

    assert (0, b"") == (check.returncode, check.stderr)
    assert b" 0 errors, 0 warnings\n" in check.stdout


def frames_of(pipe) -> Iterator[str]:
    """The type of each frame as it comes through a pipe."""
    for line in pipe:
        if line.startswith("event: "):
            yield line.removeprefix("event: response.").strip()


def test_emit_answers_each_line_as_it_comes():
    """Nothing waits in a buffer: each line's events can be read before the next line."""
    with subprocess.Popen(
        [*COMMAND, "emit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as emit:
        frames = frames_of(emit.stdout)

        def said(line: str, events: int) -> list[str]:
            emit.stdin.write(line + "\n")
            emit.stdin.flush()
            return [next(frames) for _ in range(events)]

        assert ["created", "in_progress"] == said('{"request": {}}', 2)
        assert "output_text.delta" == said('{"content": "Hi"}', 3)[-1]
        assert ["output_text.delta"] == said('{"content": " you"}', 1)
        assert "completed" == said('{"finish_reason": "stop"}', 4)[-1]
        emit.stdin.close()
        assert 0 == emit.wait(10)

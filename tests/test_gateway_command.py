"""`responses-stream serve`: its options, its greeting, its errors."""

from __future__ import annotations

import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from gateway_process import running
from gateway_scripts import SCRIPTS
from gateway_world import ask, said_in, scripted_server

from responses_stream.chat.limits import AnswerLimits
from responses_stream.chat.template import ChatOptions
from responses_stream.gateway import command, logs
from responses_stream.gateway.command import serve
from responses_stream.gateway.settings import Settings

README = (Path(__file__).parent.parent / "README.md").read_text()


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own logging stays as it is."""
    monkeypatch.setattr(logs, "configure", lambda *_: None)


@pytest.fixture(name="served")
def _served(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings of every gateway that would have been started."""
    served: list[Settings] = []
    monkeypatch.setattr(command, "_greet", lambda settings, *_: served.append(settings))
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    return served


def run(*args: str, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(serve, ["--port", "0", *args], env=env)


def test_without_options_the_settings_are_the_defaults(served):
    """What the command says by default is what the Struct says."""
    assert 0 == run().exit_code
    assert [Settings()] == served


@pytest.mark.parametrize(
    ("args", "changed"),
    [
        (["--upstream", "http://x/v1"], {"upstream": "http://x/v1"}),
        (["--dialect", "openresponses"], {"dialect": "openresponses"}),
        (["--reasoning", "both"], {"reasoning": "both"}),
        (["--keep-alive", "1.5"], {"keep_alive": 1.5}),
        (["--keep-alive-mode", "comment"], {"keep_alive_mode": "comment"}),
        (["--pass-authorization"], {"pass_authorization": True}),
        (["--idle-timeout", "5"], {"idle_timeout": 5.0}),
        (["--connect-timeout", "5"], {"connect_timeout": 5.0}),
        (["--first-byte-timeout", "5"], {"first_byte_timeout": 5.0}),
        (["--total-timeout", "0"], {"total_timeout": 0.0}),
        (["--request-timeout", "5"], {"request_timeout": 5.0}),
        (["--read-timeout", "5"], {"read_timeout": 5.0}),
        (["--grace", "0"], {"grace": 0.0}),
        (["--max-streams", "9"], {"max_streams": 9}),
        (["--max-body", "9"], {"max_body": 9}),
        (["--max-event", "9"], {"answer": AnswerLimits(max_event=9)}),
        (["--max-answer", "9"], {"answer": AnswerLimits(max_answer=9)}),
        (["--max-held", "9"], {"answer": AnswerLimits(max_held=9)}),
        (["--max-calls", "9"], {"answer": AnswerLimits(max_calls=9)}),
        (["--join-roles"], {"chat": ChatOptions(join_roles=True)}),
        (["--no-join-system"], {"chat": ChatOptions(join_system=False)}),
        (["--system-role", "developer"], {"chat": ChatOptions(system_role="developer")}),
        (
            ["--late-system-role", "system"],
            {"chat": ChatOptions(late_system_role="system")},
        ),
        (
            ["--reasoning-field", "reasoning"],
            {"chat": ChatOptions(reasoning_fields=("reasoning",))},
        ),
        (["--reasoning-field", ""], {"chat": ChatOptions(reasoning_fields=())}),
        (
            ["--output-limit-field", "max_completion_tokens"],
            {"chat": ChatOptions(output_limit_field="max_completion_tokens")},
        ),
    ],
    ids=str,
)
def test_each_option_is_a_setting(served, args, changed):
    """By flag, and by environment variable."""
    expected = msgspec.structs.replace(Settings(), **changed)
    name = re.sub("^no_", "", args[0].lstrip("-").replace("-", "_")).upper()
    value = args[1] if args[1:] else str("--no-" not in args[0])

    assert 0 == run(*args).exit_code
    assert 0 == run(env={f"RESPONSES_STREAM_{name}": value}).exit_code
    # click takes an empty variable for none.
    assert [expected, Settings() if value == "" else expected] == served


def test_a_flag_goes_before_the_environment(served):
    """As the help says."""
    run("--reasoning", "both", env={"RESPONSES_STREAM_REASONING": "summary"})

    assert "both" == served[0].reasoning


def test_every_option_tells_what_it_does():
    """Each has a help text and a section."""
    result = CliRunner().invoke(serve, ["--help"])

    assert 0 == result.exit_code
    for option in serve.params:
        assert getattr(option, "help", None)
        assert option.opts[0] in result.output
    for section in ("Whom to ask", "Whom to serve", "What to allow", "What to send"):
        assert section in result.output


def test_the_readme_lists_every_limit():
    """In the order of the help, with the same defaults."""
    limits = [o for o in serve.params if getattr(o, "section", "") == command.LIMITS]
    rows = re.findall(r"^\| `(--[a-z-]+)` \| (\d+) \|", README, re.MULTILINE)

    assert [(o.opts[0], f"{o.default:.0f}") for o in limits] == rows


@pytest.mark.parametrize(
    "args",
    [["--max-body", "0"], ["--idle-timeout", "-1"], ["--max-calls", "many"]],
    ids=str,
)
def test_a_limit_that_makes_no_sense_is_an_error(args):
    """Said at the start, with what would be right."""
    result = run(*args)

    assert 2 == result.exit_code
    assert args[0] in result.output


def test_keys_are_taken_from_the_environment(served):
    """Never from the command line, where others can read them."""
    env = {"OURS": "a", "THEIRS": "b"}
    run("--api-key-env", "OURS", "--upstream-key-env", "THEIRS", env=env)

    assert ("a", "b") == (served[0].api_key, served[0].upstream_key)


@pytest.mark.parametrize("value", [None, ""])
def test_a_key_that_is_not_there_is_an_error(value):
    """Rather than a gateway that is open to all."""
    result = run("--api-key-env", "NO_SUCH_KEY", env={"NO_SUCH_KEY": value})  # type: ignore[dict-item]

    assert 1 == result.exit_code
    assert "NO_SUCH_KEY" in result.output


@pytest.mark.parametrize(
    "key", ["two words", "line\nend", "schlüssel", "nul\x01"], ids=repr
)
def test_a_key_that_no_header_can_carry_is_an_error(key):
    """Rather than a fault at every request. It is not shown."""
    result = run("--upstream-key-env", "THEIRS", env={"THEIRS": key})

    assert 1 == result.exit_code
    assert "THEIRS" in result.output
    assert key not in result.output


def test_a_line_end_behind_a_key_is_no_part_of_it(served):
    """`KEY=$(cat file)` is not the only way to set one."""
    run("--api-key-env", "OURS", env={"OURS": "secret\n"})

    assert "secret" == served[0].api_key


@pytest.mark.parametrize(
    "url",
    [
        *("localhost:8000/v1", "http://", "ftp://x/v1", "http://x/v1?a=b", "http://x y/v1"),
        *("http://user:secret@x/v1", "http://x/v1#a"),
    ],
)
def test_an_upstream_that_is_no_url_is_an_error(url):
    """Rather than a gateway that refuses every request. A password is not shown."""
    result = run("--upstream", url)

    assert 1 == result.exit_code
    assert "expected http://" in result.output
    assert "secret" not in result.output


def test_a_port_that_is_taken_is_an_error():
    """One line, no traceback."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(serve, ["--port", str(port)])

    assert 1 == result.exit_code
    assert f"cannot listen on 127.0.0.1:{port}" in result.output


@pytest.mark.parametrize("module", ["uvicorn", "starlette.applications", "aiohttp"])
def test_without_the_extra_it_says_how_to_install_it(monkeypatch, module):
    """One line, also when only one package is missing."""
    for loaded in list(sys.modules):
        if loaded.startswith("responses_stream.gateway.") and "command" not in loaded:
            monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    result = run()

    assert 1 == result.exit_code
    assert "pip install 'responses-stream[gateway]'" in result.output
    assert 1 == len(result.output.strip().splitlines())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "example.org"])
def test_an_address_that_others_can_reach_needs_a_key(served, host):
    """Or a word that none is wanted. The default, and this machine's own, need neither."""
    refused = run("--host", host)

    assert 1 == refused.exit_code
    assert "--api-key-env" in refused.output
    assert "--open-to-all" in refused.output
    assert [] == served


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost"])
def test_an_address_that_others_cannot_reach_needs_none(served, host):
    """Only this machine's own."""
    assert 0 == run("--host", host).exit_code
    assert 1 == len(served)


def test_others_may_be_let_in(monkeypatch):
    """With a key, which the greeting tells of, or without."""
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    open_to_all = run("--host", "0.0.0.0", "--open-to-all")
    with_key = run("--host", "0.0.0.0", "--api-key-env", "KEY", env={"KEY": "k"})

    assert (0, 0) == (open_to_all.exit_code, with_key.exit_code)
    assert "authorization: Bearer KEY" in with_key.output


def test_the_greeting_can_be_tried():
    """The curl line that it prints shows a stream that ends."""
    with running() as gateway:
        curl = shlex.split(gateway.greeting.partition("Try it:")[2].replace("\\\n", " "))
        got = subprocess.run(curl, capture_output=True, check=True, timeout=20)
        gateway.tell(signal.SIGINT)
        gateway.end()

    assert "demo model" in gateway.greeting
    assert b"event: response.output_text.delta" in got.stdout
    assert got.stdout.endswith(b"data: [DONE]\n\n")


def test_it_serves_in_front_of_an_upstream():
    """The whole command, with a chat server behind it."""
    with scripted_server(SCRIPTS) as server, running("--upstream", server.url) as gateway:
        got = ask(gateway.url, model="plain", input="Hi")
        gateway.tell(signal.SIGINT)
        gateway.end()

    assert "Hello" == said_in(got.json["output"], "message")

"""What is logged: one line for each exchange, and never what was said."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from gateway_fixtures import server_of
from gateway_frames import END, ROLE, STOP, Script, call, calls, data, said
from gateway_world import ask, serving
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import ANY_TEXT

from responses_stream.chat.reader import ChatReader
from responses_stream.gateway import logs
from responses_stream.gateway.settings import Settings

PROMPT, ANSWER, KEY = "PROMPT-7f3a", "ANSWER-91bc", "KEY-55de"

SCRIPTS = {
    "plain": Script((ROLE, *said(ANSWER), STOP, *END)),
    "calls": Script(
        (
            calls(call(0, ANSWER, ANSWER, json.dumps({"a": ANSWER}))),
            calls(call(0, arguments=ANSWER)),
            STOP,
            *END,
        )
    ),
    "error": Script((ROLE, *said(ANSWER), data({"error": {"message": f"{PROMPT}!"}}))),
    "garbage": Script((ROLE, b"data: " + ANSWER.encode() + b"\n\n")),
    "no_events": Script((ANSWER.encode(),)),
    "refused": Script(
        (json.dumps({"error": {"message": PROMPT, "param": PROMPT}}).encode(),),
        status=500,
        framing="length",
    ),
    "no_http": Script((ANSWER.encode(),), headers=(f"{ANSWER}\x01: x",), framing="length"),
    "reset": Script((ROLE, *said(ANSWER)), ending="reset"),
    "moved": Script((), status=307, headers=(f"location: http://x/{ANSWER}",)),
}

_server = server_of(SCRIPTS)


@pytest.fixture(name="lines", params=["text", "json"])
def _lines(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """Reads what is logged while the test runs, as a process would log it."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    root = logging.getLogger()
    before = root.handlers[:], root.level
    root.handlers = []
    logs.configure("debug", request.param)
    # In this process, but no part of the gateway.
    clients = [logging.getLogger(name) for name in ("httpx", "httpcore")]
    for client in clients:
        client.setLevel(logging.WARNING)
    yield lambda: written.getvalue().splitlines()
    for client in clients:
        client.setLevel(logging.NOTSET)
    root.handlers, level = before
    root.setLevel(level)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("path", ["/responses", "/chat/completions"])
@pytest.mark.parametrize("model", SCRIPTS)
def test_nothing_that_was_said_is_logged(server, lines, model, path, stream):
    """Neither prompts nor answers nor keys, even where everything is logged."""
    settings = Settings(
        upstream=server.url, api_key=KEY, upstream_key=KEY, pass_authorization=True
    )
    with serving(settings) as url:
        ask(
            url,
            f"{path}?secret={PROMPT}",
            model=model,
            input=PROMPT,
            messages=[{"role": "user", "content": PROMPT}],
            instructions=PROMPT,
            tools=[{"type": "function", "name": PROMPT, "parameters": {}}],
            user=PROMPT,
            stream=stream,
            headers={"authorization": f"Bearer {KEY}", "x-secret": PROMPT},
        )
    logged = "\n".join(lines())

    assert "path=/v1" in logged or '"path": "/v1' in logged
    for secret in (PROMPT, ANSWER, KEY):
        assert secret not in logged


@pytest.mark.parametrize(
    "wrong",
    [
        {"input": [{"type": PROMPT}]},
        {"input": [{"role": PROMPT, "content": "x"}]},
        {"previous_response_id": PROMPT},
        {PROMPT: {"a": 1}, "input": 5},
    ],
    ids=str,
)
def test_a_request_that_is_refused_is_not_quoted(server, lines, wrong):
    """Its client is told what was wrong, the log only where."""
    with serving(Settings(upstream=server.url)) as url:
        got = ask(url, **{"model": "plain", "input": "Hi", **wrong})
    logged = "\n".join(lines())

    assert 400 == got.status
    assert "invalid_request_error" in logged
    assert PROMPT not in logged


def test_a_wrong_key_is_not_logged(server, lines):
    """It may be nearly right."""
    with serving(Settings(upstream=server.url, api_key=KEY)) as url:
        headers = {"authorization": f"Bearer {KEY}x"}
        got = ask(url, model="plain", input="Hi", headers=headers)
    logged = "\n".join(lines())

    assert 401 == got.status
    assert "invalid_api_key" in logged
    assert KEY not in logged


def test_request_and_response_can_be_found_by_their_ids(server, lines):
    """The client knows both; the chat server has the first."""
    with serving(Settings(upstream=server.url)) as url:
        got = ask(url, model="plain", input="Hi", stream=True)
    (line,) = [line for line in lines() if "completed" in line]

    assert got.headers["x-request-id"] in line
    assert got.response["id"] in line


def test_a_bug_is_logged_with_the_id_of_its_request(server, lines, monkeypatch):
    """And its traceback, but without the values of variables."""
    secret_of_ours = PROMPT

    def broken(*_: object) -> None:
        assert secret_of_ours
        raise RuntimeError

    monkeypatch.setattr(ChatReader, "feed", broken)
    with serving(Settings(upstream=server.url)) as url:
        got = ask(url, model="plain", input=PROMPT, stream=True)
    logged = "\n".join(lines())

    assert got.headers["x-request-id"] in logged
    assert "Traceback" in logged
    assert "RuntimeError" in logged
    assert PROMPT not in logged


def test_what_goes_wrong_at_the_chat_server_is_a_warning(lines):
    """In words that the person at the terminal understands."""
    with serving(Settings(upstream="http://127.0.0.1:9/v1")) as url:
        ask(url, model="plain", input="Hi")

    (line,) = [line for line in lines() if "refused" in line]
    assert "the model server cannot be reached: Connection refused" in line
    assert "warning" in line


@given(ANY_TEXT | st.text(), ANY_TEXT | st.text(), st.sampled_from(["text", "json"]))
@example("a\nb", "x\r\n2026-11-21 [error] all is lost", "text")
@example("a\x1b[31m", "\x1b]0;title\x07", "text")
@example("\u2028", "\x85\ud800", "text")
def test_a_record_is_one_line_without_control_characters(message, value, form):
    """Whatever is logged cannot make lines of its own, or move the cursor."""
    record = logging.LogRecord("x", logging.INFO, "", 0, message, (), None)
    record.path = value
    line = logs.formatter(form, colors=False).format(record)

    assert line.isprintable()
    if form == "json":
        assert isinstance(json.loads(line)["path"], str)


def test_levels_are_obeyed():
    """`warning`, the default, leaves out what went well; our own progress stays."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        logs.configure("warning", "text")
        assert not logging.getLogger("responses_stream.gateway.logs").isEnabledFor(
            logging.INFO
        )
        assert logging.getLogger(logs.ALWAYS).isEnabledFor(logging.INFO)
    finally:
        root.handlers = before[0]
        root.setLevel(before[1])
    assert re.fullmatch(r"[\w.]+", logs.ALWAYS)

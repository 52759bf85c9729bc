"""What servers say of their errors, in one shape."""

from __future__ import annotations

from typing import Any

import pytest

from responses_stream.chat.failures import CODES, STATUSES, Failure, read_failure
from responses_stream.transcript import ERROR_TYPES


@pytest.mark.parametrize(
    "said",
    [
        {"error": {"message": "no room", "type": "x", "code": None, "param": None}},
        {"error": "no room"},
        {"error": True, "message": "no room"},
        {"error": True, "reason": "no room"},
        {"object": "error", "message": "no room", "code": 500},
        {"message": "no room"},
        {"detail": "no room"},
        {"msg": "no room"},
        {"error": {"msg": "no room"}},
        [{"error": {"message": "no room"}}],
        "no room",
        "  no room\n",
    ],
    ids=repr,
)
def test_the_message_is_found(said):
    """Wherever a server puts it."""
    assert "no room" == read_failure(said).message


@pytest.mark.parametrize(
    "said", [None, {}, [], "", 42, True, {"error": {}}, "<html>no</html>"], ids=repr
)
def test_without_a_message_the_status_speaks(said):
    """Nobody is left without a reason, and no page of HTML is passed on."""
    assert "answered 500" in read_failure(said, 500).message
    assert read_failure(said).message


@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        (
            {"error": {"message": "x", "code": "rate_limit_exceeded"}},
            None,
            "rate_limit_exceeded",
        ),
        (
            {"error": {"message": "x", "code": "insufficient_quota"}},
            429,
            "insufficient_quota",
        ),
        ({"error": {"message": "x", "code": 429}}, None, "rate_limit_exceeded"),
        ({"error": {"message": "x", "code": "429"}}, None, "rate_limit_exceeded"),
        ({"error": {"message": "x", "code": 400}}, None, "invalid_prompt"),
        ({"error": {"message": "x", "code": 1234}}, None, "server_error"),
        ({"error": {"message": "x", "code": True}}, None, "server_error"),
        ({"error": {"message": "x", "code": "weird"}}, None, "server_error"),
        ({"error": {"message": "x", "code": ["a"]}}, None, "server_error"),
        ("x", 404, "model_not_found"),
        ("x", 418, "server_error"),
        ("x", 500, "server_error"),
    ],
    ids=repr,
)
def test_the_code_is_one_that_codex_knows(said, status, code):
    """Said, or told by the status; all else is a server_error."""
    assert code == read_failure(said, status).code


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000",
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        "the request exceeds the available context size, try increasing it",
        "The prompt (length 5000) is longer than the maximum model length of 4096",
        "input token len 5000 is too long > max_req_input_len 4096",
        "Input is too long for this model",
        "Your input exceeds the context window of this model",
        "context_length_exceeded",
    ],
)
@pytest.mark.parametrize("status", [None, 400, 413, 422, 500])
def test_a_prompt_that_is_too_long_is_known_by_its_words(message, status):
    """Few servers have a code for it, and codex needs one."""
    failure = read_failure({"error": {"message": message}}, status)

    assert ("context_length_exceeded", 400) == (failure.code, failure.status)


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens must be at least 1",
        "temperature is too high",
        "the queue is too long",
        "invalid input",
    ],
)
def test_other_refusals_are_not_taken_for_it(message):
    """It would make codex give up on the conversation."""
    assert "invalid_prompt" == read_failure({"error": message}, 400).code


def test_a_rate_limit_is_never_an_overflow():
    """Whatever its words."""
    said = {"error": "context window tokens per minute"}

    assert "rate_limit_exceeded" == read_failure(said, 429).code


def test_codex_is_told_how_long_to_wait():
    """In mid-stream it reads the seconds from the message."""
    failure = read_failure("busy", 429, "7")

    assert failure.in_stream()["message"].endswith("Please try again in 7s.")


def test_what_was_told_is_not_told_twice():
    """A message that has the time already is left alone."""
    failure = read_failure("busy, try again in 3s", 429, "7")

    assert "busy, try again in 3s" == failure.in_stream()["message"]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "server_error"),
        (529, "server_error"),
    ],
)
def test_an_http_error_has_openais_shape(status, kind):
    """Four keys under `error`."""
    error = read_failure({"message": "no", "param": "input"}, status).in_http()["error"]

    assert {"message", "type", "param", "code"} == set(error)
    assert ("no", "input", kind) == (error["message"], error["param"], error["type"])


def test_open_responses_has_types_of_its_own():
    """The same four keys, with other words (clients.md 1.1)."""

    def kind(status: int) -> Any:
        return read_failure("x", status).in_http("openresponses")["error"]["type"]

    assert "too_many_requests" == kind(429)
    assert "not_found" == kind(404)
    assert "invalid_request" == kind(400)
    assert "server_error" == kind(500)


def test_every_code_has_a_status_and_the_tables_agree():
    """No code is made that has no row."""
    assert set(CODES.values()) <= set(STATUSES)
    assert set(ERROR_TYPES) <= set(STATUSES) | {"slow_down"}


def test_a_message_is_bounded_and_whole():
    """A server that echoes a prompt does not fill the log; no half code points."""
    failure = read_failure("\ud83d" + "x" * 100_000)

    assert isinstance(failure, Failure)
    assert len(failure.message) <= 2000
    failure.message.encode()

"""Who may do what: keys, headers, hosts; requests that nobody sends by accident."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from gateway_fixtures import server_of, url_of
from gateway_frames import HELLO, Script
from gateway_in_memory import call
from gateway_world import REQUEST, ask, serving
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import ANY_TEXT, JSON

from responses_stream.gateway.settings import Settings
from responses_stream.gateway.upstream import _retry_after
from responses_stream.json_text import DEEPEST

SCRIPTS = {
    "plain": Script(HELLO),
    "chatty": Script(
        HELLO,
        headers=(
            "content-type: text/event-stream",
            "set-cookie: a=b",
            "openai-model: other",
            "x-request-id: theirs",
            "x-evil: yes",
            "authorization: Bearer theirs",
            "content-encoding: identity",
        ),
    ),
    "moved": Script((), status=307, headers=("location: http://127.0.0.1:9/v1",)),
    "busy": Script(
        (b'{"error": "busy"}',),
        status=429,
        framing="length",
        headers=("retry-after: \xff",),
    ),
}

OURS = {"host", "accept", "accept-encoding", "user-agent", "content-type", "content-length"}

_server = server_of(SCRIPTS)
_url = url_of()


def request(**fields: Any) -> bytes:
    return json.dumps({"model": "plain", "input": "Hi", **fields}).encode()


# Headers ------------------------------------------------------------------------------

NAMES = st.from_regex(rb"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}", fullmatch=True)
VALUES = st.binary(max_size=40).map(
    # What a server lets through: no line ends, no NUL.
    lambda value: bytes(byte for byte in value if byte == 9 or 32 <= byte != 127)
)


@given(st.lists(st.tuples(NAMES, VALUES), max_size=8), st.booleans(), st.booleans())
def test_no_header_of_a_client_passes_but_the_one_that_may(headers, has_key, passes):
    """`Authorization`, and that only where it was asked for; the rest is ours."""
    settings = Settings(upstream_key="ours" if has_key else None, pass_authorization=passes)
    refused = (b"content-encoding", b"content-length", b"transfer-encoding")
    headers = [pair for pair in headers if pair[0].lower() not in refused]
    got, friendly = call(settings, request(), headers)
    [(_, told)] = friendly.told
    own = [value for name, value in headers if name.lower() == b"authorization"]

    assert 200 == got.status_code
    assert {"x-request-id", "authorization"} >= set(told)
    assert told["x-request-id"] == got.headers["x-request-id"]
    if passes and own:
        assert own[0].decode("latin-1").strip() == told["authorization"].strip()
    else:
        assert ("Bearer ours" if has_key else None) == told.get("authorization")


def test_nothing_but_our_headers_reaches_the_chat_server(server, url):
    """Neither what the client sent, nor where it comes from."""
    headers = {
        "cookie": "a=b",
        "x-forwarded-for": "1.2.3.4",
        "x-api-key": "secret",
        "authorization": "Bearer theirs",
        "originator": "codex_exec",
        "user-agent": "codex",
    }
    ask(url, model="plain", input="Hi", headers=headers)
    told = server.asked[-1].headers

    assert OURS | {"x-request-id"} == set(told)
    assert "codex" not in told["user-agent"]


@pytest.mark.parametrize("stream", [True, False])
def test_nothing_but_our_headers_reaches_the_client(url, stream):
    """Whatever the chat server sends beside its answer stays here."""
    got = ask(url, model="chatty", input="Hi", stream=stream)
    ours = {"date", "content-type", "x-request-id"}
    ours |= {"cache-control", "x-accel-buffering"} if stream else {"content-length"}

    assert ours | ({"transfer-encoding"} if stream else set()) == set(got.headers)
    assert "theirs" != got.headers["x-request-id"]


@given(st.text() | st.integers().map(str))
@example("Wed, 21 Oct 2026 07:28:00 GMT")
@example("\N{SUPERSCRIPT TWO}")
@example("1\r\nx-evil: yes")
def test_a_time_to_wait_is_passed_on_only_if_it_is_one(said):
    """Seconds or a date, in characters that any header can carry."""
    response: Any = SimpleNamespace(headers={"retry-after": said})
    passed_on = _retry_after(response)

    assert passed_on is None or (passed_on.isascii() and passed_on.isprintable())
    if said.isascii() and said.isdigit() and len(said) < 7:
        assert said == passed_on


def test_a_time_to_wait_that_is_none_is_replaced(url):
    """It must not break the answer, which a client would take for our fault."""
    got = ask(url, model="busy", input="Hi")

    assert 429 == got.status
    assert "2" == got.headers["retry-after"]


@pytest.mark.parametrize(
    "value", [b"Bearer s\xe9cret", b"\xff\xfe", b"Bearer \t x"], ids=repr
)
def test_any_key_of_a_client_can_be_passed_on(server, value):
    """Or at least breaks nothing."""
    with serving(Settings(upstream=server.url, pass_authorization=True)) as url:
        got = httpx.post(
            f"{url}/responses", content=request(), headers=[(b"authorization", value)]
        )

    assert 200 == got.status_code


# Hosts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        ("http://evil.invalid/v1/responses", {}),
        ("/v1/responses", {"host": "evil.invalid"}),
        ("/v1/responses", {"x-forwarded-host": "evil.invalid", "forwarded": "host=evil"}),
        ("/v1/responses?upstream=http://evil.invalid", {}),
        ("/v1//responses/../responses", {}),
    ],
    ids=repr,
)
def test_no_request_chooses_the_chat_server(server, url, target, headers):
    """Neither its target nor its headers."""
    before = len(server.asked)
    with httpx.Client() as client:
        asked = client.build_request("POST", f"{url}/x", content=request(), headers=headers)
        asked.extensions["target"] = target.encode()
        got = client.send(asked)

    if got.status_code == 200:
        assert (
            server.url.removeprefix("http://").removesuffix("/v1")
            == (server.asked[-1].headers["host"])
        )
        assert "/v1/chat/completions" == server.asked[-1].path
    else:
        assert 404 == got.status_code
        assert before == len(server.asked)


def test_no_field_chooses_the_chat_server(server, url):
    """Whatever its name promises."""
    names = ("base_url", "upstream", "url", "host", "endpoint", "api_base", "proxy")
    fields = dict.fromkeys(names, "http://evil.invalid/v1")
    got = httpx.post(f"{url}/responses", content=request(**fields))

    assert 200 == got.status_code
    assert server.asked[-1].headers["host"] in server.url


def test_a_redirect_is_not_followed(url):
    """It would take the key somewhere else."""
    got = ask(url, model="moved", input="Hi")

    assert 502 == got.status
    assert "answered 307" in got.error["message"]


# Bodies -------------------------------------------------------------------------------

WRONG = {
    "one level too many": b'{"model": "m", "input": %b}'
    % (b"[" * DEEPEST + b"]" * DEEPEST),
    "500 levels in a tool": b'{"model": "m", "input": "Hi", "tools": [%b]}'
    % (b'{"a":' * 500 + b"1" + b"}" * 500),
    "100,000 levels": b'{"model": "m", "input": %b}' % (b"[" * 100_000),
    "a number of 5,000 digits": b'{"model": "m", "input": "Hi", "seed": %b}'
    % (b"9" * 5000),
    "a number beyond floats": b'{"model": "m", "input": "Hi", "temperature": 1e999}',
    "no number": b'{"model": "m", "input": "Hi", "temperature": NaN}',
    "infinity": b'{"model": "m", "input": "Hi", "temperature": -Infinity}',
    "half a surrogate pair": b'{"model": "m", "input": "\\ud800"}',
    "half of one in bytes": b'{"model": "m", "input": "\xed\xa0\x80"}',
    "a bare NUL": b'{"model": "m", "input": "\x00"}',
    "a bare line end": b'{"model": "m", "input": "\n"}',
    "UTF-16": request().decode().encode("utf-16"),
    "two objects": request() + request(),
}


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions"])
@pytest.mark.parametrize("name", WRONG)
def test_a_body_that_nobody_means_is_a_bad_request(name, path):
    """400 with a reason, and no word to the chat server."""
    got, friendly = call(Settings(), WRONG[name], path=path)

    assert 400 == got.status_code
    assert "invalid_json" == got.json()["error"]["code"]
    assert [] == friendly.told


RIGHT = {
    "NUL, escaped": request(input="a\0b"),
    "ten megabytes": request(input="x" * 10_000_000),
    "a hundred levels": b'{"model": "m", "input": "Hi", "a": %b}'
    % (b"[" * (DEEPEST - 1) + b"]" * (DEEPEST - 1)),
    "a number of 400 digits": request(seed=10**400),
    "line ends": request(input="\r\n\r\ndata: [DONE]\r\n\r\n", user="\r\nx-evil: yes"),
}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", RIGHT)
def test_a_body_that_is_only_strange_is_served(name, stream):
    """It goes to the chat server, and back, as what it is."""
    content = RIGHT[name][:-1] + b', "stream": %b}' % json.dumps(stream).encode()
    got, friendly = call(Settings(), content)

    assert 200 == got.status_code
    assert 1 == len(friendly.told)
    assert "x-evil" not in got.headers


def test_of_two_values_for_one_key_both_sides_know_the_last():
    """So that nobody is told what another did not see."""
    got, friendly = call(Settings(), b'{"model": "a", "input": "Hi", "model": "b"}')
    [(body, _)] = friendly.told

    assert "b" == got.json()["model"] == json.loads(body)["model"]
    assert 1 == body.count(b'"model"')


FIELDS = st.sampled_from(
    [*REQUEST, "model", "instructions", "include", "text", "reasoning", "tool_choice"]
    + ["max_output_tokens", "stream", "metadata", "top_logprobs", "parallel_tool_calls"]
    + ["stream_options", "temperature", "user", "store", "surprise", "conversation"]
)


@given(st.dictionaries(FIELDS, JSON | ANY_TEXT), st.booleans(), st.booleans())
def test_any_request_is_answered_or_refused_with_a_reason(fields, stream, chat):
    """Whatever its fields hold: never a fault of ours."""
    content = json.dumps({"model": "m", "input": "Hi", "stream": stream, **fields}).encode()
    got, _ = call(
        Settings(), content, path="/v1/chat/completions" if chat else "/v1/responses"
    )

    assert got.status_code in (200, 400)
    if got.status_code == 400:
        error = got.json()["error"]
        assert error["message"]
        assert "invalid_request_error" == error["type"]


@given(st.binary(max_size=200))
def test_any_bytes_are_answered_or_refused(content):
    """What is no JSON object is no request."""
    got, _ = call(Settings(), content)

    assert 400 == got.status_code


# Keys ---------------------------------------------------------------------------------


@given(VALUES)
@example(b"Bearer secret")
@example(b"Bearer secre")
@example(b"Bearer secrett")
@example(b"Bearer s\xc3\xa9cret")
def test_no_other_key_opens(value):
    """Any route but /health; and our key goes to nobody."""
    got, friendly = call(Settings(api_key="secret"), request(), [(b"authorization", value)])
    scheme, _, key = value.decode("latin-1").strip().partition(" ")
    is_right = scheme.lower() == "bearer" and key.strip() == "secret"

    assert (200 if is_right else 401) == got.status_code
    assert all("authorization" not in headers for _, headers in friendly.told)
    assert b"secret" not in got.content


@pytest.mark.parametrize("path", ["/v1/models", "/metrics"])
def test_the_other_routes_need_the_key_too(server, path):
    """Only whether this process serves is everybody's to know."""
    with serving(Settings(upstream=server.url, api_key="secret")) as url:
        base = url.removesuffix("/v1")
        codes = [
            httpx.get(base + path).status_code,
            httpx.get(base + path, headers={"authorization": "Bearer secret"}).status_code,
            httpx.get(base + "/health").status_code,
        ]

    assert [401, 200, 200] == codes

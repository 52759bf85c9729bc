"""Scripts that fail: in a stream, or before it has begun.

Numbers in comments are those of clients.md 5.1.
"""

from __future__ import annotations

import json
from typing import Any

from gateway_frames import (
    DONE,
    END,
    ONE_CALL,
    ROLE,
    STOP,
    WEATHER,
    Script,
    chunk,
    data,
    failed,
    said,
)


def refused(status: int, said: Any, code: str, ends: str, **more: Any) -> Script:
    """An HTTP error."""
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    more.setdefault("headers", ("content-type: application/json",))
    return Script(
        (body,) if body else (),
        status=status,
        framing="length",
        ends=ends,
        reason=code,
        **more,
    )


UPSTREAM_DIED = {"error": {"message": "engine died", "type": "server_error", "code": None}}

FAILURES = {
    "ends_in_text": failed(ROLE, *said("Hello"), text="Hello"),  # 32, 33
    "ends_in_thoughts": failed(  # 31
        ROLE, *said("Hmm", field="reasoning"), thoughts="Hmm"
    ),
    "ends_in_call": failed(*ONE_CALL[:2], calls=(("get_weather", '{"city":'),)),
    "ends_after_done": failed(ROLE, *said("Hello"), DONE, text="Hello"),
    "ends_at_once": failed(says="empty"),
    "ends_after_role": failed(ROLE, says="without a finish reason"),
    "cut_in_text": failed(ROLE, *said("Hello"), ending="cut", text="Hello"),
    "cut_in_frame": failed(ROLE, *said("Hello"), STOP[:30], ending="cut", text="Hello"),
    "reset_in_text": failed(ROLE, *said("Hello"), ending="reset", text="Hello"),
    "finish_abort": failed(
        *said("Hello"), chunk({}, "abort"), *END, text="Hello", usage=(7, 5)
    ),
    "finish_error": failed(
        *said("Hello"), chunk({}, "error"), *END, text="Hello", usage=(7, 5)
    ),
    "error_first": failed(data(UPSTREAM_DIED), DONE, says="engine died"),  # 8
    "error_in_text": failed(  # 24
        ROLE,
        *said("Hello"),
        data(UPSTREAM_DIED),
        DONE,
        says="engine died",
        text="Hello",
    ),
    "error_in_call": failed(
        *ONE_CALL[:2],
        data(UPSTREAM_DIED),
        says="engine died",
        calls=(("get_weather", '{"city":'),),
    ),
    "error_after_call": failed(
        *ONE_CALL, data(UPSTREAM_DIED), says="engine died", calls=(WEATHER,)
    ),
    "error_as_string": failed(
        *said("Hello"), data({"error": "engine died"}), says="engine died", text="Hello"
    ),
    "error_event": failed(
        *said("Hello"),
        b'event: error\ndata: {"message": "engine died"}\n\n',
        says="engine died",
        text="Hello",
    ),
    "error_event_in_words": failed(
        *said("Hello"),
        b"event: error\ndata: engine died\n\n",
        says="engine died",
        text="Hello",
    ),
    "error_object": failed(
        data({"object": "error", "message": "engine died", "code": 500}),
        says="engine died",
    ),
    "error_detail": failed(data({"detail": "engine died"}), says="engine died"),
    "error_beside_choices": failed(
        chunk({"content": "Hello"}, "error", error={"message": "engine died"}),
        says="engine died",
    ),
    "error_in_whole_json": failed(json.dumps(UPSTREAM_DIED).encode(), says="engine died"),
    "rate_limit_in_stream": failed(
        *said("Hello"),
        data({"error": {"message": "slow, try again in 2s", "code": 429}}),
        reason="rate_limit_exceeded",
        says="try again in 2s",
        text="Hello",
    ),
    "overflow_in_stream": failed(
        data({"error": {"message": "maximum context length is 8 tokens", "code": 400}}),
        reason="context_length_exceeded",
    ),
    "bad_request_in_stream": failed(
        data({"error": {"message": "bad regex", "code": 400}}), reason="invalid_prompt"
    ),
    "html_page": failed(
        b"<html><body>Welcome to nginx!</body></html>",
        headers=("content-type: text/html",),
        says="<html>",
    ),
    "garbage": failed(ROLE, b"data: {garbage\n\n", says="{garbage"),
    "json_of_another_kind": failed(ROLE, b"data: 42\n\n"),
    "field_of_another_type": failed(chunk({"content": 42}), says="content is int"),
    "deep_json": failed(b"data: " + b"[" * 100_000 + b"\n\n"),
}

TOO_LONG = "This model's maximum context length is 8 tokens. However, you requested 9."

REFUSALS = {
    "reset_at_once": refused(502, b"", "server_error", "502", ending="reset"),
    "http_400": refused(
        400,
        {"error": {"message": "bad tool", "param": "tools", "code": 400}},
        "invalid_prompt",
        "400",
        says="bad tool",
    ),
    "http_400_too_long": refused(
        400,
        {
            "object": "error",
            "message": TOO_LONG,
            "type": "BadRequestError",
            "code": 400,
        },
        "context_length_exceeded",
        "400",
        says="maximum context length",
    ),
    "http_500_too_long": refused(
        500, {"error": TOO_LONG}, "context_length_exceeded", "400"
    ),
    "http_400_llama_cpp": refused(
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
            }
        },
        "context_length_exceeded",
        "400",
    ),
    "http_401": refused(401, {"error": "Unauthorized"}, "server_error", "401"),
    "http_404": refused(
        404, {"detail": "model m does not exist"}, "model_not_found", "404"
    ),
    "http_422": refused(
        422,
        {"detail": [{"loc": ["body"], "msg": "field required"}]},
        "invalid_prompt",
        "422",
        says="field required",
    ),
    "http_429": refused(
        429, {"error": {"message": "queue full"}}, "rate_limit_exceeded", "429"
    ),
    "http_429_retry": refused(
        429,
        {"error": {"message": "queue full"}},
        "rate_limit_exceeded",
        "429",
        headers=("content-type: application/json", "retry-after: 7"),
    ),
    "http_429_quota": refused(
        429,
        {"error": {"message": "pay", "code": "insufficient_quota"}},
        "insufficient_quota",
        "429",
    ),
    "http_500_page": refused(
        500,
        b"<html>Internal Server Error</html>",
        "server_error",
        "500",
        headers=("content-type: text/html",),
        says="answered 500",
    ),
    "http_503_retry": refused(
        503,
        b"Loading model",
        "server_error",
        "503",
        headers=("content-type: text/plain", "retry-after: 9"),
        says="Loading model",
    ),
    "http_302": refused(
        302, b"", "server_error", "502", headers=("location: /login",), says="/login"
    ),
}

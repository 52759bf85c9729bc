"""What went wrong at a chat server: its words, read into one shape.

Servers say it in many ways: an object under `error`, a string there, the fields at the
top, FastAPI's `detail`, plain text. A `Failure` is what all of them come to; what to
answer is read off it, for a stream and for HTTP alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from responses_stream.code_points import mend, mend_all
from responses_stream.transcript import ERROR_TYPES, SERVER_ERROR

CONTEXT: Final = "context_length_exceeded"
RATE_LIMIT: Final = "rate_limit_exceeded"
INVALID: Final = "invalid_prompt"
NO_MODEL: Final = "model_not_found"

STATUSES: Final[Mapping[str, int]] = {
    CONTEXT: 400,
    INVALID: 400,
    "invalid_request_error": 400,
    NO_MODEL: 404,
    RATE_LIMIT: 429,
    "insufficient_quota": 429,
    "usage_not_included": 429,
    "slow_down": 503,
    "server_is_overloaded": 503,
    SERVER_ERROR: 502,
}
"""The codes that codex acts on (codex.md section 5), and the status of each where there
was none. Every other code of a chat server means to a client what SERVER_ERROR means."""

CODES: Final[Mapping[int, str]] = {
    400: INVALID,
    404: NO_MODEL,
    413: INVALID,
    422: INVALID,
    429: RATE_LIMIT,
}
"""The code where there was only a status. A request that was refused would be refused
again, and INVALID is what keeps codex from asking five times more."""

TYPES: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
"""OpenAI's `error.type` by status; of the rest, 4xx are the client's, 5xx the server's."""

ERROR_STATUSES: Final = range(400, 600)

_OVERFLOW: Final = re.compile(
    r"context[ _](?:length|window|size)"
    r"|maximum (?:model|sequence|input) length"
    r"|max(?:imum)?[ _-](?:model|seq|sequence|input|req|request)[ _a-z]*len"
    r"|(?:prompt|input)s?\b.{0,40}\btoo long",
    re.IGNORECASE | re.DOTALL,
)
"""How servers say that a prompt is too long, where they have no code for it."""

_LONGEST_MESSAGE: Final = 2000


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong, and how to say so."""

    code: str
    message: str
    status: int
    param: str | None = None
    retry_after: str | None = None
    """Seconds, or a date, as in the header."""

    def in_stream(self) -> dict[str, str]:
        """For ResponseStream.fail. codex reads the time to wait from the message."""
        message = self.message
        seconds = self.retry_after or ""
        if self.code == RATE_LIMIT and seconds.isdigit() and "try again" not in message:
            message = f"{message} Please try again in {seconds}s."
        return {"code": self.code, "message": message}

    def in_http(self, dialect: str = "openai") -> dict[str, Any]:
        """The body of an error response."""
        is_ours = self.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        kind = SERVER_ERROR if is_ours else "invalid_request_error"
        kind = TYPES.get(self.status, kind)
        if dialect == "openresponses":
            kind = ERROR_TYPES.get(self.code, SERVER_ERROR)
        return {
            "error": {
                "message": self.message,
                "type": kind,
                "param": self.param,
                "code": self.code,
            }
        }


def read_failure(
    said: object, status: int | None = None, retry_after: str | None = None
) -> Failure:
    """The failure that a server means by `said`: decoded JSON, or text.

    `status` is the one that came with it, None in mid-stream.
    """
    error = _error_in(said)
    # Cut first: what comes is searched, and may have megabytes.
    message = mend(_message(error)[:_LONGEST_MESSAGE]) or _unsaid(status)
    said_code = error.get("code") if isinstance(error, Mapping) else None
    if status is None:
        status = _status(said_code)
    if isinstance(said_code, str) and said_code in STATUSES:
        code = said_code
    elif _is_overflow(error, message, status):
        code, status = CONTEXT, STATUSES[CONTEXT]
    else:
        code = CODES.get(status or 0, SERVER_ERROR)
    param = error.get("param") if isinstance(error, Mapping) else None
    return Failure(
        code=code,
        message=message,
        status=status or STATUSES[code],
        param=mend(param) if isinstance(param, str) else None,
        retry_after=retry_after,
    )


def _error_in(said: object) -> object:
    """The part of `said` that speaks of the error."""
    if isinstance(said, list) and said:
        return _error_in(said[0])
    if isinstance(said, Mapping):
        nested = said.get("error")
        if isinstance(nested, (Mapping, str)) and nested:
            return nested
    return said


def _message(error: object) -> str:
    if isinstance(error, str):
        text = error.strip()
        # A proxy's page says less than its status.
        return "" if text.startswith("<") else text
    if not isinstance(error, Mapping):
        return ""
    for name in ("message", "detail", "msg", "reason", "error_message"):
        found = error.get(name)
        if isinstance(found, str) and found.strip():
            return found.strip()
        if isinstance(found, (list, Mapping)) and found:
            return msgspec.json.encode(mend_all(found)).decode()
    return ""


def _unsaid(status: int | None) -> str:
    answered = f" answered {status} and" if status else ""
    return f"the model server{answered} gave no reason"


def _status(code: object) -> int | None:
    """A code that is an HTTP status, as number or in digits."""
    if isinstance(code, str) and code.isdecimal() and len(code) == len("404"):
        code = int(code)
    return code if type(code) is int and code in ERROR_STATUSES else None


def _is_overflow(error: object, message: str, status: int | None) -> bool:
    if status in (401, 403, 404, 429):
        return False
    kind = error.get("type") if isinstance(error, Mapping) else None
    # llama.cpp has a type of its own for it.
    return kind == "exceed_context_size_error" or bool(_OVERFLOW.search(message))

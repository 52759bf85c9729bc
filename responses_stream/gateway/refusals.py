"""How a request is turned down: one exception, one body, one table of statuses."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

import msgspec
from starlette.responses import Response

from responses_stream.chat.failures import Failure
from responses_stream.kinds import Dialect
from responses_stream.transcript import SERVER_ERROR

RETRY_SECONDS = "2"
"""What we tell a client to wait where nobody else did. codex gives up at once on a 429
that does not say (codex.md section 5)."""

WAITING_STATUSES = frozenset({429, 503})


BROKEN = Failure(
    code=SERVER_ERROR, message="the gateway broke; its log says how", status=500
)


UpstreamError = Literal["", "unreachable", "timeout", "broke_off", "status", "answer"]
"""It could not be connected to, was silent, broke off, answered with an error's status, or
what it answered is an error or not to be understood."""


class Refused(Exception):  # noqa: N818 - whose fault it was, `failure` says
    """A request cannot be answered; `failure` says why."""

    def __init__(self, failure: Failure, upstream_error: UpstreamError = "") -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.upstream_error = upstream_error
        """What the chat server did wrong, if it was that."""


def refuse(status: int, code: str, message: str, param: str | None = None) -> Refused:
    """The exception for a fault that we found ourselves."""
    return Refused(Failure(code=code, message=message, status=status, param=param))


def error_response(failure: Failure, dialect: Dialect, request_id: str) -> Response:
    """The HTTP response that says `failure`."""
    headers = {"x-request-id": request_id}
    if failure.status in WAITING_STATUSES:
        headers["retry-after"] = failure.retry_after or RETRY_SECONDS
    if failure.status == HTTPStatus.REQUEST_TIMEOUT:
        # The rest of the request may still come.
        headers["connection"] = "close"
    return Response(
        msgspec.json.encode(failure.in_http(dialect)),
        failure.status,
        headers,
        "application/json",
    )

"""Every error body of `/v1/responses` in OpenAI's shape, at the edge of the application.

vLLM says errors in several places and shapes: its serving layer, its exception handlers,
its authentication. All of them pass here. Each answer gets an `x-request-id` by the way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from responses_stream.chat.failures import NO_MODEL, Failure, read_failure
from responses_stream.kinds import Dialect
from responses_stream.transcript import SERVER_ERROR

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
App = Callable[[Any, Receive, Send], Awaitable[None]]

PATH: Final = "/v1/responses"
NOT_OURS: Final = "/v1/responses/render"
"""vLLM's own extension; its clients know vLLM's errors."""

CODES: Final[Mapping[int, str]] = {
    401: "invalid_api_key",
    404: "not_found",
    405: "method_not_allowed",
    413: "request_too_large",
}
CLIENT_ERRORS: Final = range(400, 500)


class Edge:
    """The application, with its errors said as OpenAI says them."""

    def __init__(self, app: App, dialect: Dialect = "openai") -> None:
        self._app = app
        self._dialect: Dialect = dialect

    async def __call__(
        self, scope: Mapping[str, Any], receive: Receive, send: Send
    ) -> None:
        """ASGI."""
        if scope["type"] == "http" and _is_ours(scope):
            send = Mending(send, self._dialect, _said_id(scope)).send
        await self._app(scope, receive, send)


class Mending:
    """Sends on what the application sends; an error only when its body is whole."""

    def __init__(self, send: Send, dialect: Dialect, request_id: str) -> None:
        self._send = send
        self._dialect: Dialect = dialect
        self._request_id = request_id
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        """ASGI."""
        if message["type"] == "http.response.start":
            message = {**message, "headers": self._with_id(message)}
            if message["status"] in range(400, 600):
                self._start = message
                return
        elif self._start is not None and message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._say(self._start)
            return
        await self._send(message)

    async def _say(self, start: Message) -> None:
        failure = failure_in(self._body, start["status"])
        body = msgspec.json.encode(failure.in_http(self._dialect))
        ours = {
            b"content-type": b"application/json",
            b"content-length": str(len(body)).encode(),
        }
        kept = [pair for pair in start["headers"] if pair[0].lower() not in ours]
        await self._send({**start, "headers": [*kept, *ours.items()]})
        await self._send({"type": "http.response.body", "body": body})

    def _with_id(self, message: Message) -> list[tuple[bytes, bytes]]:
        headers = [(bytes(key), bytes(value)) for key, value in message.get("headers", ())]
        if not any(key.lower() == b"x-request-id" for key, _ in headers):
            headers.append((b"x-request-id", self._request_id.encode("latin-1")))
        return headers


def failure_in(body: bytes, status: int) -> Failure:
    """What an error body of vLLM's means."""
    try:
        said = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        said = body.decode(errors="replace")
    failure = read_failure(said, status)
    code = failure.code
    if code == NO_MODEL and not _is_about_model(said):
        code = CODES[404]
    elif code == SERVER_ERROR and status in CLIENT_ERRORS:
        code = CODES.get(status, "invalid_request_error")
    return replace(failure, code=code, status=status)


def _is_about_model(said: object) -> bool:
    error = said.get("error") if isinstance(said, Mapping) else None
    return isinstance(error, Mapping) and (
        error.get("param") == "model" or error.get("type") == "NotFoundError"
    )


def _is_ours(scope: Mapping[str, Any]) -> bool:
    path = str(scope["path"]).removeprefix(scope.get("root_path") or "")
    return (path == PATH or path.startswith(PATH + "/")) and not path.startswith(NOT_OURS)


def _said_id(scope: Mapping[str, Any]) -> str:
    """The id that the client gave the request, or a new one."""
    for key, value in scope["headers"]:
        if key.lower() == b"x-request-id" and value:
            return bytes(value).decode("latin-1")
    return f"req_{uuid4().hex}"

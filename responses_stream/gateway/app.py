"""The gateway as an ASGI application: its routes, and what they have in common."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar, cast
from uuid import uuid4

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from responses_stream.chat.request import InvalidRequest, to_chat_request
from responses_stream.clients import dialect_for
from responses_stream.json_text import Unreadable, read_body
from responses_stream.stream import BaseStream, FrameStream, ResponseStream

from .answers import EventAnswer, WholeAnswer
from .chat_answers import ChatStreamAnswer, ChatWholeAnswer
from .demo import DemoUpstream
from .exchange import Exchange
from .limits import OpenStreams
from .logs import log_exchange
from .metrics import CONTENT_TYPE, Metrics
from .models import model_list
from .refusals import BROKEN, Refused, error_response, refuse
from .settings import Settings
from .upstream import HTTPUpstream, Question, Upstream

OURS: Final = ("id", "created_at")
"""What no request may say of its response."""

S = TypeVar("S", bound=BaseStream[Any])

Endpoint = Callable[[Request, Exchange], Awaitable[ASGIApp]]


def create_app(
    settings: Settings | None = None, upstream: Upstream | None = None
) -> Starlette:
    """The application; without `upstream` it asks the one that `settings` name."""
    settings = settings or Settings()
    if upstream is None:
        kind = HTTPUpstream if settings.upstream else DemoUpstream
        upstream = kind(settings)
    streams = OpenStreams(settings.max_streams, settings.total_timeout)
    metrics = Metrics()
    gateway = Gateway(settings, upstream, streams, metrics)

    def stream(path: str, endpoint: Endpoint) -> Route:
        return Route(path, Stream(path, endpoint, streams, metrics), methods=["POST"])

    app = Starlette(
        routes=[
            stream("/v1/responses", gateway.responses),
            stream("/v1/chat/completions", gateway.chat_completions),
            Route("/v1/models", gateway.models, methods=["GET"]),
            Route("/health", gateway.health, methods=["GET"]),
            Route("/metrics", gateway.metrics, methods=["GET"]),
        ],
        exception_handlers={
            Refused: gateway.refused,
            HTTPException: gateway.no_route,
            ClientDisconnect: gateway.gone,
            Exception: gateway.broken,
        },
        lifespan=gateway.lifespan,
    )
    app.state.streams = streams
    return app


class Stream:
    """A route whose answers take time: each is an open stream until it is whole."""

    def __init__(
        self, path: str, endpoint: Endpoint, streams: OpenStreams, metrics: Metrics
    ) -> None:
        self._path = path
        self._endpoint = endpoint
        self._streams = streams
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        request = Request(scope, receive, send)
        exchange = Exchange(_request_id(request), self._path)
        with bound_contextvars(request=exchange.id), self._metrics.observed(exchange):
            try:
                with self._streams.admitted():
                    answer = await self._endpoint(request, exchange)
                    await answer(scope, receive, send)
            except Refused as refused:
                exchange.failure = refused.failure
                raise
            except ClientDisconnect:
                exchange.gone = True
                raise
            except Exception:
                exchange.failure = BROKEN
                raise
            finally:
                log_exchange(exchange)


class Gateway:
    """The routes of one gateway."""

    def __init__(
        self,
        settings: Settings,
        upstream: Upstream,
        streams: OpenStreams,
        metrics: Metrics,
    ) -> None:
        self._settings = settings
        self._upstream = upstream
        self._streams = streams
        self._metrics = metrics

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Holds the upstream open while the application runs."""
        async with self._upstream:
            yield

    async def responses(self, request: Request, exchange: Exchange) -> ASGIApp:
        """POST /v1/responses."""
        self._admit(request)
        asked = _object(await self._body(request))
        try:
            chat = to_chat_request(asked, self._settings.chat)
        except InvalidRequest as error:
            code = "invalid_request_error"
            raise refuse(400, code, error.message, error.param) from error
        question = self._question(request, exchange, msgspec.json.encode(chat))

        def begin(kind: type[S]) -> S:
            stream = kind(
                {name: value for name, value in asked.items() if name not in OURS},
                order="interleaved",
                dialect=dialect_for(
                    request.headers.get("originator"), self._settings.dialect
                ),
                reasoning=self._settings.reasoning,
            )
            exchange.stream = stream
            return stream

        if asked.get("stream") is True:
            return EventAnswer(question, begin(FrameStream), self._settings)
        return WholeAnswer(question, begin(ResponseStream), self._settings)

    async def chat_completions(self, request: Request, exchange: Exchange) -> ASGIApp:
        """POST /v1/chat/completions."""
        self._admit(request)
        body = await self._body(request)
        asked = _object(body)
        question = self._question(request, exchange, body)
        if asked.get("stream") is True:
            return ChatStreamAnswer(question, asked, self._settings)
        return ChatWholeAnswer(question, self._settings)

    async def models(self, request: Request) -> Response:
        """GET /v1/models."""
        self._admit(request)
        entries = await self._upstream.models(self._upstream_headers(request))
        return JSONResponse(
            model_list(entries), headers={"x-request-id": _request_id(request)}
        )

    async def health(self, _request: Request) -> Response:
        """GET /health: that this process serves. It asks nobody else."""
        return JSONResponse({"status": "ok"})

    async def metrics(self, request: Request) -> Response:
        """GET /metrics, for Prometheus."""
        self._admit(request)
        return Response(self._metrics.render(), media_type=CONTENT_TYPE)

    # What goes wrong --------------------------------------------------------------

    async def refused(self, request: Request, error: Exception) -> Response:
        """A request was turned down."""
        refused = cast(Refused, error)
        dialect = self._settings.dialect
        return error_response(refused.failure, dialect, _request_id(request))

    async def no_route(self, request: Request, error: Exception) -> Response:
        """There is nothing here, or not by this method."""
        if request.headers.get("upgrade", "").lower() == "websocket":
            return await self.no_websocket(request)
        found = cast(HTTPException, error)
        message = f"{request.method} {request.url.path}: {found.detail}"
        refused = refuse(found.status_code, "not_found", message)
        return await self.refused(request, refused)

    async def no_websocket(self, request: Request) -> Response:
        """A client wants one. At 426 codex goes on without at once; at any other status it
        tries seven times first.
        """
        refused = refuse(426, "upgrade_required", "there are no WebSockets here")
        response = await self.refused(request, refused)
        response.headers["upgrade"] = "HTTP/1.1"
        return response

    async def broken(self, request: Request, _error: Exception) -> Response:
        """We have a bug. The server logs its traceback."""
        return await self.refused(request, Refused(BROKEN))

    async def gone(self, _request: Request, _error: Exception) -> Response:
        """The client hung up before its request was whole. Nobody reads this."""
        return Response(status_code=499)

    # What routes have in common -----------------------------------------------------

    def _admit(self, request: Request) -> None:
        """Raises Refused for a client without the key."""
        if self._settings.api_key is None:
            return
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        # In constant time, and in bytes, as it takes no other characters than ASCII.
        is_right = hmac.compare_digest(
            key.strip().encode(), self._settings.api_key.encode()
        )
        if scheme.lower() != "bearer" or not is_right:
            raise refuse(401, "invalid_api_key", "no API key, or a wrong one")

    async def _body(self, request: Request) -> bytes:
        """The request's body. Raises Refused for one that is too large."""
        limit = self._settings.max_body
        encoding = request.headers.get("content-encoding", "identity")
        if encoding != "identity":
            message = f"content-encoding is {encoding}; expected none"
            raise refuse(415, "unsupported_encoding", message)
        pieces, size = [], int(request.headers.get("content-length", 0))
        try:
            async with asyncio.timeout(self._settings.request_timeout or None):
                if size <= limit:
                    size = 0
                    async for piece in request.stream():
                        pieces.append(piece)
                        size += len(piece)
                        if size > limit:
                            break
        except TimeoutError as error:
            message = f"the request took longer than {self._settings.request_timeout:g} s"
            raise refuse(408, "request_timeout", message) from error
        if size > limit:
            message = f"the request has {size} bytes or more; expected at most {limit}"
            raise refuse(413, "request_too_large", message)
        return b"".join(pieces)

    def _question(self, request: Request, exchange: Exchange, body: bytes) -> Question:
        headers = self._upstream_headers(request)
        return Question(self._upstream, body, headers, exchange, self._streams)

    def _upstream_headers(self, request: Request) -> Mapping[str, str]:
        """What the chat server is told beside the body."""
        headers = {"x-request-id": _request_id(request)}
        own = request.headers.get("authorization")
        if self._settings.pass_authorization and own is not None:
            headers["authorization"] = own
        elif self._settings.upstream_key is not None:
            headers["authorization"] = f"Bearer {self._settings.upstream_key}"
        return headers


def _object(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`. Raises Refused if there is none."""
    try:
        found = read_body(body)
    except Unreadable as error:
        raise refuse(400, "invalid_json", str(error)) from error
    if not isinstance(found, dict):
        message = f"the body is {type(found).__name__}; expected a JSON object"
        raise refuse(400, "invalid_json", message)
    return found


def _request_id(request: Request) -> str:
    """One for all that is said about a request."""
    if not hasattr(request.state, "id"):
        request.state.id = f"req_{uuid4().hex}"
    request_id: str = request.state.id
    return request_id

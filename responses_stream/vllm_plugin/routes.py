"""The HTTP routes: ours in the place of vLLM's, with vLLM's decorators round them.

A route of ours answers only where serving.py is installed; for every other model it passes
the request on to vLLM's own function, as if it were not there.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any, Final

import msgspec
from starlette.responses import JSONResponse, Response
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from responses_stream.json_text import Unreadable, read_body

from .asked import acceptable
from .body import EventStream, Frames
from .failures import PATH
from .kept import Kept
from .seam import log
from .serving import Serving
from .turn import ASKED, Asked, Turn

ROUTER_MODULE: Final = "vllm.entrypoints.openai.responses.api_router"

SENT: Final = "responses_stream.sent"
"""Where in the scope the request's JSON object is, as the client sent it."""

Endpoint = Callable[..., Awaitable[Any]]


class Routes:
    """The endpoints, each round the one of vLLM that it replaces."""

    def __init__(self, core: Mapping[str, Endpoint]) -> None:
        self._core = core

    async def create(self, request: Any, raw_request: Any) -> Any:
        """POST /v1/responses."""
        serving = _serving(raw_request)
        if serving is None:
            return await self._core["create"](request, raw_request)
        originator = raw_request.headers.get("originator")
        asked = ASKED.set(Asked(raw_request.scope.get(SENT), originator))
        try:
            answer = await _core(raw_request).create_responses(request, raw_request)
        finally:
            ASKED.reset(asked)
        if isinstance(answer, Turn):
            return _whole(answer)
        if isinstance(answer, Frames):
            return EventStream(aiter(answer), answer.keep_alive, serving.keep_alive)
        if hasattr(answer, "__aiter__"):
            return EventStream(answer)
        if hasattr(answer, "error"):
            return _refused(answer)
        return _object(serving.kept[answer.id])

    async def retrieve(
        self,
        response_id: str,
        raw_request: Any,
        starting_after: int | None = None,
        stream: bool | None = False,  # noqa: FBT001, FBT002 - a query parameter
    ) -> Any:
        """GET /v1/responses/{response_id}."""
        serving, kept = _serving(raw_request), _kept(raw_request, response_id)
        if serving is None or kept is None:
            # vLLM's stream of a response that is not there breaks off; its object does not.
            stream = stream if serving is None else False
            return await self._core["retrieve"](
                response_id, raw_request, starting_after=starting_after, stream=stream
            )
        if not stream:
            return _object(kept)
        if not kept.has_events:
            return _bad(
                "stream", "only what was streamed in the background can be streamed again"
            )
        if starting_after is not None and starting_after < 0:
            return _bad("starting_after", f"{starting_after} is no sequence number")
        at = -1 if starting_after is None else starting_after
        return EventStream(kept.replay(at, serving.keep_alive))

    async def cancel(self, response_id: str, raw_request: Any) -> Any:
        """POST /v1/responses/{response_id}/cancel. Once more changes nothing."""
        kept = _kept(raw_request, response_id)
        if kept is None:
            return await self._core["cancel"](response_id, raw_request)
        if not kept.in_background:
            return _bad("response_id", "only a response in the background can be cancelled")
        await _serving(raw_request).cancel(response_id)
        return _object(kept)


PLACES: Final = {
    "create": ("POST", PATH),
    "retrieve": ("GET", PATH + "/{response_id}"),
    "cancel": ("POST", PATH + "/{response_id}/cancel"),
}


def attach(app: Any) -> bool:
    """Puts our routes in the place of vLLM's. Whether vLLM's were there to be replaced."""
    module = import_module(ROUTER_MODULE)
    with_cancellation = getattr(module, "with_cancellation", None)
    load_aware_call = getattr(module, "load_aware_call", None)
    found = {name: _route(app, *place) for name, place in PLACES.items()}
    missing = [name for name, route in found.items() if route is None]
    if missing or with_cancellation is None or load_aware_call is None:
        log.warning(
            "vLLM's routes are not as expected (missing: %s); they stay as they are",
            missing or "with_cancellation or load_aware_call in " + ROUTER_MODULE,
        )
        return False
    ours = Routes({name: route.endpoint for name, route in found.items()})
    for name, route in found.items():
        endpoint = _like(route.endpoint, getattr(ours, name))
        endpoint = load_aware_call(endpoint)
        if name == "create":
            endpoint = with_cancellation(endpoint)
        at = app.router.routes.index(route)
        app.router.routes[at] = _route_class(type(route))(
            route.path,
            endpoint,
            methods=route.methods,
            dependencies=route.dependencies,
            responses=route.responses,
        )
    # Behind all others: a vLLM that has WebSockets of its own keeps them.
    app.router.routes.append(WebSocketRoute(PATH, no_websocket))
    return True


async def no_websocket(websocket: WebSocket) -> None:
    """A client wants one. At 426 codex goes on without at once; at any other status it
    tries seven times first.
    """
    if "websocket.http.response" in websocket.scope.get("extensions", {}):
        refused = Response(status_code=426, headers={"upgrade": "HTTP/1.1"})
        await websocket.send_denial_response(refused)
    else:
        await websocket.close()


def _route(app: Any, method: str, path: str) -> Any:
    for route in app.router.routes:
        methods = getattr(route, "methods", None) or ()
        if getattr(route, "path", None) == path and method in methods:
            return route
    return None


def _like(core: Endpoint, ours: Endpoint) -> Endpoint:
    """`ours`, with the signature by which FastAPI reads a request for `core`."""

    @functools.wraps(core)
    async def endpoint(*args: Any, **kwargs: Any) -> Any:
        return await ours(*args, **kwargs)

    return endpoint


def _route_class(base: Any) -> Any:
    """FastAPI's route, with what it finds wrong with a request in one readable line."""
    invalid = import_module("fastapi.exceptions").RequestValidationError

    class Route(base):  # type: ignore[misc]  # known at run time only
        def get_route_handler(self) -> Callable[[Any], Awaitable[Response]]:
            handle = super().get_route_handler()

            async def answer(request: Any) -> Response:
                try:
                    if request.method == "POST" and _serving(request) is not None:
                        request = await _acceptable(request)
                    response: Response = await handle(request)
                except Unreadable as error:
                    return _bad(None, str(error))
                except invalid as error:
                    param, message = said_invalid(error.errors())
                    return _bad(param, message)
                return response

            return answer

    return Route


async def _acceptable(request: Any) -> Any:
    """The request, as vLLM takes it; as it was sent, it stays in the scope.

    Raises Unreadable for a body that is no JSON.
    """
    body = await request.body()
    sent = read_body(body) if body else None
    if isinstance(sent, dict):
        request.scope[SENT] = sent
        body = json.dumps(acceptable(sent)).encode()

    async def receive(rest: list[bytes] = [body]) -> Any:  # noqa: B006 - one for each call
        if rest:
            return {"type": "http.request", "body": rest.pop(), "more_body": False}
        # Whoever asks again waits for the client to hang up.
        return await request.receive()

    return type(request)(request.scope, receive)


def said_invalid(errors: list[Mapping[str, Any]]) -> tuple[str | None, str]:
    """The parameter that is wrong, and what about it.

    One wrong value fails every member of a union, each with an error of its own: the first
    one is told, and how many there are.
    """
    if not errors:
        return None, "the request is invalid"
    first = errors[0]
    place = [str(part) for part in first.get("loc", ())][1:2]
    cause = (first.get("ctx") or {}).get("error")
    param = getattr(cause, "parameter", None) or (place[0] if place else None)
    message = str(first.get("msg", "invalid")).removeprefix("Value error, ")
    if first.get("type") == "json_invalid":
        return None, f"the body is no JSON: {message}"
    if len(errors) > 1:
        message += f" (or {len(errors) - 1} more ways to be right)"
    return param, f"{param}: {message}" if param else message


# Answers ------------------------------------------------------------------------------


def _core(raw_request: Any) -> Any:
    return raw_request.app.state.openai_serving_responses


def _serving(raw_request: Any) -> Any:
    """The installed Serving, or None."""
    return getattr(_core(raw_request), "responses_stream", None)


def _kept(raw_request: Any, response_id: str) -> Kept | None:
    serving: Serving | None = _serving(raw_request)
    return None if serving is None else serving.kept.get(response_id)


def _whole(turn: Turn) -> Response:
    """The response, or an HTTP error if it failed."""
    if turn.error is not None:
        # vLLM's handlers know what each of its exceptions is worth.
        raise turn.error
    if turn.failure is not None:
        return JSONResponse(turn.failure.in_http(), turn.failure.status)
    return _json(turn.stream.response)


def _object(kept: Kept) -> Response:
    return _json(kept.response)


def _json(body: object) -> Response:
    # A JSONResponse, for vLLM counts only its own kinds of response as load.
    return Encoded(body)


class Encoded(JSONResponse):
    """JSON of values that the standard library cannot write."""

    def render(self, content: Any) -> bytes:
        """Starlette's hook."""
        return msgspec.json.encode(content)


def _refused(answer: Any) -> Response:
    body = answer.model_dump(mode="json", by_alias=True)
    return JSONResponse(body, int(answer.error.code))


def _bad(param: str | None, message: str) -> Response:
    return JSONResponse({"error": {"message": message, "param": param}}, 400)

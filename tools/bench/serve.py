"""Servers that stand beside the gateway, on the same HTTP stack.

    python -m tools.bench.serve raw|vllm --upstream URL --port PORT

`raw` sends the chat server's bytes on as they come: what no gateway can do with less.
`vllm` is the gateway with vLLM's event code in the place of ours.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from responses_stream import Delta
from responses_stream.drafts import Drafts
from responses_stream.gateway import app as gateway
from responses_stream.gateway.answers import EVENT_STREAM
from responses_stream.gateway.settings import Settings


def raw(upstream: str) -> Starlette:
    """A proxy that looks at nothing."""
    session: aiohttp.ClientSession

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        nonlocal session
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            yield

    async def relay(request: Request) -> ASGIApp:
        body = await request.body()

        async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
            async with session.post(f"{upstream}/chat/completions", data=body) as response:
                await send(
                    {
                        "type": "http.response.start",
                        "status": 200,
                        "headers": list(EVENT_STREAM),
                    }
                )
                while data := await response.content.readany():
                    await send(
                        {"type": "http.response.body", "body": data, "more_body": True}
                    )
                await send({"type": "http.response.body", "body": b""})

        return answer

    route = Route("/v1/chat/completions", relay, methods=["POST"])
    return Starlette(routes=[route], lifespan=lifespan)


def vllm(upstream: str) -> Starlette:
    """The gateway with vLLM's event code."""
    from .vllm_peer import Processor, message

    class Response:
        """In the place of our FrameStream."""

        has_output = True
        response: Mapping[str, Any] = {}
        counts: Mapping[Any, int] = {}

        def __init__(self, _request: Mapping[str, Any], **_choices: Any) -> None:
            self.ended = False
            self.drafts = Drafts()
            self._processor = Processor()

        def start(self) -> tuple[bytes, ...]:
            return ("".join(self._processor.begin()).encode(),)

        def keep_alive(self) -> tuple[bytes, ...]:
            return ()

        def feed(self, delta: Delta) -> tuple[bytes, ...]:
            return ("".join(self._processor.feed(message(delta))).encode(),)

        def finish(self, _reason: str, _usage: object = None) -> tuple[bytes, ...]:
            self.ended = True
            return ("".join(self._processor.end()).encode(),)

        def fail(self, error: Mapping[str, Any], _usage: object = None) -> Any:
            raise RuntimeError(str(error))

    vars(gateway).update(FrameStream=Response)
    # As vLLM does: all that it has loaded would be looked through for garbage.
    gc.collect()
    gc.freeze()
    return gateway.create_app(Settings(upstream=upstream))


KINDS = {"raw": raw, "vllm": vllm}


def main() -> None:
    """Serves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--port", type=int, required=True)
    args = parser.parse_args()
    # As `responses-stream serve` has it.
    uvicorn.run(
        KINDS[args.kind](args.upstream),
        port=args.port,
        log_level="warning",
        server_header=False,
        ws="none",
    )


if __name__ == "__main__":
    main()

"""The gateway as a process: it serves until a signal comes, and ends its streams well."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Final, cast

import uvicorn

from .app import create_app
from .connection import Connection
from .limits import OpenStreams
from .settings import ALWAYS, Settings

LAST_WORDS_SECONDS: Final = 2.0
"""How long a client may take to read the end of a stream that was ended."""

MAX_UNSENT: Final = 64 * 1024
"""How many bytes the system takes from us for a connection that it cannot send yet."""

logger = logging.getLogger(ALWAYS)


def listen(host: str, port: int) -> socket.socket:
    """A socket that waits for clients. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        # For every client's connection. A system would take megabytes for a client that
        # does not read, and so long we could not tell whether it reads at all.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, MAX_UNSENT)
    return listener


class Server(uvicorn.Server):
    """Serves the Responses API.

    On SIGTERM or SIGINT it takes no more requests. Open streams may finish for the grace
    time; then, or at a second signal, they end as failed, so that a client asks again
    somewhere else.
    """

    def __init__(self, settings: Settings) -> None:
        app = create_app(settings)
        connection = partial(Connection, settings=settings)
        super().__init__(
            uvicorn.Config(
                app,
                http=cast(type[asyncio.Protocol], connection),
                ws="none",
                server_header=False,
                # Whoever runs the server says how to log.
                log_config=None,
                access_log=False,
            )
        )
        self._grace = settings.grace
        self._streams: OpenStreams = app.state.streams
        self._hurry = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """A signal has come. Not uvicorn's, which raises it again: ours is no failure."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._hurry.set)
        self.should_exit = True
        self._streams.close()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn.Server, which waits for all connections to be closed."""
        self._loop = asyncio.get_running_loop()
        self._streams.close()
        ending = asyncio.ensure_future(self._end_streams())
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()
        logger.info("All streams have ended.")

    async def _end_streams(self) -> None:
        if self._streams:
            logger.info(
                "Shutting down: %d open streams may finish, for up to %g s; another"
                " signal (Ctrl-C) ends them at once.",
                len(self._streams),
                self._grace,
            )
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), self._grace)
        logger.info("Ending %d open streams.", len(self._streams))
        self._streams.end()
        await asyncio.sleep(LAST_WORDS_SECONDS)
        for connection in list(self.server_state.connections):
            connection.transport.abort()

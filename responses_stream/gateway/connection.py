"""A client's connection, with bounds on what it can take of us.

uvicorn waits for a request, and for a client to read, as long as they take. So a client
that sends half a request, or reads nothing, would keep its connection, what was written to
it, and the chat server's work for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .settings import Settings

MAX_HEAD: Final = 64 * 1024
"""How many bytes the head of a request may have. codex sends 2 KB."""

TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class Connection(HttpToolsProtocol):
    """uvicorn's protocol; hangs up on clients that do not go on."""

    def __init__(self, *args: Any, settings: Settings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request_timeout = settings.request_timeout
        self._read_timeout = settings.read_timeout
        self._in_head = True
        self._framing = 0
        """How many bytes came that are no body: the head, chunk sizes, trailers."""
        self._no_head: asyncio.TimerHandle | None = None
        """Ends the wait for a whole head."""
        self._no_reader: asyncio.TimerHandle | None = None
        """Ends the wait for the client to read."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        super().connection_made(transport)  # type: ignore[arg-type]  # narrower there
        # Any byte that the system does not take is one that the client does not read:
        # `pause_writing` is to tell of it, also when the response is over.
        self.transport.set_write_buffer_limits(high=0)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        _cancel(self._no_head)
        _cancel(self._no_reader)
        super().connection_lost(exc)

    # What the client sends ------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._framing += len(data)
        super().data_received(data)
        # The parser itself would collect headers, and trailers, without end.
        if self._framing > MAX_HEAD and not self.transport.is_closing():
            if self._in_head:
                self.transport.write(TOO_LARGE)
                self.transport.close()
            else:
                self.transport.abort()

    def on_message_begin(self) -> None:
        """See HttpToolsProtocol."""
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        """See HttpToolsProtocol."""
        self._in_head = False
        _cancel(self._no_head)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """See HttpToolsProtocol."""
        # Each byte of body allows for one of framing: small chunks are no crime.
        self._framing -= 2 * len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """See HttpToolsProtocol."""
        self._framing = 0
        super().on_message_complete()

    def _await_head(self) -> None:
        self._in_head = True
        _cancel(self._no_head)
        if self._request_timeout:
            self._no_head = self.loop.call_later(
                self._request_timeout, self.transport.abort
            )

    # What the client reads ------------------------------------------------------------

    def pause_writing(self) -> None:
        """See asyncio.Protocol."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """See asyncio.Protocol."""
        _cancel(self._no_reader)
        super().resume_writing()

    def _await_reader(self) -> None:
        if self._read_timeout:
            unread = self.transport.get_write_buffer_size()
            self._no_reader = self.loop.call_later(
                self._read_timeout, self._judge_reader, unread
            )

    def _judge_reader(self, unread: int) -> None:
        if self.transport.get_write_buffer_size() < unread:
            self._await_reader()
        else:
            self.transport.abort()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()

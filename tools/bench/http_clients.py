"""What reading a chat stream costs with each HTTP client.

    python -m tools.bench.http_clients [--streams 32] [--chunks 400] [--rounds 5]

A server in another process sends to each of N streams one chunk a tick. The clients take
turns, round by round, so that a noisy neighbour hits all of them alike. The figure is the
CPU time of the reading process for each chunk sent, without start and end; the least of
the rounds is the best estimate, the median shows the noise.

`asyncio` reads the bare socket without HTTP: the limit.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection

import uvloop

CHUNK = (
    b'data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk",'
    b'"created":1795215516,"model":"demo","choices":[{"index":0,"delta":'
    b'{"content":" word"},"logprobs":null,"finish_reason":null}]}\n\n'
)
HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
FRAME = b"%x\r\n%b\r\n" % (len(CHUNK), CHUNK)
TICK = 0.004

Read = Callable[[str, Callable[[bytes], None]], Awaitable[None]]


async def serve(port: Connection, streams: int, chunks: int) -> None:
    """Sends one frame to every stream at each tick, once all of them are there."""
    writers: list[asyncio.StreamWriter] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD + FRAME)
        writers.append(writer)
        if len(writers) == streams:
            batch, writers[:] = writers[:], []
            await asyncio.sleep(0.2)
            for _ in range(chunks):
                for each in batch:
                    each.write(FRAME)
                await asyncio.sleep(TICK)
            await asyncio.sleep(0.2)
            for each in batch:
                each.write(b"0\r\n\r\n")
                each.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    port.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def serve_for_ever(port: Connection, streams: int, chunks: int) -> None:
    """The other process."""
    uvloop.run(serve(port, streams, chunks))


class Meter:
    """CPU time from the first chunk on all streams to the last."""

    def __init__(self, streams: int, chunks: int) -> None:
        self._streams, self._size = streams, streams * (chunks + 1) * len(CHUNK)
        self._seen, self._reads = 0, 0
        self._begun = self._ended = 0.0

    def __call__(self, data: bytes) -> None:
        """Counts what a stream has read."""
        self._seen += len(data)
        self._reads += 1
        if self._reads == self._streams:
            self._begun = time.process_time()
        elif self._seen >= self._size:
            self._ended = time.process_time()

    def per_chunk(self, chunks: int) -> float:
        """In microseconds."""
        return 1e6 * (self._ended - self._begun) / (self._streams * chunks)


async def with_asyncio(url: str, read: Callable[[bytes], None], streams: int) -> None:
    """The bare socket."""
    port = int(url.rsplit(":", 1)[1])

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nhost: x\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        while data := await reader.read(65536):
            # Without the chunks' own frames, so that the meter sees as much.
            read(data.replace(b"%x\r\n" % len(CHUNK), b"").replace(b"\n\r\n", b"\n"))
        writer.close()

    await asyncio.gather(*(one() for _ in range(streams)))


async def with_aiohttp(url: str, read: Callable[[bytes], None], streams: int) -> None:
    """aiohttp."""
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one() -> None:
            async with session.post(url, data=b"{}") as response:
                while data := await response.content.readany():
                    read(data)

        await asyncio.gather(*(one() for _ in range(streams)))


async def with_httpx(url: str, read: Callable[[bytes], None], streams: int) -> None:
    """httpx."""
    import httpx

    async with httpx.AsyncClient(limits=httpx.Limits(), timeout=None) as client:

        async def one() -> None:
            async with client.stream("POST", url, content=b"{}") as response:
                async for data in response.aiter_raw():
                    read(data)

        await asyncio.gather(*(one() for _ in range(streams)))


async def with_httpx2(url: str, read: Callable[[bytes], None], streams: int) -> None:
    """httpx2."""
    import httpx2

    async with httpx2.AsyncClient(limits=httpx2.Limits(), timeout=None) as client:

        async def one() -> None:
            async with client.stream("POST", url, content=b"{}") as response:
                async for data in response.aiter_raw():
                    read(data)

        await asyncio.gather(*(one() for _ in range(streams)))


CLIENTS = {
    "asyncio": with_asyncio,
    "aiohttp": with_aiohttp,
    "httpx": with_httpx,
    "httpx2": with_httpx2,
}


def main() -> None:
    """Runs the rounds and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=32)
    parser.add_argument("--chunks", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(
        target=serve_for_ever, args=(theirs, args.streams, args.chunks), daemon=True
    )
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}"
    figures: dict[str, list[float]] = {name: [] for name in CLIENTS}
    for _ in range(args.rounds):
        for name, client in CLIENTS.items():
            meter = Meter(args.streams, args.chunks)
            uvloop.run(client(url, meter, args.streams))
            figures[name].append(meter.per_chunk(args.chunks))
    server.terminate()
    print(f"{args.streams} streams, {args.chunks} chunks each, {args.rounds} rounds")
    print(f"{'client':<18}{'least':>8}{'median':>8}   us of CPU for each chunk")
    for name, values in figures.items():
        version = "" if name == "asyncio" else importlib.metadata.version(name)
        least, median = min(values), statistics.median(values)
        print(f"{name:<8} {version:<9}{least:>8.1f}{median:>8.1f}")


if __name__ == "__main__":
    main()

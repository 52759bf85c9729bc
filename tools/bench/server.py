"""What the gateway costs over HTTP, and what stands beside it.

    python -m tools.bench.server [--litellm PROGRAM] [--rounds N]

The chat server, the server that is measured and the clients are three processes. The
servers take turns, in an order that is shuffled anew in each round. CPU is that of the
measured process alone, from the first tick to the last delta.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
import uvloop

from . import results
from .client import CHAT, RESPONSES, Crowd, Dialect
from .report import main as report
from .server_loads import LATENCY, LOADS
from .upstream import Play, ScriptedUpstream

IDLE: Final = 500
"""Open streams whose memory is measured."""
WARM_UP: Final = Play(streams=8, ticks=20, interval=0.005)
STARTUP: Final = 120.0
"""Seconds that a server may take to come up."""


class Server(msgspec.Struct, frozen=True):
    """One that is measured, with its process running."""

    name: str
    port: int
    dialect: Dialect
    pid: int | None = None
    """None: the chat server itself, whose CPU is nobody's business."""
    most: int = 256
    """How many streams it is given."""

    def cpu(self) -> float:
        """Seconds of CPU that its process has had, with all its threads."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def memory(self) -> int:
        """Bytes that its process holds."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE")


# Servers ------------------------------------------------------------------------------


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def _process(command: Sequence[str], port: int) -> Iterator[int]:
    """Runs a server while it is wanted; yields its process id once it listens."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + STARTUP
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{command[0]} does not serve")
            time.sleep(0.2)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def _servers(chat: int, litellm: str | None) -> Iterator[list[Server]]:
    """All that are measured, in front of the chat server at that port."""
    upstream = f"http://127.0.0.1:{chat}/v1"
    ours = ("-m", "responses_stream", "serve")
    commands = {
        "gateway": (RESPONSES, [sys.executable, *ours]),
        "raw": (CHAT, [sys.executable, "-m", f"{__package__}.serve", "raw"]),
    }
    if find_spec("vllm") is not None:
        commands["vllm"] = (
            RESPONSES,
            [sys.executable, "-m", f"{__package__}.serve", "vllm"],
        )
    with ExitStack() as stack:
        servers = [Server("direct", chat, CHAT)]
        for name, (dialect, command) in commands.items():
            port = _free_port()
            where = ["--upstream", upstream, "--port", str(port)]
            pid = stack.enter_context(_process([*command, *where], port))
            servers.append(Server(name, port, dialect, pid))
        if litellm is not None:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            port, config = _free_port(), folder / "config.yaml"
            config.write_text(LITELLM.format(upstream=upstream))
            command = [litellm, "--config", str(config), "--host", "127.0.0.1"]
            pid = stack.enter_context(_process([*command, "--port", str(port)], port))
            servers.append(Server("litellm", port, RESPONSES, pid, most=32))
        yield servers


LITELLM: Final = """\
model_list:
  - model_name: demo
    litellm_params:
      model: hosted_vllm/demo
      api_base: {upstream}
      api_key: none
      use_chat_completions_api: true
litellm_settings:
  drop_params: true
general_settings:
  # It listens on this machine only. Without keys it has less to do.
  dangerously_permit_weak_or_unset_master_key: true
"""


# Measurements -------------------------------------------------------------------------


class Bench:
    """Measures the servers in front of one scripted chat server."""

    def __init__(self, upstream: ScriptedUpstream, servers: Sequence[Server]) -> None:
        self._upstream = upstream
        self._servers = servers

    async def run(self, rounds: int) -> dict[str, results.Served]:
        """All measurements of all servers."""
        figures = {server.name: results.Served() for server in self._servers}
        cpu: dict[tuple[str, str], list[float]] = {}
        latencies: dict[str, list[float]] = {}
        rng = random.Random(0)
        turns = [
            (server, load)
            for server in self._servers
            for load, play in LOADS.items()
            if server.pid is not None and play.streams <= server.most
        ]
        for server in self._servers:
            await self._spent(server, WARM_UP)
            if server.pid is not None:
                # First: what a larger crowd leaves behind would hide it.
                figures[server.name].memory = await self._memory(server) / 1e3
        for _ in range(rounds):
            rng.shuffle(turns)
            for server, load in turns:
                spent = await self._spent(server, LOADS[load])
                cpu.setdefault((server.name, load), []).append(spent)
            for server in rng.sample(self._servers, len(self._servers)):
                found = await self._latencies(server)
                latencies.setdefault(server.name, []).extend(found)
        for (name, load), values in cpu.items():
            figures[name].cpu[load] = statistics.median(values)
        for name, values in latencies.items():
            figures[name].latency = statistics.median(values) / 1e6
            figures[name].late = statistics.quantiles(values, n=100)[98] / 1e6
        return figures

    async def _spent(self, server: Server, play: Play) -> float:
        """Microseconds of the server's CPU per delta."""
        self._upstream.play(play)
        crowd = Crowd(server.port, server.dialect, play.streams)
        await crowd.open()
        await crowd.until(1)
        before = 0.0 if server.pid is None else server.cpu()
        if not play.interval:
            for tick in range(play.ticks):
                self._upstream.tick()
                await crowd.until(2 + tick)
        await crowd.until(1 + play.ticks)
        after = 0.0 if server.pid is None else server.cpu()
        await crowd.end()
        return (after - before) / (play.streams * play.ticks) * 1e6

    async def _latencies(self, server: Server) -> list[int]:
        """Nanoseconds from the chat server to the client, of each delta."""
        self._upstream.play(LATENCY)
        crowd = Crowd(server.port, server.dialect, LATENCY.streams)
        await crowd.open()
        await crowd.until(1 + LATENCY.ticks)
        await crowd.end()
        return [one for reader in crowd.readers for one in reader.latencies]

    async def _memory(self, server: Server) -> float:
        """Bytes for each open stream."""
        before = server.memory()
        self._upstream.play(Play(IDLE, 0, is_held=True))
        crowd = Crowd(server.port, server.dialect, IDLE)
        await crowd.open()
        await crowd.until(1)
        await asyncio.sleep(1)
        held = server.memory() - before
        self._upstream.release()
        await crowd.end()
        return held / IDLE


def measure(litellm: str | None, rounds: int) -> results.OverHTTP:
    """All of it."""
    upstream = ScriptedUpstream()
    try:
        with _servers(upstream.port, litellm) as servers:
            found = uvloop.run(Bench(upstream, servers).run(rounds))
    finally:
        upstream.stop()
    return results.OverHTTP(results.this_run(), found, IDLE)


def main() -> None:
    """Measures, keeps and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--litellm", default=shutil.which("litellm"), metavar="PROGRAM")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    kept = results.load()
    kept.over_http = measure(args.litellm, args.rounds)
    results.save(kept)
    report([])


if __name__ == "__main__":
    main()

"""Many streams at once, some of them with faults: is every transcript right?

    python tools/load.py [--streams 500] [--minutes 5] [--pace 0.2] [--faults 0.05]

Clients and upstream share this process, the gateway has one of its own. Each client asks
for one response after the other; the upstream says a word every `--pace` seconds, and goes
wrong in so many of the answers, in a random way and place (a client that leaves is one of
them). The checker judges every transcript, and what it says must be what the upstream said.

Before that, the same clients ask the upstream itself for a while: what the gateway adds to
the latency of a word is the difference. The exit status is 1 if a transcript is wrong, if
memory grows after the warm-up, or if anything is left at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import statistics
import sys
import time
from array import array
from collections import Counter
from dataclasses import dataclass, field
from itertools import count

import uvloop
from faulty_upstream import Exchange, Fault, Upstream, cases, listening
from judging_client import ask, judge, leave
from observed import Gateway, serving
from placed_answer import Answer, Place

OPTIONS = ("--idle-timeout", "5", "--first-byte-timeout", "5", "--max-streams", "10000")
IMPOSSIBLE = (Fault.NONE, Fault.REFUSE, Fault.TWICE, Fault.SHORT)
"""Nobody can refuse only some; what comes behind an answer is somebody's, when connections
are busy; and a length that is too small must be read before what is too much."""
POSSIBLE = [(fault, place) for fault, place in cases() if fault not in IMPOSSIBLE]
WORDS = 20
LONGEST_SECONDS = 60
"""How long any answer may take."""
WARM = 0.3
"""Part of the time after which memory is to be flat."""
DELTA = {
    "/v1/responses": b".delta\ndata: ",
    "/v1/chat/completions": b'"finish_reason": null',
}
"""What every word comes with, by path."""


@dataclass
class Tally:
    """What has come of a phase."""

    latencies: array[float] = field(default_factory=lambda: array("d"))
    """Seconds from the upstream to the client, of each word."""
    ends: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    bytes: int = 0
    seconds: float = 0.0

    def ms(self, part: float) -> float:
        """A quantile of the latencies, in milliseconds."""
        return statistics.quantiles(self.latencies, n=1000)[int(part * 1000) - 1] * 1000


class Words:
    """Notes when the words of a stream come."""

    def __init__(self, exchange: Exchange, path: str, tally: Tally) -> None:
        self._sent = exchange.sent
        self._mark = DELTA[path]
        self._tally = tally
        # The upstream's first chunk has a role, and no word.
        self._seen = 0 if path == "/v1/responses" else -1
        self._tail = b""

    def __call__(self, piece: bytes) -> None:
        """Looks at a piece of the body."""
        now = time.monotonic()
        self._tally.bytes += len(piece)
        piece = self._tail + piece
        seen = self._seen + piece.count(self._mark)
        self._tail = piece[-len(self._mark) + 1 :]
        sent = self._sent[max(self._seen, 0) : max(seen, 0)]
        self._tally.latencies.extend(now - at for at in sent)
        self._seen = seen


class Load:
    """Clients that ask until the time is over."""

    def __init__(self, upstream: Upstream, args: argparse.Namespace) -> None:
        self._upstream = upstream
        self._args = args
        self._numbers = count()
        self._chance = random.Random(args.seed)

    async def run(self, port: int, seconds: float, *, path: str = "/v1/responses") -> Tally:
        """Asks a gateway, or the upstream itself."""
        tally, began = Tally(), time.monotonic()
        until = began + seconds
        async with asyncio.TaskGroup() as clients:
            for _ in range(self._args.streams):
                clients.create_task(self._client(port, path, until, tally))
        tally.seconds = time.monotonic() - began
        return tally

    async def _client(self, port: int, path: str, until: float, tally: Tally) -> None:
        # Not all of them at once, nor in step for ever after.
        await asyncio.sleep(self._chance.random() * self._args.pace * WORDS)
        while time.monotonic() < until:
            name = f"{next(self._numbers)}"
            exchange = self._exchange(faulty=path == "/v1/responses")
            self._upstream.exchanges[name] = exchange
            try:
                async with asyncio.timeout(LONGEST_SECONDS):
                    await self._ask(port, path, name, exchange, tally)
            except TimeoutError:
                what = f"{exchange.fault}, {exchange.place}"
                tally.wrong.append(f"{what}: no end in {LONGEST_SECONDS} s")
            del self._upstream.exchanges[name]

    async def _ask(
        self, port: int, path: str, name: str, exchange: Exchange, tally: Tally
    ) -> None:
        if exchange.leaves:
            await leave(port, name, exchange)
            await exchange.released.wait()
            tally.ends["left"] += 1
            return
        seen = Words(exchange, path, tally)
        got = await ask(port, name, path=path, seen=seen)
        tally.ends[exchange.ends] += 1
        if path == "/v1/responses":
            what = f"{exchange.fault}, {exchange.place}"
            tally.wrong += [f"{what}: {wrong}" for wrong in judge(exchange, got)]

    def _exchange(self, *, faulty: bool) -> Exchange:
        answer = Answer(words=WORDS, pause=self._args.pace)
        chance = self._chance
        if not faulty or chance.random() >= self._args.faults:
            return Exchange(answer=answer)
        kind = chance.randrange(len(Fault))
        if kind == 0:
            return Exchange(Fault.STALL, chance.choice(list(Place)), answer, leaves=True)
        return Exchange(*chance.choice(POSSIBLE), answer)


async def watch(gateway: Gateway, seconds: float, sizes: list[int]) -> None:
    """Notes the gateway's memory, a hundred times."""
    for number in count(1):
        await asyncio.sleep(seconds / 100)
        sizes.append(gateway.rss)
        if number % 10 == 0:
            print(f"{number} %: {gateway.rss / 2**20:.1f} MiB", file=sys.stderr)


def growth(sizes: list[int]) -> float:
    """How much memory has grown since the warm-up, as a part of what it was then."""
    warm = sizes[int(len(sizes) * WARM) :]
    tenth = max(1, len(warm) // 10)
    return statistics.median(warm[-tenth:]) / statistics.median(warm[:tenth]) - 1


async def main() -> int:
    """Runs both phases, and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--pace", type=float, default=0.2, help="seconds between words")
    parser.add_argument("--faults", type=float, default=0.05, help="part of the streams")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--growth", type=float, default=0.05, help="of memory, at most")
    args = parser.parse_args()
    seconds = args.minutes * 60
    # What lives for long is not to be looked through over and over.
    gc.freeze()
    async with listening() as upstream:
        load = Load(upstream, args)
        chat = "/v1/chat/completions"
        direct = await load.run(upstream.port, min(30, seconds / 4), path=chat)
        with serving("--upstream", upstream.url, *OPTIONS) as gateway:
            await ask(gateway.port, _first(upstream))
            before = await gateway.quiet()
            sizes: list[int] = []
            watching = asyncio.ensure_future(watch(gateway, seconds, sizes))
            cpu = gateway.cpu_seconds
            through = await load.run(gateway.port, seconds)
            cpu = gateway.cpu_seconds - cpu
            watching.cancel()
            after = await gateway.settled(before)
            wrong = through.wrong + gateway.complaints
    if after != before:
        wrong.append(f"it held {before}; now {after}")
    if growth(sizes) > args.growth:
        wrong.append(f"memory has grown by {growth(sizes):.1%} since the warm-up")
    report(direct, through, sizes, cpu)
    print(f"\n{len(wrong)} wrong")
    print("\n".join(wrong[:50]))
    return bool(wrong)


def _first(upstream: Upstream) -> str:
    upstream.exchanges["first"] = Exchange()
    return "first"


def report(direct: Tally, through: Tally, sizes: list[int], cpu: float) -> None:
    """Prints the figures."""
    streams, words = through.ends.total(), len(through.latencies)
    ends = ", ".join(f"{n:,} {end}" for end, n in through.ends.most_common())
    print(f"{streams:,} streams in {through.seconds:.0f} s, all judged: {ends}")
    print(
        f"{streams / through.seconds:.1f} streams, {words / through.seconds:,.0f} words,"
        f" {through.bytes / through.seconds / 2**20:.2f} MiB a second;"
        f" the gateway computed {cpu / through.seconds:.0%} of the time"
    )
    print(
        f"memory: {sizes[int(len(sizes) * WARM)] / 2**20:.1f} MiB after the warm-up,"
        f" {sizes[-1] / 2**20:.1f} at the end, {max(sizes) / 2**20:.1f} at most:"
        f" {growth(sizes):+.1%}"
    )
    print("\n| latency of a word, ms | median | p90 | p99 |\n|---|--:|--:|--:|")
    parts = (0.5, 0.9, 0.99)
    for name, tally in (("without the gateway", direct), ("through it", through)):
        print(f"| {name} | {' | '.join(f'{tally.ms(part):.2f}' for part in parts)} |")
    added = (f"{through.ms(part) - direct.ms(part):.2f}" for part in parts)
    print(f"| added | {' | '.join(added)} |")


if __name__ == "__main__":
    sys.exit(uvloop.run(main()))

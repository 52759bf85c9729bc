"""The fault matrix: what goes wrong upstream x where x how the client reads.

    python tools/faults.py [--rounds N]

Runs every case through a real `serve` and prints how each ended, as Markdown. The rule
for what is right stands in `Exchange.ends`; the checker judges every transcript, what it
says must be what the upstream said, and a client that goes takes the upstream connection
with it. Row by row, the gateway must hold afterwards what it held before. The exit status
is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from dataclasses import dataclass, field
from enum import StrEnum

from faulty_upstream import Exchange, Fault, Upstream, cases, listening
from judging_client import ask, judge, leave, outcome
from observed import KINDS, Gateway, Held, serving
from placed_answer import Answer, Place

IDLE_SECONDS = 3
"""How long an upstream may be silent."""
HANG_UP_SECONDS = 2
"""How soon a client's leaving must have reached the upstream: before any timeout."""
RELEASE_SECONDS = 10
"""How soon a connection must be given back that nobody waits for."""
ANSWER_SECONDS = 15
"""How long any answer may take, also with a client that reads slowly."""
OPTIONS = tuple(f"--{what}-timeout={IDLE_SECONDS}" for what in ("idle", "first-byte"))


class Reader(StrEnum):
    """How a client reads."""

    NORMAL = "normal"
    SLOW = "slow"
    GONE = "gone"


def answer_for(place: Place, reader: Reader) -> Answer:
    """What is said: to a slow reader so much that some of it waits everywhere on its way.

    The buffers of the operating system alone hold some megabytes.
    """
    if reader is not Reader.SLOW:
        return Answer()
    return Answer(words=50 if place in (Place.TEXT, Place.DONE) else 8, size=32768)


@dataclass
class Case:
    """One cell of the matrix."""

    fault: Fault
    place: Place
    reader: Reader
    came: str = ""
    """How it ended."""
    wrong: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What it is called in a request."""
        return f"{self.fault}, {self.place}, {self.reader}"


async def run(case: Case, gateway: Gateway, upstream: Upstream) -> None:
    """Runs one case."""
    await _play(case, gateway, upstream)
    if case.fault is Fault.TWICE:
        await asyncio.sleep(0.2)
        after = upstream.exchanges["after"] = Exchange()
        case.wrong += judge(after, await ask(gateway.port, "after"))


async def _play(case: Case, gateway: Gateway, upstream: Upstream) -> None:
    gone = case.reader is Reader.GONE
    exchange = Exchange(
        case.fault, case.place, answer_for(case.place, case.reader), leaves=gone
    )
    upstream.exchanges[case.name] = exchange
    if gone:
        await _leave(case, exchange, gateway)
        return
    slowly = case.reader is Reader.SLOW
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            got = await ask(gateway.port, case.name, slowly=slowly)
    except TimeoutError:
        case.came = "hangs"
        case.wrong.append(f"no end has come in {ANSWER_SECONDS} s")
        return
    case.came = outcome(got)
    lossy = slowly and case.fault is Fault.RESET
    case.wrong += judge(exchange, got, lossy=lossy)
    if case.fault is not Fault.REFUSE:
        await _released(case, exchange, RELEASE_SECONDS)


async def _leave(case: Case, exchange: Exchange, gateway: Gateway) -> None:
    """Asks, and hangs up when the answer has come to the place."""
    if case.fault is Fault.REFUSE:
        exchange.reached.set()
    await leave(gateway.port, case.name, exchange)
    case.came = "released"
    if case.fault is not Fault.REFUSE:
        # A body that has ended by its length leaves a connection for another request.
        ended = case.fault is Fault.SHORT
        await _released(case, exchange, RELEASE_SECONDS if ended else HANG_UP_SECONDS)


async def _released(case: Case, exchange: Exchange, seconds: float) -> None:
    try:
        await asyncio.wait_for(exchange.released.wait(), seconds)
    except TimeoutError:
        case.wrong.append(f"the upstream connection is still open after {seconds} s")


async def row(fault: Fault, gateway: Gateway, upstream: Upstream) -> list[Case]:
    """Runs all cases of a fault, at once."""
    places = [place for kind, place in cases() if kind is fault]
    found = [Case(fault, place, reader) for place in places for reader in Reader]
    if fault is Fault.REFUSE:
        upstream.refuse()
    await asyncio.gather(*(run(case, gateway, upstream) for case in found))
    if fault is Fault.REFUSE:
        await upstream.listen()
    return found


@dataclass
class Matrix:
    """What has come of it."""

    cases: list[Case] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Of no single case: what the gateway has kept, or logged."""
    connections: int = 0

    @property
    def all_wrong(self) -> list[str]:
        """Everything that is wrong."""
        return self.wrong + [f"{case.name}: {w}" for case in self.cases for w in case.wrong]


async def _run_rows(
    faults: list[Fault], gateway: Gateway, upstream: Upstream, found: Matrix
) -> None:
    # What is made once, with the first request, is no leak.
    await row(Fault.NONE, gateway, upstream)
    found.wrong += await _unseen(gateway, upstream)
    before = await gateway.quiet()
    print(f"before: {before}", file=sys.stderr)
    for fault in faults:
        began = time.monotonic()
        cells = await row(fault, gateway, upstream)
        found.cases += cells
        after = await gateway.settled(before)
        took = time.monotonic() - began
        print(f"{fault}: {len(cells)} cases, {took:.1f} s, {after}", file=sys.stderr)
        found.wrong += _leaks(fault, before, after)
        if upstream.open:
            found.wrong.append(f"{fault}: {upstream.open} upstream connections are open")


async def _unseen(gateway: Gateway, upstream: Upstream) -> list[str]:
    """Which kinds of objects are not seen while a stream is under way, and so never."""
    stream = upstream.exchanges["seen"] = Exchange(Fault.STALL, Place.TEXT)
    asking = asyncio.ensure_future(ask(gateway.port, "seen"))
    await stream.reached.wait()
    seen = (await gateway.held()).objects
    await asking
    return [f"no {kind} is seen" for kind in KINDS if kind.rpartition(".")[2] not in seen]


def _leaks(fault: Fault, before: Held, after: Held) -> list[str]:
    return [] if before == after else [f"{fault}: it held {before}; now {after}"]


def table(cases: list[Case]) -> str:
    """The matrix: in each cell how it ended for a client that is normal, slow, gone."""
    cells: dict[tuple[Fault, Place], dict[Reader, str]] = {}
    for case in cases:
        cell = cells.setdefault((case.fault, case.place), {})
        # Of several rounds the one is shown that went wrong.
        if "!" not in cell.get(case.reader, ""):
            cell[case.reader] = f"**{case.came}!**" if case.wrong else case.came
    lines = ["| | " + " | ".join(Place) + " |", "|---" * (1 + len(Place)) + "|"]
    for fault in dict.fromkeys(case.fault for case in cases):
        row = (cells.get((fault, place), {"": "-"}) for place in Place)
        lines.append(f"| {fault} | {' | '.join(' · '.join(c.values()) for c in row)} |")
    return "\n".join(lines)


async def run_all(faults: list[Fault], rounds: int) -> Matrix:
    """Starts both servers, and runs the matrix."""
    found = Matrix()
    async with listening() as upstream:
        with serving("--upstream", upstream.url, *OPTIONS) as gateway:
            for _ in range(rounds):
                await _run_rows(faults, gateway, upstream, found)
            found.wrong += gateway.complaints
        found.connections = upstream.accepted
    return found


def main() -> int:
    """Runs the matrix, and prints it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1, help="how often to run all of it")
    parser.add_argument("--only", type=Fault, help="the fault of the only row")
    args = parser.parse_args()
    found = asyncio.run(run_all([args.only] if args.only else list(Fault), args.rounds))
    print(table(found.cases))
    print(
        "\nIn each cell: how it ended for a client that reads as usual, slowly, or not.\n"
        f"{len(found.cases)} cases, {found.connections} upstream connections,"
        f" {len(found.all_wrong)} wrong"
    )
    print("\n".join(found.all_wrong))
    return bool(found.all_wrong)


if __name__ == "__main__":
    sys.exit(main())

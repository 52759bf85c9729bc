"""Very many short streams, one gateway: does it keep anything of them?

    python tools/soak.py [--streams 200000] [--rounds 10] [--at-once 32] [--growth 0.02]

After each round the clients wait until nothing is under way and no connection is kept for
another request. Then descriptors, tasks and objects must be what they were before the first
stream, exactly; and memory must grow by no more than `--growth` after the warm-up, which is
a fifth of the rounds and one more. The checker judges every transcript. The exit status is
1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import time
from collections.abc import Iterator

import uvloop
from faulty_upstream import Exchange, Upstream, listening
from judging_client import ask, judge
from observed import Gateway, Held, serving
from placed_answer import Answer

SHORT = Answer(words=2)


async def client(
    names: Iterator[int], gateway: Gateway, upstream: Upstream, wrong: list[str]
) -> None:
    """Asks for one stream after the other, while there are any."""
    for name in names:
        exchange = upstream.exchanges[f"{name}"] = Exchange(answer=SHORT)
        got = await ask(gateway.port, f"{name}")
        wrong += judge(exchange, got)
        del upstream.exchanges[f"{name}"]


async def soak(
    args: argparse.Namespace, gateway: Gateway, upstream: Upstream
) -> tuple[list[int], list[str]]:
    """The gateway's memory after each round, and what is wrong."""
    upstream.exchanges["first"] = Exchange(answer=SHORT)
    await ask(gateway.port, "first")
    before = await gateway.quiet()
    print("| streams | a second | MiB | held |\n|--:|--:|--:|---|")
    print(row(0, 0, gateway, before))
    sizes: list[int] = []
    wrong: list[str] = []
    each = args.streams // args.rounds
    for number in range(1, args.rounds + 1):
        began = time.monotonic()
        names = iter(range(each))
        async with asyncio.TaskGroup() as clients:
            for _ in range(args.at_once):
                clients.create_task(client(names, gateway, upstream, wrong))
        speed = each / (time.monotonic() - began)
        after = await gateway.settled(before)
        sizes.append(gateway.rss)
        print(row(number * each, speed, gateway, after), flush=True)
        if after != before:
            wrong.append(f"round {number}: it held {before}; now {after}")
    return sizes, wrong + gateway.complaints


def row(streams: int, speed: float, gateway: Gateway, held: Held) -> str:
    """A row of the table."""
    return f"| {streams:,} | {speed:.0f} | {gateway.rss / 2**20:.2f} | {held} |"


async def main() -> int:
    """Soaks, and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--growth", type=float, default=0.02, help="of memory, at most")
    args = parser.parse_args()
    gc.freeze()
    async with listening() as upstream:
        with serving("--upstream", upstream.url) as gateway:
            sizes, wrong = await soak(args, gateway, upstream)
    growth = sizes[-1] / sizes[args.rounds // 5] - 1
    if growth > args.growth:
        wrong.append(
            f"memory has grown by {growth:.2%}; expected at most {args.growth:.2%}"
        )
    print(f"\nmemory since the warm-up: {growth:+.2%}; {len(wrong)} wrong")
    print("\n".join(wrong[:50]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(uvloop.run(main()))

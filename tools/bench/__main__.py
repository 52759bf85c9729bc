"""All of it in one command: see the package."""

from __future__ import annotations

import argparse
import sys

from . import agreement, growth, instructions, memory
from .report import main as report
from .results import InProcess, load, save, this_run
from .server import measure as measure_server
from .timing import interleaved
from .variants import installed
from .workload import workload


def measure(rounds: int) -> InProcess:
    """All of it."""
    runs = installed()
    if faults := agreement.check(runs):
        sys.exit("\n".join(faults))
    seconds = interleaved(runs, rounds)
    micros = {name: each / len(workload()) * 1e6 for name, each in seconds.items()}
    return InProcess(
        this_run(),
        micros,
        instructions.per_delta(*runs) if instructions.available() else {},
        growth.measure(max(3, rounds // 4)),
        memory.measure(),
    )


def main() -> None:
    """Measures, keeps and prints."""
    parser = argparse.ArgumentParser(description="What an event costs.")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--server", action="store_true", help="measure over HTTP too")
    parser.add_argument("--litellm", metavar="PROGRAM", help="LiteLLM's proxy, for that")
    parser.add_argument("--write", action="store_true", help="the README and the plots")
    args = parser.parse_args()
    results = load()
    results.in_process = measure(args.rounds)
    save(results)
    if args.server:
        results.over_http = measure_server(args.litellm, max(3, args.rounds // 3))
        save(results)
    report([])
    if args.write:
        report(["--write"])


if __name__ == "__main__":
    main()

"""The command: see the package."""

from __future__ import annotations

import argparse

from . import instructions
from .timing import interleaved
from .variants import VARIANTS, installed
from .workload import workload


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="What an event costs.")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    runs = installed()
    seconds = interleaved(runs, args.rounds)
    counted = instructions.available()
    counts = {name: instructions.per_delta(name) if counted else 0.0 for name in runs}
    print(f"{'':42}{'us':>8}{'vLLM/x':>8}{'x/F0':>7}{'instr':>9}{'vLLM/x':>8}{'x/F0':>7}")
    for name, took in seconds.items():
        micros = took / len(workload()) * 1e6
        print(
            f"{VARIANTS[name].title:42}{micros:8.3f}"
            f"{seconds.get('vllm-sync', 0) / took:8.1f}{took / seconds['floor']:7.1f}"
            f"{counts[name]:9,.0f}{counts.get('vllm-sync', 0) / counts[name]:8.1f}"
            f"{counts[name] / counts['floor']:7.1f}"
        )


if __name__ == "__main__":
    main()

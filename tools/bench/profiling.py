"""Where the time goes, by function.

    python -m tools.bench.profiling [NAME]

By C function, in instructions:

    count="valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=out"
    $count python -m tools.bench.instructions --child typed 10
    callgrind_annotate out | head -60
"""

from __future__ import annotations

import cProfile
import pstats
import sys

from .instructions import GUARDED
from .variants import load

RUNS = 20
LINES = 25


def main(name: str = GUARDED) -> None:
    """Profiles one variant."""
    run = load(name)
    run()
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(RUNS):
        run()
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(LINES)


if __name__ == "__main__":
    main(*sys.argv[1:])

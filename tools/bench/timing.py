"""Time on a CPU, of variants that take turns.

Thread CPU time, not the wall's: neighbours then cost a little and not everything. In each
round every variant runs once, in an order that is shuffled anew, so that a noisy minute
hits all alike; the median of the rounds counts.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping

LEAST = 0.01
"""How long a measurement lasts, in seconds: short runs are repeated."""


def interleaved(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median of the seconds that each run takes."""
    repeats = {name: _repeats(run) for name, run in runs.items()}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    rng = random.Random(0)
    order = list(runs)
    # What is loaded is no garbage; servers freeze it too.
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        rng.shuffle(order)
        for name in order:
            seconds[name].append(_measure(runs[name], repeats[name]))
    gc.unfreeze()
    return {name: statistics.median(values) for name, values in seconds.items()}


def _measure(run: Callable[[], object], repeats: int) -> float:
    gc.collect()
    began = time.thread_time()
    for _ in range(repeats):
        run()
    return (time.thread_time() - began) / repeats


def _repeats(run: Callable[[], object]) -> int:
    """How many runs make a measurement; the first ones warm up."""
    run()
    return max(1, round(LEAST / _measure(run, 1)))

"""Instructions for each delta, as callgrind counts them.

    python -m tools.bench.instructions NAME...

They do not move with neighbours, so a test can hold them. Each variant runs in processes of
its own, for a few runs and for more; the difference is free of start and end. Callgrind
counts from the moment that the input is there.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys

from .variants import VARIANTS, load
from .workload import workload

FEW, MORE = 1, 4
WARM_UP = 2


def available() -> bool:
    """Whether there is a valgrind."""
    return shutil.which("valgrind") is not None


def per_delta(name: str) -> float:
    """Of one variant. ImportError if it is not installed."""
    return (_count(name, MORE) - _count(name, FEW)) / (MORE - FEW) / len(workload())


def _count(name: str, runs: int) -> int:
    done = subprocess.run(
        [
            *("valgrind", "--tool=callgrind", "--instr-atstart=no"),
            "--callgrind-out-file=/dev/null",
            *(sys.executable, "-m", __spec__.name, "--child", name, str(runs)),
        ],
        env=os.environ | {"PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise RuntimeError(f"callgrind could not count {name}:\n{done.stderr}")
    return int(found[1])


def _child(name: str, runs: int) -> None:
    run = load(name)
    for _ in range(WARM_UP):
        run()
    gc.collect()
    gc.freeze()
    subprocess.run(
        ["callgrind_control", "-i", "on", str(os.getpid())],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    for _ in range(runs):
        run()
    # Taking the interpreter down costs more than the run.
    os._exit(0)


def main(names: list[str]) -> None:
    """Counts those that are named, or all."""
    for name in names or VARIANTS:
        print(f"{name:16}{per_delta(name):12,.0f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(sys.argv[2], int(sys.argv[3]))
    else:
        main(sys.argv[1:])

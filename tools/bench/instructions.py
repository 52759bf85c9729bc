"""Instructions for each delta, as callgrind counts them.

    python -m tools.bench.instructions NAME...     counts these variants
    python -m tools.bench.instructions --check     exit status 1 if the hot path got slower
    python -m tools.bench.instructions --write     takes what it costs now as the measure

They do not move with neighbours, so a test can hold them. Each variant runs in a process of
its own, and callgrind counts from the moment that the input is there; what a process costs
that does nothing then is taken off.
"""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from .variants import load
from .workload import workload

ROOT: Final = Path(__file__).parent.parent.parent
COMMITTED: Final = Path(__file__).parent / "instructions.json"
"""What the hot path cost when it was last changed on purpose, by version of Python, with
what the yardstick cost on the same build."""

GUARDED: Final = "typed"
YARDSTICK: Final = "yardstick"
TOLERANCE: Final = 1.10

RUNS: Final = 10
WARM_UP: Final = 2


def available() -> bool:
    """Whether there is a valgrind."""
    return shutil.which("valgrind") is not None


def per_delta(*names: str) -> dict[str, float]:
    """Of these variants. RuntimeError if one cannot be run here."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
        nothing = threads.submit(_count, YARDSTICK, 0)
        counts = {name: threads.submit(_count, name, RUNS) for name in names}
        return {
            name: (count.result() - nothing.result()) / RUNS / len(workload())
            for name, count in counts.items()
        }


def _count(name: str, runs: int) -> int:
    done = subprocess.run(
        [
            *("valgrind", "--tool=callgrind", "--instr-atstart=no"),
            "--callgrind-out-file=/dev/null",
            *(sys.executable, "-m", f"{__package__}.instructions"),
            *("--child", name, str(runs)),
        ],
        cwd=ROOT,
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


# The guard ----------------------------------------------------------------------------


def check() -> bool:
    """Whether the hot path costs at most a tenth more than committed; prints how much."""
    version, counts = _version(), per_delta(GUARDED, YARDSTICK)
    committed = json.loads(COMMITTED.read_text())
    if version not in committed:
        print(f"no number for Python {version} in {COMMITTED.name}; --write adds it")
        return False
    then = committed[version]
    build = counts[YARDSTICK] / then[YARDSTICK]
    expected: float = then[GUARDED] * build
    print(
        f"{counts[GUARDED]:,.0f} instructions per delta; expected {expected:,.0f}, at most"
        f" {expected * TOLERANCE:,.0f} (for Python {version} {then[GUARDED]:,} were"
        f" committed; this build counts {build:.3f} times as many)"
    )
    return counts[GUARDED] <= expected * TOLERANCE


def write() -> None:
    """Commits to what it costs now."""
    committed = json.loads(COMMITTED.read_text()) if COMMITTED.exists() else {}
    counts = per_delta(GUARDED, YARDSTICK)
    committed[_version()] = {name: round(count) for name, count in counts.items()}
    COMMITTED.write_text(json.dumps(committed, indent=2, sort_keys=True) + "\n")
    print(f"Python {_version()}: {committed[_version()]}")


def _version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def main(args: list[str]) -> None:
    """The command."""
    match args:
        case ["--child", name, runs]:
            _child(name, int(runs))
        case ["--check"]:
            sys.exit(not check())
        case ["--write"]:
            write()
        case names:
            for name, count in per_delta(*names or [GUARDED]).items():
                print(f"{name:16}{count:12,.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])

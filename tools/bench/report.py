"""The tables: Markdown, printed and written into the README between its markers.

    python -m tools.bench.report            prints them, and how far the goals are
    python -m tools.bench.report --write    writes the README and the plots
    python -m tools.bench.report --check    exit status 1 if the README is stale

They are made of the results of the last run, which are kept in docs/performance.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from . import results as kept
from .results import FOLDER, InProcess, OverHTTP, Results, Run
from .server_loads import LOADS, SERVERS
from .variants import VARIANTS

ROOT: Final = Path(__file__).parent.parent.parent
README: Final = ROOT / "README.md"
BEGIN: Final = "<!-- figures: begin -->"
END: Final = "<!-- figures: end -->"


def markdown(results: Results) -> str:
    """Everything between the markers."""
    parts: list[str] = []
    if results.in_process:
        parts += _in_process(results.in_process)
    if results.over_http:
        parts += _over_http(results.over_http)
    return "\n\n".join(parts)


def _in_process(found: InProcess) -> Iterator[str]:
    yield f"**From a parser's deltas to bytes** ({_where(found.run)})"
    yield _table(
        (
            *("", "µs per delta", "vLLM takes", "instructions", "vLLM takes"),
            "of the floor F0",
        ),
        [_variant_row(found, name) for name in VARIANTS if name in found.micros],
    )
    yield f"![The same as bars]({_link('peers.svg')})"
    yield "**A longer response costs no more**: µs per delta, by deltas in one item"
    yield _growth_table(found.growth)
    yield f"![The same as curves]({_link('growth.svg')})"
    memory = found.memory
    yield (
        f"A stream that has begun holds {memory['begun'] / 1e3:.1f} kB, in its first item"
        f" {memory['in its first item'] / 1e3:.1f} kB, and"
        f" {memory['for each character of W']:.1f} bytes for each character of a turn."
    )


def _variant_row(found: InProcess, name: str) -> tuple[str, ...]:
    variant = VARIANTS[name]
    title = f"**{variant.title}**" if variant.kind == "ours" else variant.title
    row = [title, f"{found.micros[name]:.2f}"]
    for figures, digits in ((found.micros, None), (found.instructions, 0)):
        if digits == 0:
            row.append(f"{figures[name]:,.0f}" if name in figures else "")
        base = figures.get(variant.baseline)
        comparable = base is not None and name in figures and name != variant.baseline
        row.append(f"{base / figures[name]:.1f}x" if comparable and base else "")
    counts = found.instructions
    is_counted = name in counts and "floor" in counts
    row.append(f"{counts[name] / counts['floor']:.1f}" if is_counted else "")
    return tuple(row)


def _growth_table(growth: Mapping[str, Mapping[int, float]]) -> str:
    lengths = (1_000, 10_000, 100_000, 1_000_000)
    head = ("", *(f"{length:,}" for length in lengths))
    rows = [
        (kind, *(f"{costs[each]:.2f}" if each in costs else "" for each in lengths))
        for kind, costs in growth.items()
    ]
    return _table(head, rows)


def _over_http(found: OverHTTP) -> Iterator[str]:
    yield f"**In a server**: CPU of its process in µs per delta ({_where(found.run)})"
    shown = [name for name in SERVERS if name in found.servers]
    head = ("streams", *LOADS, "added latency, ms", "p99, ms", "kB per open stream")
    direct = found.servers["direct"]
    rows = []
    for name in shown:
        served = found.servers[name]
        cpu = [f"{served.cpu[load]:.1f}" if load in served.cpu else "" for load in LOADS]
        latency = (f"{served.latency - direct.latency:.2f}", f"{served.late:.1f}")
        title = f"**{SERVERS[name]}**" if name == "gateway" else SERVERS[name]
        rows.append((title, *cpu, *latency, f"{served.memory:.0f}"))
    yield _table(head, rows)
    yield (
        "Without a pace, each stream gets its next delta once all streams have had their"
        " last one. At 50/s all get theirs at once, as from an engine's step, and the"
        " caches are cold in between. Latency is that of 32 streams at 50/s: the median"
        f" without the {direct.latency:.2f} ms from the chat server to a client with"
        f" nothing in between, the 99th percentile with it (there {direct.late:.1f} ms)."
        f" Memory is that of {found.held} streams, all open at once."
    )


def _where(run: Run) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in run.packages.items())
    return f"{run.date}; {run.machine}; {run.python}; {packages}"


def _link(plot: str) -> str:
    return (FOLDER / plot).relative_to(ROOT).as_posix()


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ("---", *("---:" for _ in head[1:])), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# What the figures must reach ----------------------------------------------------------


def goals(results: Results) -> str:
    """The figures beside what they must reach and what they aim at."""
    rows = [*_goals_in_process(results.in_process), *_goals_over_http(results.over_http)]
    width = max((len(title) for title, *_ in rows), default=0)
    lines = [f"{'':{width}}{'least':>7}{'aim':>7}{'here':>9}"]
    for title, least, aim, here in rows:
        is_more = aim > least
        reached = here >= least if is_more else here <= least
        aimed = here >= aim if is_more else here <= aim
        verdict = "aim" if aimed else "ok" if reached else "NOT REACHED"
        lines.append(f"{title:{width}}{least:>7g}{aim:>7g}{here:>9.2f}  {verdict}")
    return "\n".join(lines)


Goal = tuple[str, float, float, float]


def _goals_in_process(found: InProcess | None) -> Iterator[Goal]:
    if found is None:
        return
    micros, counts, growth = found.micros, found.instructions, found.growth
    if "vllm" in micros:
        yield "typed, sync, time (x)", 10, 15, micros["vllm-sync"] / micros["typed"]
        for name in ("generator", "gateway", "plugin"):
            title = f"serving path, async, time (x): {VARIANTS[name].title}"
            yield title, 9, 14, micros["vllm"] / micros[name]
    if "vllm-sync" in counts:
        yield "typed, instructions (x)", 8, 12, counts["vllm-sync"] / counts["typed"]
    if counts:
        yield "distance to F0, instructions", 4, 2.5, counts["typed"] / counts["floor"]
    for kind in ("content", "reasoning", "arguments"):
        costs = growth[kind]
        yield f"1e6 against 2e3 deltas: {kind}", 1.1, 1.0, costs[1_000_000] / costs[2_000]
    custom = growth["custom input"]
    title = "custom tool input, 1e6 against 1e4 characters"
    yield title, 1.1, 1.0, custom[250_000] / custom[2_500]


def _goals_over_http(found: OverHTTP | None) -> Iterator[Goal]:
    if found is None:
        return
    servers = found.servers
    ours, raw, direct = servers["gateway"], servers["raw"], servers["direct"]
    for load in ("32", "32 at 50/s"):
        title = f"gateway against a raw proxy, CPU: {load}"
        yield title, 2.0, 1.4, ours.cpu[load] / raw.cpu[load]
        if "litellm" in servers:
            title = f"LiteLLM's proxy against the gateway, CPU (x): {load}"
            yield title, 20, 50, servers["litellm"].cpu[load] / ours.cpu[load]
    yield "added latency per delta, 32 streams, ms", 1, 0.3, ours.latency - direct.latency
    yield "memory per open idle stream, kB", 120, 60, ours.memory


# The README ---------------------------------------------------------------------------


def _readme(results: Results) -> str:
    text = README.read_text()
    before, found, rest = text.partition(BEGIN)
    _, found_end, after = rest.partition(END)
    if not found or not found_end:
        raise RuntimeError(f"README.md has no {BEGIN} ... {END}")
    return f"{before}{BEGIN}\n\n{markdown(results)}\n\n{END}{after}"


def write(results: Results) -> None:
    """Writes the README and the plots."""
    from .plots import draw

    README.write_text(_readme(results))
    if results.in_process:
        draw(results.in_process, FOLDER)


def main(args: list[str]) -> None:
    """The command."""
    results = kept.load()
    if args == ["--write"]:
        write(results)
    elif args == ["--check"]:
        sys.exit(README.read_text() != _readme(results))
    else:
        print(markdown(results), goals(results), sep="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])

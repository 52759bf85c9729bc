"""Fuzzes the machines of the package, guided by coverage (atheris).

    python tools/fuzz.py [TARGET ...] [--seconds N] [--executions N] [--jobs N]

Each target (fuzz_targets.py says what must hold) runs in a process of its own, for so many
seconds or executions, from the corpus in tests/corpus on. What is wrong is written to
`--findings`, one input for each place in the code, and the run goes on. `--keep N` makes
a new corpus of what this run has found to be worth keeping: at most N short inputs for
each target. The exit status is 1 if anything was found.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import re
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "tests" / "corpus"
TARGETS = ("sse", "chunks", "request", "checker", "emit")
LONGEST = 512
"""Bytes of an input."""
LONGEST_KEPT = 256
SLOWEST = 20
"""Seconds that one input may take; more is a hang."""

DICTIONARY = (
    *("data: ", "event: ", "id: ", "retry: ", ": ", "\\x0a\\x0a", "\\x0d\\x0a", "[DONE]"),
    *(
        "\\xef\\xbb\\xbf",
        "\\xff",
        "\\x00",
        "\\\\ud83d",
        "\\\\ude00",
        "{",
        "}",
        "[",
        "]",
        ":",
    ),
    *(
        '\\"choices\\":',
        '\\"delta\\":',
        '\\"content\\":',
        '\\"reasoning\\":',
        '\\"index\\":',
    ),
    *(
        '\\"tool_calls\\":',
        '\\"function\\":',
        '\\"name\\":',
        '\\"arguments\\":',
        '\\"id\\":',
    ),
    *('\\"finish_reason\\":', '\\"stop\\"', '\\"length\\"', '\\"usage\\":', '\\"error\\":'),
    *('\\"message\\":', '\\"logprobs\\":', '\\"refusal\\":', '\\"function_call\\":'),
    *('\\"prompt_tokens\\":', '\\"role\\":', '\\"type\\":', '\\"input\\":', '\\"tools\\":'),
    *('\\"response\\":', '\\"item\\":', '\\"sequence_number\\":', '\\"output_index\\":'),
)
"""In libFuzzer's words."""


def inputs(target: str) -> list[bytes]:
    """The corpus of a target: one bytes literal a line."""
    lines = (CORPUS / f"{target}.txt").read_text().splitlines()
    return [ast.literal_eval(line) for line in lines]


@dataclass
class Run:
    """What has come of fuzzing one target."""

    target: str
    executions: int
    seconds: int
    features: int
    """Of the code, reached: libFuzzer's measure of coverage."""
    findings: list[str]


def run(target: str, args: argparse.Namespace) -> Run:
    """Fuzzes one target in a process of its own."""
    with tempfile.TemporaryDirectory(prefix=f"fuzz-{target}-") as folder:
        corpus, words = Path(folder) / "corpus", Path(folder) / "words"
        corpus.mkdir()
        _fill(corpus, target)
        words.write_text("".join(f'"{word}"\n' for word in DICTIONARY))
        options = [
            f"-max_total_time={args.seconds}",
            f"-runs={args.executions}",
            f"-max_len={LONGEST}",
            f"-timeout={SLOWEST}",
            f"-dict={words}",
            f"-artifact_prefix={args.findings}/{target}-",
            "-print_final_stats=1",
        ]
        command = [sys.executable, __file__, "--child", target, str(args.findings)]
        done = subprocess.run(
            [*command, str(corpus), *options], capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        findings = re.findall(r"^FINDING: (.*)", said, re.MULTILINE)
        if done.returncode:
            findings.append(f"exit status {done.returncode}: {said[-2000:]}")
        if args.keep:
            _keep(target, corpus, args.keep)
        executions = sum(map(int, re.findall(r"number_of_executed_units: (\d+)", said)))
        features = max(map(int, re.findall(r" ft: (\d+)", said)), default=0)
        took = max(map(int, re.findall(r"runs in (\d+) second", said)), default=0)
        return Run(target, executions, took, features, findings)


def _fill(corpus: Path, target: str) -> None:
    """Writes down what to begin with."""
    for number, seed in enumerate(inputs(target)):
        (corpus / f"seed-{number}").write_bytes(seed)


def _keep(target: str, corpus: Path, most: int) -> None:
    """Makes a corpus of inputs that have reached what none had before them."""
    found = sorted((path.read_bytes() for path in corpus.iterdir()), key=len)
    short = [seed for seed in found if len(seed) <= LONGEST_KEPT]
    # Of all lengths: the shortest alone are all alike.
    chosen = short[:: -(-len(short) // most)]
    (CORPUS / f"{target}.txt").write_text("".join(f"{seed!r}\n" for seed in chosen))


def child(target: str, findings: Path, arguments: list[str]) -> None:
    """Fuzzes in this process; libFuzzer ends it."""
    import atheris

    with atheris.instrument_imports(include=["responses_stream"]):
        import fuzz_targets

    check = fuzz_targets.TARGETS[target]
    known: set[str] = set()

    def one(data: bytes) -> None:
        try:
            check(data)
        except Exception as error:  # noqa: BLE001  (any is a finding)
            frames = traceback.extract_tb(error.__traceback__)
            where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames[:0:-1])
            if where not in known:
                known.add(where)
                name = f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
                (findings / name).write_bytes(data)
                what = str(error).replace("\n", " ")[:300]
                print(f"FINDING: {name}: {type(error).__name__}: {what} at {where}")
                sys.stdout.flush()

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def main() -> int:
    """Fuzzes, and prints what came of it."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--executions", type=int, default=-1, help="of each target")
    parser.add_argument("--jobs", type=int, default=1, help="targets at once")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--keep", type=int, default=0, metavar="N")
    args = parser.parse_args()
    args.findings.mkdir(exist_ok=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        runs = list(pool.map(lambda target: run(target, args), args.targets or TARGETS))
    print("| target | executions | seconds | features | findings |\n|---|--:|--:|--:|--:|")
    for each in runs:
        counts = f"{each.executions:,} | {each.seconds} | {each.features:,}"
        print(f"| {each.target} | {counts} | {len(each.findings)} |")
    print(f"\n{sum(each.executions for each in runs):,} executions")
    found = [finding for each in runs for finding in each.findings]
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

"""The benchmark measures what it says: workload W, by ways that say the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.bench import agreement, growth, report, results
from tools.bench.ours import typed
from tools.bench.variants import VARIANTS, installed
from tools.bench.workload import needs_escape, said, workload

ROOT = Path(__file__).parent.parent
NEED_PEERS = {"plugin", "least-plugin", "vllm-sync", "vllm", "vllm-asgi", "litellm"}


def test_the_workload_is_that_of_the_figures():
    """2,002 deltas, as long and as odd as those that all figures were taken with."""
    deltas = workload()
    texts = [said(delta) for delta in deltas]

    assert (500, 1_000) == (
        sum(bool(delta.reasoning) for delta in deltas),
        sum(bool(delta.content) for delta in deltas),
    )
    assert 2 == sum(bool(call.name) for delta in deltas for call in delta.tool_calls)
    assert (2_002, 7_160) == (len(deltas), sum(map(len, texts)))
    assert 291 == sum(map(needs_escape, texts))
    assert 152 == sum(not text.isascii() for text in texts)
    assert deltas == workload()


def test_all_ways_say_the_same():
    """And ours pass the checker."""
    runs = installed()

    assert set(VARIANTS) - NEED_PEERS <= set(runs)
    assert [] == agreement.check(runs)


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda frames: frames[:100] + frames[101:], "characters in deltas"),
        (lambda frames: frames[:-2], "ends with response.output_item.done"),
        (lambda frames: [frames[0], *frames], "sequence_number"),
    ],
)
def test_a_way_that_says_less_is_found(spoil, fault):
    """What costs less because it does less does not pass."""
    faults = agreement.check({"typed": lambda: spoil(typed(workload()))})

    assert any(fault in each for each in faults), faults


def test_a_way_that_leaves_an_event_out_is_found():
    """Also where no delta is missing."""
    whole = typed(workload())
    runs = {"plugin": lambda: whole, "least-plugin": lambda: whole[1:]}

    assert ["least-plugin: other events than plugin"] == agreement.check(runs)
    assert [] == agreement.check({**runs, "least-plugin": lambda: whole})


@pytest.mark.parametrize("kind", ["content", "reasoning", "arguments", "custom input"])
def test_growth_measures_a_whole_response(kind):
    """Each batch, and the beginning and the end around them."""
    seconds = list(growth.seconds(growth.ways()[kind], 3_000))

    assert 5 == len(seconds)
    assert all(each > 0 for each in seconds)


def test_the_readme_shows_the_last_run():
    """Its tables are made of the results that are kept."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.bench.report", "--check"], cwd=ROOT, check=False
    )

    assert 0 == done.returncode, "run: python -m tools.bench.report --write"


def test_the_plots_are_there():
    """The README links to them."""
    assert results.load().in_process is not None
    for plot in ("peers.svg", "growth.svg"):
        assert f"docs/performance/{plot}" in report.README.read_text()
        assert (results.FOLDER / plot).exists()

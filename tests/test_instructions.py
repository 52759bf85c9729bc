"""The hot path does not get slower unnoticed: its instructions are counted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.valgrind
def test_a_delta_costs_at_most_a_tenth_more_than_committed():
    """If it is meant to: `python -m tools.bench.instructions --write`."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.bench.instructions", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout + done.stderr

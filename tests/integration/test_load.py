"""Very many streams, at once and one after the other: the tools of tools/, in short."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parent.parent.parent


def run(tool: str, *options: str) -> str:
    """What a tool prints; it must find nothing wrong."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / tool, *options],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_load():
    """Of hundreds of streams, some of them with faults, every transcript is right."""
    # Memory has no time to become flat.
    options = ("--streams", "300", "--minutes", "0.4", "--pace", "0.1", "--growth", "0.5")
    said = run("load.py", *options)

    assert "\n0 wrong" in said


def test_soak():
    """Of thousands of streams nothing is left, and hardly any memory."""
    said = run("soak.py", "--streams", "5000", "--rounds", "5", "--growth", "0.05")

    assert "; 0 wrong" in said

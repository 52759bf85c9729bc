"""The README's first two commands, as they stand there but for the port."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import ROOT, free_port

from responses_stream.recorded import read

pytestmark = pytest.mark.integration

SERVE, CURL, *_ = re.findall(
    r"```sh\n(.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL
)
PORT = "8080"
INSTALLING = 180.0


@pytest.fixture(name="port")
def _port(tmp_path: Path) -> Iterator[str]:
    """Where the README's server listens, installed into a new environment."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    port = str(free_port())
    path = f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(
            ["bash", "-c", f"{SERVE} --port {port}"],
            cwd=ROOT,
            env={**os.environ, "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            stdout=log,
            stderr=log,
            start_new_session=True,
        ) as running,
    ):
        try:
            deadline = time.monotonic() + INSTALLING
            while "is served" not in (tmp_path / "log").read_text():
                assert running.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.2)
            yield port
        finally:
            os.killpg(running.pid, signal.SIGTERM)


def test_the_first_commands(port):
    """A newcomer installs, serves, asks, and sees a clean stream."""
    command = f"{CURL.replace(PORT, port)} --silent --show-error --max-time 30"
    said = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    recording = read(said.stdout)

    assert "curl -N" in CURL
    assert () == recording.findings
    assert "response.completed" == recording.events[-1]["type"]

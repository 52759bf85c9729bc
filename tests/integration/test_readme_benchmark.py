"""What the README installs for its benchmark: every file is there, every pin resolves."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest
from servers import ROOT

pytestmark = pytest.mark.integration

((LINES,),) = (
    re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    for section in re.split(r"^## ", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    if section.startswith("How fast\n")
)
COMMANDS = [shlex.split(one) for line in LINES.splitlines() for one in line.split("&&")]
INSTALLS = [rest for program, *rest in COMMANDS if program.endswith("/bin/pip")]
ADDRESS = re.compile(r"\w+://\S+")


@pytest.fixture(scope="module", name="python")
def _python(tmp_path_factory):
    """The Python of a new environment."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder / "bin" / "python"


def test_there_is_something_to_install():
    """The patterns above still find the README's lines."""
    assert len(INSTALLS) == LINES.count("pip install") == 3


@pytest.mark.parametrize("arguments", INSTALLS, ids=" ".join)
def test_an_install_line_resolves(python, arguments):
    """In a new environment, pip would do what the line says. It installs nothing here."""
    done = subprocess.run(
        [python, "-m", "pip", "-qq", *arguments, "--dry-run"],
        cwd=ROOT,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    # Where a machine gets its packages from is nobody's business.
    status, said = done.returncode, ADDRESS.sub("(address)", done.stderr)
    assert status == 0, said

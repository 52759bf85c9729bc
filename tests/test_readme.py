"""README.md is true: what it shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()

EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)
CONSOLE = re.findall(
    r"^\$ (.*)\n((?:(?!\$ |```).*\n)*)",
    "".join(re.findall(r"```console\n(.*?)```", README, re.DOTALL)),
    re.MULTILINE,
)


def run(command: list[str] | str) -> str:
    """What a command prints, without the blanks at the ends of its lines."""
    bin_ = Path(sys.executable).parent
    done = subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=ROOT,
        env=os.environ | {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "" == done.stderr
    return without_blanks(done.stdout)


def without_blanks(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def test_there_is_something_to_test():
    """The patterns above still find the README's examples."""
    assert len(EXAMPLES) >= 1
    assert len(CONSOLE) >= 3


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_examples_print_what_they_say(code, printed):
    """A Python block prints the text block behind it."""
    assert without_blanks(printed) == run([sys.executable, "-c", code])


@pytest.mark.parametrize(("command", "printed"), CONSOLE)
def test_commands_print_what_they_say(command, printed):
    """A command in a console block prints the lines behind it."""
    assert without_blanks(printed) == run(command)


def test_the_diagrams_are_those_of_the_tables():
    """`tools/draw_states.py` would change nothing."""
    done = subprocess.run(
        [sys.executable, "tools/draw_states.py", "--check"], cwd=ROOT, check=False
    )

    assert 0 == done.returncode, "run: python tools/draw_states.py"


@pytest.mark.parametrize(
    "name", sorted(set(re.findall(r"`([\w/]*test_\w+\.py[:\w]*)`", README)))
)
def test_every_test_that_is_named_exists(name):
    """A promise is worth no more than its test."""
    file, _, function = name.partition("::")

    assert f"def {function}" in (ROOT / "tests" / file).read_text()

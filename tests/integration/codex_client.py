"""codex itself, in a home of its own: `codex exec`, and its TUI in tmux.

Nothing of it outlives its `with`: what is left is ended by its id, and told.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from responses_stream.codex_command import codex_config_command

ODD = re.compile("warn|metadata|unknown|deprecated|falling back", re.IGNORECASE)

PATIENCE = 60.0
"""How many seconds a turn may take."""


def binary() -> str:
    """Where codex is. A test fails without it."""
    found = os.environ.get("RESPONSES_STREAM_CODEX") or shutil.which("codex")
    assert found, "no codex: npm install @openai/codex@0.169.0, and put it on PATH"
    return found


class Turn(NamedTuple):
    """What `codex exec --json` printed."""

    status: int
    events: list[dict[str, Any]]
    stderr: str

    def items(self, kind: str) -> list[dict[str, Any]]:
        """The finished items of a kind, such as `command_execution`."""
        done = [e["item"] for e in self.events if e["type"] == "item.completed"]
        return [item for item in done if item["type"] == kind]

    @property
    def messages(self) -> list[str]:
        """What the assistant said."""
        return [item["text"] for item in self.items("agent_message")]

    @property
    def retries(self) -> list[str]:
        """What codex said before it asked again, or gave up."""
        return [event["message"] for event in self.events if event["type"] == "error"]

    @property
    def warnings(self) -> list[str]:
        """What codex found odd: of its configuration, the catalog, or the model."""
        said = [*self.stderr.splitlines(), *(i["message"] for i in self.items("error"))]
        return [line for line in said if ODD.search(line)]

    @property
    def error(self) -> str:
        """Why the turn failed, if it did."""
        failed = [e["error"]["message"] for e in self.events if e["type"] == "turn.failed"]
        return failed[0] if failed else ""

    @property
    def thread(self) -> str:
        """By which `codex exec resume` finds it again."""
        return str(self.events[0]["thread_id"])


class Codex:
    """codex, configured for one server."""

    def __init__(self, home: Path, base_url: str, *options: str) -> None:
        self.home = home
        self.folder = home / "work"
        self.folder.mkdir(parents=True)
        (home / "tmp").mkdir()
        self.settings: dict[str, object] = {"check_for_update_on_startup": False}
        """What a test wants otherwise than `responses-stream codex-config` says it."""
        self.variables: dict[str, str] = {}
        """What codex finds in its environment besides."""
        told = CliRunner(catch_exceptions=False).invoke(
            codex_config_command,
            ["--base-url", base_url, *options],
            env={"CODEX_HOME": str(home)},
        )
        assert told.exit_code == 0, told.output
        (home / "local.config.toml").write_text(told.stdout)
        trusted = f'[projects."{self.folder}"]\ntrust_level = "trusted"\n'
        (home / "config.toml").write_text(trusted)

    @property
    def environment(self) -> Mapping[str, str]:
        """Nothing of ours but the way to the programs."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CODEX_HOME": str(self.home),
            # codex refuses to keep its helpers below the folder for temporary files.
            "TMPDIR": str(self.home / "tmp"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            **self.variables,
        }

    def command(self, *arguments: str) -> list[str]:
        """Codex with the settings; `arguments` begin with a subcommand, or have none."""
        told = [f"{name}={json.dumps(value)}" for name, value in self.settings.items()]
        flags = [flag for setting in told for flag in ("-c", setting)]
        flags += ["--profile", "local"]
        # The sandbox is codex's own business, and needs rights that a container lacks.
        flags += ["--sandbox", "danger-full-access"]
        subcommand = arguments[:1] if arguments[:1] == ("exec",) else ()
        return [binary(), *subcommand, *flags, *arguments[len(subcommand) :]]

    def exec(self, prompt: str, *arguments: str) -> Turn:
        """Runs one turn to its end; `arguments` go between `exec` and the prompt."""
        with self.running(prompt, *arguments) as codex:
            out, err = codex.communicate(timeout=PATIENCE)
        events = [json.loads(line) for line in out.splitlines()]
        return Turn(codex.returncode, events, err)

    @contextmanager
    def running(self, prompt: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Runs one turn, unless the caller ends it."""
        flags = ("--strict-config", "--skip-git-repo-check", "--json")
        with subprocess.Popen(
            self.command("exec", *flags, *arguments, prompt),
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as codex:
            try:
                yield codex
            finally:
                codex.kill()

    @contextmanager
    def tui(self, *arguments: str) -> Iterator[Terminal]:
        """The TUI in a terminal of its own."""
        # The path of a socket is short, that of a test's folder may be long.
        with tempfile.TemporaryDirectory() as folder:
            terminal = Terminal(f"{folder}/tmux")
            size = ("-x", "100", "-y", "40")
            command = ("env", "-i", *(f"{k}={v}" for k, v in self.environment.items()))
            command += tuple(self.command("--no-alt-screen", *arguments))
            terminal.tmux("new-session", "-d", *size, "-c", str(self.folder), *command)
            try:
                yield terminal
            finally:
                terminal.tmux("kill-server")

    def processes(self) -> dict[int, str]:
        """The commands of the processes that have this home, by their ids."""
        home = f"CODEX_HOME={self.home}\0".encode()
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if home in (process / "environ").read_bytes():
                    command = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(process.name)] = command.decode()
        return found

    def left_behind(self) -> list[str]:
        """Ends the processes that do not end by themselves; tells which they were."""
        with suppress(AssertionError):
            wait_until(lambda: not self.processes(), patience=10)
        left = self.processes()
        for process in left:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return list(left.values())


class Terminal:
    """A terminal that a test types into and looks at."""

    def __init__(self, address: str) -> None:
        self._address = address

    def tmux(self, *arguments: str) -> str:
        """Runs a command of tmux, and returns what it printed."""
        command = ("tmux", "-S", self._address, "-f", "/dev/null", *arguments)
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def type(self, text: str) -> None:
        """Types text, and Enter once the text is there."""
        self.tmux("send-keys", "-l", text)
        self.wait_for(text)
        self.press("Enter")

    def press(self, key: str) -> None:
        """Presses a key, by tmux's name of it."""
        self.tmux("send-keys", key)

    def screen(self) -> str:
        """What stands there, what was scrolled away included."""
        lines = self.tmux("capture-pane", "-p", "-S", "-").splitlines()
        return "\n".join(line.rstrip() for line in lines).strip("\n")

    def visible(self) -> str:
        """What fits the window, without the empty lines at its end."""
        lines = self.tmux("capture-pane", "-p").splitlines()
        return "\n".join(line.rstrip() for line in lines).rstrip()

    def wait_for(self, *texts: str) -> str:
        """Returns the screen once it has all of `texts`."""
        wait_until(lambda: all(text in self.screen() for text in texts), self.screen)
        return self.screen()


def wait_until(
    holds: Callable[[], object], tell: Callable[[], object] = str, patience: float = 30.0
) -> None:
    """Returns once `holds()`; fails with `tell()` if it does not in time."""
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline, tell()
        time.sleep(0.005)

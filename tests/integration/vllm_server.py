"""A real vLLM server with the tiny model, on this machine's CPU.

    RESPONSES_STREAM_VLLM_PYTHON  the Python of an environment with vLLM and this package
    RESPONSES_STREAM_VLLM_MODEL   the folder that tools/make_tiny_model.py has made

At most one server runs at a time: two would take all of a small machine.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple

import openai
import psutil
import pytest
from servers import free_port

from responses_stream.recorded import Recording, read

PLUGIN = {"VLLM_PLUGINS": "responses_stream"}
CORE = {"VLLM_PLUGINS": ""}
WITH_KEY = {"VLLM_API_KEY": "secret"}

OPTIONS = (
    *("--served-model-name", "tiny", "--host", "127.0.0.1", "--dtype", "float32"),
    *("--enforce-eager", "--max-model-len", "32768", "--max-num-seqs", "8"),
    *("--reasoning-parser", "qwen3", "--generation-config", "vllm"),
    *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
    "--enable-server-load-tracking",
)
FOLDER = "RESPONSES_STREAM_VLLM_SCRIPTS"
"""In a server's environment, the folder with a script for its model: see vllm_script.py."""
SCRIPTED = ("--logits-processors", "vllm_script:Scripted", "--load-format", "dummy")
HERE = Path(__file__).parent

ENVIRONMENT = {
    "VLLM_ENABLE_RESPONSES_API_STORE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
}
NO_SPINNING = """
import os, time
os.sched_yield = lambda: time.sleep(0.0001)
"""
"""vLLM's processes wait for each other by sched_yield in a loop. On two cores and a recent
Linux that leaves their clients, us among them, without any time for seconds."""

START_SECONDS = 180
ANSWER_SECONDS = 30


class Answer(NamedTuple):
    """An HTTP answer, as far as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool
    """The body broke off, or nothing came for ANSWER_SECONDS."""

    @property
    def object(self) -> Any:
        """The JSON object in the body."""
        return json.loads(self.body)

    @property
    def recording(self) -> Recording:
        """The transcript in the body, judged."""
        return read(self.body)

    @property
    def events(self) -> tuple[dict[str, Any], ...]:
        """The events in the body."""
        return self.recording.events

    @property
    def final(self) -> dict[str, Any]:
        """The response object of the last event."""
        response: dict[str, Any] = self.events[-1]["response"]
        return response


class Server:
    """A running server."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        python, model, options = named("PYTHON"), named("MODEL"), OPTIONS
        self.environment = environment
        self.port = free_port()
        self.key = environment.get("VLLM_API_KEY", "none")
        """What clients show."""
        self._folder = tempfile.TemporaryDirectory(prefix="vllm-")
        folder = Path(self._folder.name)
        self._log = folder / "log"
        (folder / "sitecustomize.py").write_text(NO_SPINNING)
        path = os.pathsep.join(
            [self._folder.name, *filter(None, [environment.get("PYTHONPATH")])]
        )
        if FOLDER in environment:
            shutil.copy(HERE / "vllm_script.py", folder)
            command = [python, HERE / "vllm_model.py", model, folder / "model"]
            subprocess.run(command, check=True, capture_output=True)
            model, options = str(folder / "model"), (*OPTIONS, *SCRIPTED)
        command = [
            *(python, "-m", "vllm.entrypoints.openai.api_server"),
            *("--model", model, "--port", str(self.port), *options),
        ]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env={**os.environ, **ENVIRONMENT, **environment, "PYTHONPATH": path},
                # A group of its own: vLLM leaves workers behind when its engine dies.
                start_new_session=True,
            )
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    @property
    def log(self) -> str:
        """What the server has logged so far."""
        return self._log.read_text(errors="replace")

    @property
    def base_url(self) -> str:
        """What a client is told."""
        return f"http://127.0.0.1:{self.port}/v1"

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            with suppress(OSError, HTTPException):
                if self.get("/health").status == 200:
                    return
            time.sleep(0.2)
        raise AssertionError(f"vLLM does not serve:\n{self.log[-5000:]}")

    def stop(self) -> None:
        """Ends the server and all that it has started."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()

    def kill_engine(self) -> None:
        """Kills the engine's own process, as a bug in a kernel would."""
        for status in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                pid = int(status.parent.name)
                title = (status.parent / "cmdline").read_bytes()
                if os.getpgid(pid) == self._process.pid and b"EngineCore" in title:
                    os.kill(pid, signal.SIGKILL)

    @property
    def descriptors(self) -> int:
        """How many the process has open that talks to clients."""
        return psutil.Process(self._process.pid).num_fds()

    def client(self) -> openai.OpenAI:
        """The official client, which asks once."""
        return openai.OpenAI(base_url=self.base_url, api_key=self.key, max_retries=0)

    @contextmanager
    def streaming(self, **more: Any) -> Iterator[HTTPResponse]:
        """A stream that has begun, and ends when the client leaves."""
        request = {"model": "tiny", "temperature": 0, "stream": True, **more}
        with closing(self._connection()) as connection:
            body = json.dumps(request)
            connection.request("POST", "/v1/responses", body, self._headers())
            with connection.getresponse() as response:
                yield response

    def metric(self, name: str) -> float:
        """The sum of vLLM's metrics whose name and first labels are these."""
        name, _, label = name.partition("{")
        return sum(
            float(line.split()[-1])
            for line in self.get("/metrics").body.decode().splitlines()
            if line.startswith(f"vllm:{name}{{") and label in line
        )

    # Requests ---------------------------------------------------------------------

    def ask(self, _request: Mapping[str, Any] | None = None, **more: Any) -> Answer:
        """POST /v1/responses, read to the end. `stream` unless told otherwise."""
        request = {"model": "tiny", "temperature": 0, "stream": True}
        return self.post("/v1/responses", {**request, **(_request or {}), **more})

    def post(self, path: str, body: object = None) -> Answer:
        """Any POST. A body that is no bytes goes as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._talk("POST", path, data)

    def get(self, path: str) -> Answer:
        """Any GET."""
        return self._talk("GET", path, None)

    def _talk(self, method: str, path: str, body: bytes | None) -> Answer:
        with closing(self._connection()) as connection:
            connection.request(method, path, body, self._headers())
            response = connection.getresponse()
            pieces, cut = [], False
            try:
                while piece := response.read1():
                    pieces.append(piece)
            except (OSError, HTTPException):
                cut = True
            found = {key.lower(): value for key, value in response.getheaders()}
            return Answer(response.status, found, b"".join(pieces), cut)

    def _connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)

    def _headers(self) -> dict[str, str]:
        return {
            "content-type": "application/json",
            "authorization": f"Bearer {self.key}",
        }


class Servers:
    """The one server that runs, if any does."""

    def __init__(self) -> None:
        self._running: Server | None = None

    def get(self, environment: Mapping[str, str]) -> Server:
        """The server with this environment; another one is ended first."""
        if self._running is None or self._running.environment != environment:
            self.stop()
            self._running = Server(environment)
        return self._running

    def stop(self) -> None:
        """Ends the server that runs."""
        running, self._running = self._running, None
        if running is not None:
            running.stop()


SERVERS = Servers()
atexit.register(SERVERS.stop)


@pytest.fixture(name="vllm")
def vllm_fixture() -> Server:
    """A server with the plugin. Tests share it, as long as none wants another one."""
    return SERVERS.get(PLUGIN)


def wait_until(found: Callable[[], bool]) -> None:
    """Returns when something is so; it must be so in ANSWER_SECONDS."""
    deadline = time.monotonic() + ANSWER_SECONDS
    while not found():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


def named(what: str) -> str:
    """The path in a variable that the module tells of. A test fails without it."""
    name = f"RESPONSES_STREAM_VLLM_{what}"
    found = os.environ.get(name)
    assert found, f"{name} is not set; {__name__}.py tells what it names"
    assert Path(found).exists(), f"{name} is {found!r}; expected a path"
    return found

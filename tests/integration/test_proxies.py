"""Proxies on either side of the gateway: what they hold back, and what they relabel."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from helpers import violations
from servers import chatting, free_port, program, relaying

from responses_stream import SSEDecoder

pytestmark = pytest.mark.integration

DELTA = "response.output_text.delta"
PACE = 0.1
WORDS = [f"word{number} " for number in range(11)]
ASKED = json.dumps({"model": "m", "input": "Count.", "stream": True})

# Nothing but what it takes to run beside another nginx, and `proxy_pass`.
NGINX = """\
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        ssl_certificate cert.pem;
        ssl_certificate_key key.pem;
        location / {{
            proxy_pass http://{upstream};
        }}
    }}
}}
"""

CADDY = """\
{{
    admin off
    auto_https off
    servers {{
        protocols h1 h2
    }}
}}
https://127.0.0.1:{port} {{
    tls {folder}/cert.pem {folder}/key.pem
    reverse_proxy {upstream}
}}
"""

Proxy = Callable[[str, Path], AbstractContextManager[str]]
"""From the base URL behind it and a folder of its own; gives its own base URL."""


def certify(folder: Path) -> None:
    """Puts a self-signed certificate there."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-batch"]
    curve = ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2"]
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-out", folder / "cert.pem", "-keyout", folder / "key.pem"]
    subprocess.run([*command, *curve, *subject, *files], check=True, capture_output=True)


@contextmanager
def proxy(template: str, command: list[str], base: str, folder: Path) -> Iterator[str]:
    """A proxy in front of `base`, whose configuration is made of `template`."""
    folder.mkdir()
    certify(folder)
    where, port = urlsplit(base), free_port()
    config = folder / "config"
    config.write_text(template.format(port=port, upstream=where.netloc, folder=folder))
    # Caddy keeps what it thinks worth keeping at home.
    home = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    command = [word.format(folder=folder, config=config) for word in command]
    with program(*command, port=port, log=folder / "log", env=home):
        yield f"https://127.0.0.1:{port}{where.path}"


def nginx(base: str, folder: Path) -> AbstractContextManager[str]:
    """Runs nginx; see Proxy."""
    command = ["nginx", "-e", "stderr", "-p", "{folder}", "-c", "{config}"]
    return proxy(NGINX, command, base, folder)


def caddy(base: str, folder: Path) -> AbstractContextManager[str]:
    """Runs Caddy; see Proxy."""
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", "{config}"]
    return proxy(CADDY, command, base, folder)


class Received(NamedTuple):
    """What has come through, and when."""

    body: bytes
    times: list[float]
    """Of each text delta."""
    version: str
    content_type: str

    @property
    def gap(self) -> float:
        """The usual time between two text deltas, in seconds."""
        return median(later - earlier for earlier, later in pairwise(self.times))

    @property
    def text(self) -> str:
        """All text deltas. The transcript must be clean."""
        *frames, last = SSEDecoder().feed(self.body)
        events = [json.loads(frame.data) for frame in frames]
        assert (last.data, violations(events)) == ("[DONE]", [])
        return "".join(event["delta"] for event in events if event["type"] == DELTA)


def receive(base: str, *options: str) -> Received:
    """A stream as curl gets it."""
    report = ["--write-out", "%{stderr}%{http_version} %{content_type}"]
    command = ["curl", "-N", "-k", "-s", "--max-time", "30", *report, *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    asked = ["--json", ASKED, f"{base}/responses"]
    body, times = b"", []
    with subprocess.Popen([*command, *asked], bufsize=0, **pipes) as running:
        while data := running.stdout.read(65536):
            times += [time.monotonic()] * data.count(f"event: {DELTA}\n".encode())
            body += data
        version, _, content_type = running.stderr.read().decode().partition(" ")
    assert running.returncode == 0
    return Received(body, times, version, content_type)


@pytest.fixture(scope="module", name="paced")
def _paced(gateway) -> Iterator[str]:
    """A gateway whose upstream says a word every PACE seconds."""
    with chatting([{"content": word} for word in WORDS], pace=PACE) as upstream:
        yield gateway("--upstream", upstream)


# In front of the gateway --------------------------------------------------------------


@pytest.mark.parametrize(("http", "version"), [("--http1.1", "1.1"), ("--http2", "2")])
@pytest.mark.parametrize("proxied", [nginx, caddy])
def test_deltas_come_through_as_they_are_sent(paced, tmp_path, proxied, http, version):
    """Behind a proxy with its defaults, each delta arrives when it is sent."""
    with proxied(paced, tmp_path / "proxy") as base:
        received = receive(base, http)

    assert version == received.version
    assert received.content_type == "text/event-stream; charset=utf-8"
    assert "".join(WORDS) == received.text
    assert received.gap == pytest.approx(PACE, rel=0.5)


def test_without_our_headers_nginx_holds_deltas_back(paced, tmp_path):
    """The same stream, as fast, but with nothing that tells nginx not to buffer it."""
    with relaying(paced, "text/event-stream") as bare:
        direct = receive(bare)
        with nginx(bare, tmp_path / "proxy") as base:
            received = receive(base)

    assert direct.text == received.text == "".join(WORDS)
    assert direct.gap == pytest.approx(PACE, rel=0.5)
    assert received.gap < PACE / 10


# Behind the gateway --------------------------------------------------------------------


@pytest.mark.parametrize("content_type", ["application/json", "text/plain"])
def test_a_proxy_that_relabels_the_upstream(gateway, content_type):
    """Prefill/decode proxies call a stream `application/json`; ours is still right."""
    with (
        chatting([{"content": word} for word in WORDS], pace=PACE) as upstream,
        relaying(upstream, content_type) as relabelled,
    ):
        received = receive(gateway("--upstream", relabelled))

    assert received.content_type == "text/event-stream; charset=utf-8"
    assert "".join(WORDS) == received.text
    assert received.gap == pytest.approx(PACE, rel=0.5)

"""Fixtures that tests of a gateway share. Each file has them made as it wants them:
`_server = server_of(SCRIPTS)` at its top gives its tests a fixture `server`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from gateway_frames import Script
from gateway_world import ScriptedServer, scripted_server, serving

from responses_stream.gateway.settings import Settings


def server_of(scripts: Mapping[str, Script]) -> Any:
    """`server`: one chat server for all tests of a file."""

    @pytest.fixture(scope="module", name="server")
    def _server() -> Iterator[ScriptedServer]:
        with scripted_server(scripts) as server:
            yield server

    return _server


def closed_gate() -> Any:
    """Closes the gate of `server` again, whichever test has opened it."""

    @pytest.fixture(autouse=True)
    def _closed_gate(server: ScriptedServer) -> None:
        server.gate.clear()

    return _closed_gate


def url_of(**settings: Any) -> Any:
    """`url`: one gateway with these settings for all tests of a file."""

    @pytest.fixture(scope="module", name="url")
    def _url(server: ScriptedServer) -> Iterator[str]:
        with serving(Settings(upstream=server.url, **settings)) as url:
            yield url

    return _url

"""Fixtures for the tests with codex."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from codex_client import Codex
from codex_upstream import ChatUpstream, chat_upstream
from codex_wire import HAS_VLLM, VLLM_URL, Server
from vllm_server import PLUGIN, SERVERS


@pytest.fixture(scope="session", name="vllm_url")
def _vllm_url() -> Iterator[str]:
    """Base URL of such a vLLM; one is started if none runs."""
    yield VLLM_URL or SERVERS.get(PLUGIN).base_url
    SERVERS.stop()


@pytest.fixture(scope="module", name="chat_server")
def _chat_server() -> Iterator[ChatUpstream]:
    with chat_upstream() as upstream:
        yield upstream


@pytest.fixture(name="upstream")
def _upstream(chat_server: ChatUpstream) -> ChatUpstream:
    """A chat server that plays scripts, and has heard nothing yet."""
    chat_server.forget()
    return chat_server


@pytest.fixture(name="served")
def _served(gateway: Callable[..., str], upstream: ChatUpstream) -> Callable[..., str]:
    """Starts a gateway in front of `upstream`, with options; gives its base URL."""
    return lambda *options: gateway("--upstream", upstream.url, *options)


@pytest.fixture(name="codex_for")
def _codex_for(tmp_path: Path) -> Iterator[Callable[..., Codex]]:
    """Makes a codex, by the options of `responses-stream codex-config`.

    Fails if one leaves a process behind.
    """
    made: list[Codex] = []
    numbers = count()

    def make(base_url: str, *options: str) -> Codex:
        made.append(Codex(tmp_path / f"codex{next(numbers)}", base_url, *options))
        return made[-1]

    yield make
    assert [command for codex in made for command in codex.left_behind()] == []


@pytest.fixture(name="codex")
def _codex(served: Callable[..., str], codex_for: Callable[..., Codex]) -> Codex:
    """codex, in front of the gateway, in front of `upstream`."""
    return codex_for(served())


@pytest.fixture(name="server", params=["gateway", *(["plugin"] if HAS_VLLM else [])])
def _server(request: pytest.FixtureRequest) -> Server:
    """Where Responses are served: the gateway before `upstream`, or vLLM."""
    if request.param == "plugin":
        return Server(request.getfixturevalue("vllm_url"))
    return Server(request.getfixturevalue("served")())

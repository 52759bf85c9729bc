"""Fixtures for the tests with codex."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from codex_client import Codex
from codex_model import Model
from codex_upstream import ChatUpstream, chat_upstream
from codex_vllm import ScriptedVLLM
from codex_wire import VLLM_BACKENDS, Server
from vllm_server import FOLDER, PLUGIN, SERVERS

KEEP_ALIVE: Final = "1"
"""Of each backend, in seconds."""


class Backend(NamedTuple):
    """Where codex is served, and the model there.

    `upstream` is a scripted chat server behind the gateway; for the others see
    VLLM_BACKENDS.
    """

    url: str
    model: ChatUpstream | ScriptedVLLM


# Servers --------------------------------------------------------------------------


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


@pytest.fixture(scope="session", name="vllm_with")
def _vllm_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., ScriptedVLLM]:
    """Gives a vLLM with the plugin and these settings of it, and no script yet.

    One is started unless the last one will do.
    """
    folder = tmp_path_factory.mktemp("scripts")

    def get(**settings: str) -> ScriptedVLLM:
        named = {f"RESPONSES_STREAM_{name}": value for name, value in settings.items()}
        vllm = ScriptedVLLM(SERVERS.get({**PLUGIN, FOLDER: str(folder), **named}), folder)
        vllm.forget()
        return vllm

    return get


@pytest.fixture(name="scripted_vllm")
def _scripted_vllm(vllm_with: Callable[..., ScriptedVLLM]) -> ScriptedVLLM:
    """The vLLM that tests with codex share."""
    return vllm_with(KEEP_ALIVE=KEEP_ALIVE)


@pytest.fixture(name="backend", params=["upstream", *VLLM_BACKENDS])
def _backend(request: pytest.FixtureRequest, gateway: Callable[..., str]) -> Backend:
    """Each Backend in turn."""
    stub = request.param == "upstream"
    model = request.getfixturevalue("upstream" if stub else "scripted_vllm")
    if request.param == "plugin":
        return Backend(model.url, model)
    return Backend(gateway("--upstream", model.url, "--keep-alive", KEEP_ALIVE), model)


@pytest.fixture(name="model")
def _model(backend: Backend) -> Model:
    """The model of the backend."""
    return backend.model


@pytest.fixture(name="server")
def _server(backend: Backend) -> Server:
    """Where the backend serves responses."""
    return Server(backend.url)


# codex ----------------------------------------------------------------------------


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

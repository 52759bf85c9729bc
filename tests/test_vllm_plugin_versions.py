"""The plugin in a vLLM that is not as expected; a stand-in plays it."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace

import pytest
from vllm_stand_ins import Core

from responses_stream.vllm_plugin.plugin import (
    EndpointPlugin,
    general_plugin,
    hang_on,
    install,
)
from responses_stream.vllm_plugin.seam import ATTRIBUTES, METHODS, unlike
from responses_stream.vllm_plugin.serving import REPLACED
from responses_stream.vllm_plugin.settings import Settings, read_settings


def test_a_serving_object_as_expected():
    """The stand-in has all that is checked, or these tests would prove nothing."""
    assert list(unlike(Core())) == []


@pytest.mark.parametrize("name", [*ATTRIBUTES, *METHODS, "create_error_response"])
def test_something_is_missing(name, caplog):
    """One warning says what, and vLLM's methods stay."""
    core = Core()
    if name in vars(core):
        delattr(core, name)
    else:
        setattr(core, name, None)

    assert not install(core, Settings())
    assert caplog.text.count("is not as expected") == 1
    assert name in caplog.text
    assert not set(REPLACED) & set(vars(core)) - {name}


def test_another_signature(caplog):
    """A parameter more is a version that we do not know."""
    core = Core()
    core.responses_stream_generator = lambda request, novelty: (request, novelty)

    assert not install(core, Settings())
    assert "responses_stream_generator takes (request, novelty)" in caplog.text


def test_a_parser_of_an_old_version(caplog):
    """Before 0.24 there is no parse_delta."""
    core = Core()
    core.parser = object

    assert not install(core, Settings())
    assert "no method parse_delta" in caplog.text


def test_gpt_oss(caplog):
    """Harmony models keep vLLM's path, and the log says so once."""
    core = Core()
    core.use_harmony = True

    assert not install(core, Settings())
    assert caplog.text.count("harmony") == 1


def test_the_experimental_context(caplog, monkeypatch):
    """With it, steps mean something else."""
    monkeypatch.setenv("VLLM_USE_EXPERIMENTAL_PARSER_CONTEXT", "1")

    assert not install(Core(), Settings())
    assert "VLLM_USE_EXPERIMENTAL_PARSER_CONTEXT" in caplog.text


def test_the_plugin_never_stops_a_server(caplog):
    """Whatever vLLM has become, the server starts without us."""
    plugin = EndpointPlugin()
    plugin.attach_router(object())
    asyncio.run(plugin.init_state(None, SimpleNamespace(), None))

    assert "the routes could not be replaced" in caplog.text


def test_nobody_asked_for_it(monkeypatch):
    """vLLM loads general plugins unasked; this one waits to be named."""
    monkeypatch.delenv("VLLM_PLUGINS", raising=False)

    assert general_plugin() is None


def test_there_is_no_such_vllm(monkeypatch, caplog):
    """A module that is not where it was stops no server."""
    monkeypatch.setenv("VLLM_PLUGINS", "responses_stream")
    monkeypatch.setitem(sys.modules, "vllm", None)

    assert general_plugin() is None
    assert "this vLLM is not as expected" in caplog.text


def test_it_is_hung_on_once():
    """vLLM may load a plugin several times."""
    router = SimpleNamespace(attach_router=lambda _app: None)
    serving = SimpleNamespace(OpenAIServingResponses=Core)
    init = Core.__init__
    try:
        hang_on(router, serving)
        first = router.attach_router, Core.__init__
        hang_on(router, serving)
        second = router.attach_router, Core.__init__
    finally:
        Core.__init__ = init

    assert first == second
    assert first[1] is not init


def test_settings():
    """They are read from the environment; one that is none is passed over."""
    environment = {
        "RESPONSES_STREAM_KEEP_ALIVE": "2.5",
        "RESPONSES_STREAM_REASONING": "loud",
        "RESPONSES_STREAM_DIALECT": "openresponses",
    }

    assert read_settings(environment) == Settings(keep_alive=2.5, dialect="openresponses")

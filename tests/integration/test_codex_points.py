"""What a naive server gets wrong before codex: of the 18 points, those that take a turn of
codex or several requests.

The others are in test_codex_points_wire.py. Each is asked of the gateway and of the plugin,
most of every backend that there is; what only a chat server can do wrong is asked of the
gateway before a scripted one.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import servers
from codex_client import wait_until
from codex_model import GO_ON, USAGE, Finish, Pause, call, calling, say, words
from codex_upstream import Refuse
from codex_wire import GATEWAY_AND_PLUGIN, VLLM_BACKENDS, Server

pytest_plugins = ["codex_fixtures"]
pytestmark = pytest.mark.integration

MOST = 24
"""Requests at once, three times as many as vLLM works on."""

both_servers = pytest.mark.parametrize("backend", GATEWAY_AND_PLUGIN, indirect=True)
on_vllm = pytest.mark.parametrize("backend", VLLM_BACKENDS, indirect=True)
on_plugin = pytest.mark.parametrize("backend", ["plugin"], indirect=True)


@pytest.fixture(name="caller")
def _caller(backend, codex_for):
    """codex, in front of each backend."""
    return codex_for(backend.url)


def test_point_01_codex_shows_them(caller, model):
    """Codex has the text of an answer, and nothing to complain of."""
    model.plays(say("It is sunny.", reasoning="Weather."))

    turn = caller.exec("Hello")

    assert (turn.status, turn.messages) == (0, ["It is sunny."])
    assert "active item" not in turn.stderr


@both_servers
def test_point_05_keep_alives_are_events(caller, model):
    """Codex with an idle timeout of 2 s waits out a silence of 5 s."""
    model.plays([Pause(2.5), *words("At"), Pause(2.5), *words(" last."), Finish()])
    caller.settings["model_providers.responses_stream.stream_idle_timeout_ms"] = 2000

    turn = caller.exec("Hello")

    assert (turn.status, turn.messages, turn.retries) == (0, ["At last."], [])
    assert len(model.told) == 1


def test_point_06_codex_asks_once(caller, model):
    """Codex takes odd usage for good, and does not ask again."""
    floats = {name: float(count) for name, count in USAGE.items()}
    model.plays(say("Hi.", usage=floats))

    turn = caller.exec("Hello")

    assert (turn.messages, len(model.told)) == (["Hi."], 1)
    assert turn.events[-1]["usage"]["input_tokens"] >= 100


def test_point_09_codex_shows_a_refusal(codex, upstream):
    """What a model refuses with is not lost on the way."""
    upstream.plays([{"refusal": "I will "}, {"refusal": "not."}, Finish()])

    assert codex.exec("Hello").messages == ["I will not."]


def test_point_10_the_model_gets_its_thoughts_back(caller, model):
    """Reasoning survives in codex's history: the next request has it, once."""
    model.plays(
        calling(call("exec_command", {"cmd": "true"}), reasoning="I think so."),
        say("Done."),
    )

    caller.exec("Hello")

    (assistant,) = model.told[1].said("assistant")
    assert assistant.count("I think so.") == 1
    assert "I think so." in assistant.partition("<think>")[2].partition("</think>")[0]


def test_point_14_a_429_says_when_to_come_again(codex, upstream):
    """Without Retry-After codex would give up at once; so it asks again and is served."""
    upstream.plays([Refuse(429, {"message": "too many requests"})], say("Hi."))

    turn = codex.exec("Hello")

    assert (turn.status, turn.messages, len(upstream.asked)) == (0, ["Hi."], 2)


@on_plugin
def test_point_14_vllm_lets_requests_wait(server, model):
    """It has no 429: what is too much for it at once is served later."""
    model.plays(say("Hi."))

    with ThreadPoolExecutor(MOST) as clients:
        transcripts = list(clients.map(lambda _: server.ask(), range(MOST)))

    assert {one.response.status for one in transcripts} == {200}
    assert {one.types[-1] for one in transcripts} == {"completed"}


def test_point_16_requests_run_side_by_side(server, model):
    """A second request is answered while the first one still runs."""
    model.plays([*words("Slow and slower"), GO_ON], say("Quick."))

    with server.asking(server.request()) as first:
        first.read(until="output_text.delta")
        second = server.ask()
        assert model.busy
        assert first.types[-1] != "completed"

    assert second.types[-1] == "completed"
    assert second.items[0]["content"][0]["text"] == "Quick."


def test_point_17_hanging_up_cancels_and_is_no_failure(tmp_path, upstream):
    """A client that goes ends the chat request at once, and nothing is logged."""
    upstream.plays([*words("It is"), Pause(20)], say("Hi."))
    log = tmp_path / "gateway.log"

    with servers.gateway(log, "--upstream", upstream.url) as url:
        server = Server(url)
        with server.asking(server.request()) as transcript:
            transcript.read(until="output_text.delta")
        gone = time.monotonic()
        wait_until(lambda: upstream.asked[0].lost_at)
        with server.asking(server.request()) as transcript:
            transcript.read(until="completed")
        wait_until(lambda: upstream.asked[1].ended)

    assert upstream.asked[0].lost_at - gone < 0.2
    assert "Traceback" not in log.read_text()
    assert "ERROR" not in log.read_text()


@on_vllm
def test_point_17_hanging_up_ends_the_work_of_vllm(server, model):
    """Its engine is idle within 1 s, and nothing is logged; the same after the end."""
    log = len(model.server.log)
    model.plays([*words("It goes on"), GO_ON], say("Hi."))

    with server.asking(server.request()) as transcript:
        transcript.read(until="output_text.delta")
        assert model.busy
    wait_until(lambda: not model.busy, patience=1)
    with server.asking(server.request()) as transcript:
        transcript.read(until="completed")

    assert server.ask().types[-1] == "completed"
    assert not re.search("Traceback|ERROR", model.server.log[log:])

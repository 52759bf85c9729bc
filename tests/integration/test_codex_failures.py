"""The chat server fails before the real codex: what codex does, and what it shows."""

from __future__ import annotations

import time
from contextlib import ExitStack

import pytest
import servers
from codex_model import Finish, Pause, call, say, thoughts, words
from codex_upstream import DIE, Chunk, Refuse
from codex_wire import VLLM_BACKENDS

pytest_plugins = ["codex_fixtures"]
pytestmark = pytest.mark.integration

PROVIDER = "model_providers.responses_stream"
KEEP_ALIVE = ("--keep-alive", "1")


@pytest.fixture(name="codex")
def _codex(codex):
    """codex, less patient than it is by itself: it asks twice, not thirty times."""
    codex.settings[f"{PROVIDER}.stream_max_retries"] = 1
    codex.settings[f"{PROVIDER}.request_max_retries"] = 1
    return codex


def refusal(status, message, code=None, **headers):
    """The script of an error."""
    return [Refuse(status, {"message": message, "code": code}, headers)]


DEATHS = {
    "before the headers": [Pause(0.1), DIE],
    "before the first token": [{"content": ""}, DIE],
    "in its thoughts": [*thoughts("I wonder whether"), DIE],
    "in its text": [*words("It is about to"), DIE],
    "in a call": [*call("exec_command", {"cmd": "touch made-by-half-a-call"})[:-1], DIE],
    "with an end but no finish": [*words("It is about to")],
}


@pytest.mark.parametrize("death", DEATHS.values(), ids=DEATHS)
def test_a_server_that_dies_is_asked_again(codex, upstream, death):
    """Codex asks again, runs no half call, and shows the answer that is whole."""
    upstream.plays(death, say("It is sunny."))

    turn = codex.exec("Hello")

    assert (turn.status, turn.messages[-1]) == (0, "It is sunny.")
    assert len(upstream.asked) == 2
    assert list(codex.folder.iterdir()) == []


@pytest.mark.parametrize("death", DEATHS.values(), ids=DEATHS)
def test_half_an_answer_is_discarded(codex, upstream, death):
    """What was cut off is neither shown as said, nor told to the model as its own."""
    upstream.plays(death, say("It is sunny."))

    turn = codex.exec("Hello")

    assert turn.messages == ["It is sunny."]
    assert upstream.asked[1].messages == upstream.asked[0].messages


@pytest.mark.parametrize("death", DEATHS.values(), ids=DEATHS)
def test_a_server_that_stays_dead(codex, upstream, death):
    """Codex gives up, and says why in the words of the gateway."""
    upstream.plays(death)

    turn = codex.exec("Hello")

    assert turn.status == 1
    assert "model server" in turn.error


@pytest.mark.parametrize("status", [429, 503])
def test_an_overload_that_passes(codex, upstream, status):
    """Codex waits for as long as it was told, and asks again."""
    busy = refusal(status, "The queue is full.", **{"retry-after": "1"})
    upstream.plays(busy, say("Hi."))

    turn = codex.exec("Hello")

    assert (turn.status, turn.messages) == (0, ["Hi."])
    first, second = upstream.asked
    assert second.at - first.at >= 1


def test_an_overload_that_stays(codex, upstream):
    """The server's message is shown."""
    upstream.plays(refusal(503, "The queue is full.", **{"retry-after": "0"}))

    turn = codex.exec("Hello")

    assert turn.status == 1
    assert "The queue is full." in turn.error


OVERFLOW = (
    "This model's maximum context length is 4096 tokens. However, you requested 5000."
)


@pytest.mark.parametrize(
    "script",
    [refusal(400, OVERFLOW), [{"content": "x"}, Chunk({"error": {"message": OVERFLOW}})]],
    ids=["before the stream", "in mid-stream"],
)
def test_a_prompt_that_is_too_long(codex, upstream, script):
    """Codex knows it for what it is, and does not ask again."""
    upstream.plays(script)

    turn = codex.exec("Hello")

    assert turn.status == 1
    assert "ran out of room in the model's context window" in turn.error
    assert len(upstream.asked) == 1


@pytest.mark.parametrize("backend", VLLM_BACKENDS, indirect=True)
def test_a_prompt_that_is_too_long_for_vllm(backend, codex_for):
    """The same of a real one: codex has read its words, and has asked once."""
    backend.model.plays(say("Hi."))

    turn = codex_for(backend.url).exec("A prompt of many words. " * 5000)

    assert turn.status == 1
    assert "ran out of room in the model's context window" in turn.error
    assert (turn.retries, len(backend.model.told)) == ([turn.error], 0)


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, None), (404, "model_not_found")],
)
def test_a_request_that_is_wrong(codex, upstream, status, code):
    """Codex shows the server's words, and does not ask again."""
    upstream.plays(refusal(status, "There is no such thing here.", code))

    turn = codex.exec("Hello")

    assert turn.status == 1
    assert "There is no such thing here." in turn.error
    assert len(upstream.asked) == 1


def test_an_empty_purse(codex, upstream):
    """A quota that is used up is no reason to wait."""
    upstream.plays(refusal(429, "No money left.", "insufficient_quota"))

    turn = codex.exec("Hello")

    assert turn.status == 1
    assert len(upstream.asked) == 1


def test_nobody_behind_the_gateway(tmp_path, codex_for):
    """That the model server cannot be reached is what codex says."""
    with servers.gateway(
        tmp_path / "alone.log", "--upstream", f"http://127.0.0.1:{servers.free_port()}/v1"
    ) as url:
        alone = codex_for(url, "--model", "tiny")
        alone.settings = {f"{PROVIDER}.request_max_retries": 0}
        alone.settings[f"{PROVIDER}.stream_max_retries"] = 0
        turn = alone.exec("Hello")

    assert turn.status == 1
    assert "the model server cannot be reached" in turn.error


def test_an_output_limit(codex, upstream):
    """A model that hits its limit: codex says so; what was said is shown."""
    upstream.plays([*words("It goes on and"), Finish("length")])

    turn = codex.exec("Hello")

    assert turn.status == 1
    assert "max_output_tokens" in turn.error
    assert len(upstream.asked) == 1


def test_a_call_at_the_output_limit(codex, upstream):
    """What the model was still writing is not run, even where it looks whole."""
    upstream.plays([*call("exec_command", {"cmd": "touch cut"}), Finish("length")])

    turn = codex.exec("Hello")

    assert turn.status == 1
    assert list(codex.folder.iterdir()) == []


def test_90_seconds_of_silence(gateway, codex_for, upstream, scripted_vllm):
    """Codex with an idle timeout of 2 s waits for all of them, thanks to our keep-alives.

    The gateway and the plugin are silent at the same time, since it takes so long.
    """
    in_front = gateway("--upstream", upstream.url, *KEEP_ALIVE)
    served = [(in_front, upstream), (scripted_vllm.url, scripted_vllm)]
    begun = time.monotonic()
    with ExitStack() as stack:
        running = []
        for url, model in served:
            model.plays([*words("At"), Pause(90), *words(" last."), Finish()])
            codex = codex_for(url)
            codex.settings[f"{PROVIDER}.stream_idle_timeout_ms"] = 2000
            running.append(stack.enter_context(codex.running("Hello")))
        printed = [process.communicate(timeout=150)[0] for process in running]

    assert time.monotonic() - begun > 90
    for out, (_, model) in zip(printed, served, strict=True):
        assert "At last." in out
        assert "error" not in out
        assert len(model.told) == 1


def test_comments_do_not_break_the_silence(served, codex_for, upstream):
    """Codex counts events only: with comments it gives up after 2 s, and asks again."""
    upstream.plays([*words("At"), Pause(4), *words(" last."), Finish()], say("Again."))
    codex = codex_for(served(*KEEP_ALIVE, "--keep-alive-mode", "comment"))
    codex.settings[f"{PROVIDER}.stream_idle_timeout_ms"] = 2000

    turn = codex.exec("Hello")

    assert turn.status == 0
    assert len(upstream.asked) == 2

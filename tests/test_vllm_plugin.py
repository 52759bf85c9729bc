"""The plugin without vLLM, whose part stand-ins play."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from helpers import errors
from vllm_stand_ins import (
    END,
    THOUGHT_AND_TEXT,
    Core,
    OutputKind,
    arguments,
    call,
    installed,
    transcript,
)

from responses_stream.recorded import read
from responses_stream.sse import DONE, split
from responses_stream.vllm_plugin.body import EventStream
from responses_stream.vllm_plugin.plugin import install
from responses_stream.vllm_plugin.settings import Settings
from responses_stream.vllm_plugin.turn import ASKED, Asked


def test_a_stream():
    """Steps become one clean transcript, with vLLM's id and all tokens counted."""
    recording = transcript(THOUGHT_AND_TEXT)
    response = recording.events[-1]["response"]
    usage = response["usage"]

    assert recording.findings == ()
    assert response["id"] == "resp_1"
    assert [item["type"] for item in response["output"]] == ["reasoning", "message"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (5, 7)
    assert usage["input_tokens_details"]["cached_tokens"] == 2
    assert usage["output_tokens_details"]["reasoning_tokens"] == 3


def test_whole():
    """Without a stream the same is made, of the same small steps."""

    async def run():
        core = installed()
        given = arguments(THOUGHT_AND_TEXT, stream=False)
        turn = await core.responses_full_generator(*given)
        return core, given, turn

    core, given, turn = asyncio.run(run())

    assert turn.stream.response["status"] == "completed"
    assert given[1].output_kind is OutputKind.DELTA
    assert core.logged == ["resp_1"]
    assert given[3].streamed_output_items[1].content[0].text == "Hi"


def test_the_request_is_echoed_as_it_was_sent():
    """Not as vLLM's validators have left it."""

    async def run():
        token = ASKED.set(
            Asked({"input": "hi", "tool_choice": "auto", "metadata": {"a": "b"}})
        )
        turn = await installed().responses_full_generator(*arguments(THOUGHT_AND_TEXT))
        ASKED.reset(token)
        return turn.stream.response

    response = asyncio.run(run())

    assert response["tool_choice"] == "auto"
    assert response["metadata"] == {"a": "b"}
    assert response["model"] == "m"


# Calls --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "end"),
    [
        ('{"a": 1', "response.failed"),
        ('{"a": 1}', "response.completed"),
        ("", "response.completed"),
        ("plain text", "response.completed"),
    ],
)
def test_a_call_that_is_left_open(arguments, end):
    """Half a call is a failure, even if the model is content with it."""
    recording = transcript([([1], call(0, "f", arguments)), ([END], None)])

    assert recording.count("error") == 0
    assert recording.events[-1]["type"] == end


def test_a_call_that_is_left_open_and_followed_by_text():
    """What the model goes on from is not its last word."""
    steps = [([1], call(0, "f", '{"a": 1')), ([2], {"content": "Oh."}), ([END], None)]

    assert transcript(steps).events[-1]["type"] == "response.completed"


# Ends ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("finish", "end", "code"),
    [
        ("length", "incomplete", None),
        ("abort", "failed", "server_error"),
        ("error", "failed", "server_error"),
        (None, "failed", "server_error"),
        ("repetition", "completed", None),
    ],
)
def test_ends(finish, end, code):
    """Each finish reason of vLLM has its event; no reason is a failure."""
    recording = transcript([([1], {"content": "Hi"})], finish)
    response = recording.events[-1]["response"]

    assert recording.findings == ()
    assert (response["status"], (response["error"] or {}).get("code")) == (end, code)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("a bad word"), "invalid_prompt"),
        (RuntimeError("the engine is dead"), "server_error"),
    ],
)
def test_an_error_on_the_way(error, code):
    """The last event says what was raised, in the code that clients act on."""
    recording = transcript([([1], {"content": "Hi"}), error])
    response = recording.events[-1]["response"]

    assert recording.findings == ()
    assert response["error"] == {"code": code, "message": str(error)}
    assert response["output"][0]["status"] == "incomplete"


def test_a_parser_that_breaks():
    """A message that it cannot make fails the response, and nothing else."""
    recording = transcript([([1], {"content": 5})])

    assert errors(recording.events) == []
    assert "$.content" in recording.events[-1]["response"]["error"]["message"]


def test_what_vllm_cannot_store_is_sent_all_the_same(caplog):
    """Our answer does not need it."""

    async def run():
        core = installed()

        async def full_generator(*_args, **_kwargs):
            raise RuntimeError("no room")

        core.responses_stream.full_generator = full_generator
        return await core.responses_full_generator(*arguments(THOUGHT_AND_TEXT))

    turn = asyncio.run(run())

    assert turn.stream.response["status"] == "completed"
    assert "could not store or log response resp_1" in caplog.text


def test_what_vllm_adds_is_in_the_last_event():
    """Those who run vLLM read it there; nothing else of the event is another."""

    class Finished(SimpleNamespace):
        def model_dump(self, *, mode, include):  # noqa: ARG002 - pydantic's
            return {name: vars(self)[name] for name in include}

    async def run(**added):
        core = installed()

        async def full_generator(*_args, **_kwargs):
            return Finished(**added)

        core.responses_stream.full_generator = full_generator
        frames = core.responses_stream_generator(*arguments(THOUGHT_AND_TEXT))
        return read(b"".join([frame async for frame in frames])).events

    plain = asyncio.run(run())
    more = asyncio.run(run(metrics={"queued": 1}, kv_transfer_params=None))

    assert more[-1]["response"].pop("metrics") == {"queued": 1}
    assert [shape(event) for event in more] == [shape(event) for event in plain]


def shape(value):
    """A JSON value without ids and hours."""
    if isinstance(value, dict):
        changes = ("id", "item_id", "call_id", "created_at", "completed_at")
        return {key: shape(each) for key, each in value.items() if key not in changes}
    return [shape(each) for each in value] if isinstance(value, list) else value


def test_the_end_of_the_body_comes_with_the_last_event():
    """What is there together leaves in one write."""

    async def run():
        frames = installed().responses_stream_generator(*arguments(THOUGHT_AND_TEXT))
        return [frame async for frame in frames]

    *before, last = asyncio.run(run())

    *_, completed, done = split(last)
    assert completed.startswith(b"event: response.completed\n")
    assert DONE == done
    assert DONE not in before


def test_a_silent_line():
    """It is kept alive by an event that counts."""

    async def run():
        core, event = Core(), asyncio.Event()
        install(core, Settings())
        steps = [([1], {"content": "Hi"}), event, ([END], None)]
        body = b""

        async def send(message):
            nonlocal body
            body += message.get("body", b"")
            if body.count(b"event: response.in_progress") == 3:
                event.set()

        frames = core.responses_stream_generator(*arguments(steps))
        response = EventStream(aiter(frames), frames.keep_alive, 0.001)
        await response.stream_response(send)
        return body

    recording = read(asyncio.run(run()))

    assert recording.findings == ()
    assert recording.events[-1]["type"] == "response.completed"


def test_a_client_that_hangs_up():
    """The steps are ended, so that the engine rests."""

    async def run():
        core = installed()
        given = arguments([([1], {"content": "Hi"}), asyncio.Event(), ([2], None)])
        frames = aiter(core.responses_stream_generator(*given))
        await anext(frames)
        await anext(frames)
        waiting = asyncio.create_task(anext(frames))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        return given[2].ag_running, [step async for step in given[2]]

    assert asyncio.run(run()) == (False, [])

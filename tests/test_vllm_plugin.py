"""The plugin without vLLM, whose part stand-ins play."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from types import SimpleNamespace

import pytest
from helpers import errors
from hypothesis import given
from hypothesis import strategies as st
from vllm_stand_ins import (
    CLOSE,
    END,
    OPEN,
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


# Tokens -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "tokens"),
    [
        pytest.param([([13, END], {"content": "Hi"})], 0, id="no thought"),
        pytest.param(
            [([OPEN, 10, 11, CLOSE, 13], {"reasoning": "ab", "content": "c"})],
            2,
            id="all at once",
        ),
        pytest.param(
            [([10, 11, 12, 13], {"reasoning": "abc", "content": "d"})], 3, id="no marker"
        ),
        pytest.param(
            [([OPEN, 10], {"reasoning": "a"}), ([11, CLOSE, 12], call(0, "f", "{}"))],
            2,
            id="held back by the parser",
        ),
    ],
)
def test_reasoning_tokens(steps, tokens):
    """They are counted by the marker, or else by the texts' lengths."""
    usage = transcript(steps).events[-1]["response"]["usage"]

    assert usage["output_tokens_details"]["reasoning_tokens"] == tokens


@given(st.integers(0, 6), st.integers(1, 4), st.sets(st.integers(1, 11)), st.data())
def test_reasoning_tokens_are_those_between_the_markers(thoughts, texts, cuts, data):
    """However the engine cuts its steps, and whichever of them say nothing."""
    ids = [OPEN, *range(10, 10 + thoughts), CLOSE, *range(30, 30 + texts)]
    at = [0, *sorted(cut for cut in cuts if cut < len(ids)), len(ids)]
    steps = []
    for begin, end in pairwise(at):
        step = ids[begin:end]
        content = "b" * sum(token >= 30 for token in step)
        silent = not content and data.draw(st.booleans())
        reasoning = "" if silent else "a" * sum(10 <= token < 30 for token in step)
        steps.append((step, {"reasoning": reasoning, "content": content}))
    usage = transcript(steps).events[-1]["response"]["usage"]

    assert usage["output_tokens_details"]["reasoning_tokens"] == thoughts


def test_reasoning_tokens_of_a_thought_that_was_cut():
    """What had no words yet was thought, too."""
    steps = [([OPEN, 10], {"reasoning": "a"}), ([11], None)]
    usage = transcript(steps, "length").events[-1]["response"]["usage"]

    assert usage["output_tokens_details"]["reasoning_tokens"] == 2


def test_hidden_thoughts_are_counted():
    """The client does not see them, and pays for them."""
    response = transcript(THOUGHT_AND_TEXT, include_reasoning=False).events[-1]["response"]

    assert [item["type"] for item in response["output"]] == ["message"]
    assert response["usage"]["output_tokens_details"]["reasoning_tokens"] == 3


def test_a_request_of_an_old_version():
    """Before 0.28 nobody could ask for thoughts to be hidden."""

    async def run():
        given = arguments(THOUGHT_AND_TEXT)
        del given[0].include_reasoning
        return await installed().responses_full_generator(*given)

    output = asyncio.run(run()).stream.response["output"]

    assert [type(item).__name__ for item in output] == ["Reasoning", "Message"]


def test_logprobs_are_those_of_the_text():
    """A token that said nothing yet counts with the text that follows it."""
    steps = [
        ([OPEN, 10], {"reasoning": "a"}),
        ([CLOSE], None),
        ([11], None),
        ([12], {"content": "ä"}),
        ([END], None),
    ]
    response = transcript(steps, top_logprobs=0).events[-1]["response"]
    (part,) = response["output"][1]["content"]

    assert [entry["token"] for entry in part["logprobs"]] == ["t11", "t12"]


# Calls --------------------------------------------------------------------------------


def test_one_call_only():
    """`parallel_tool_calls: false` keeps the first call."""
    steps = [([1], call(0, "f", "{}")), ([2], call(1, "g", "{}")), ([END], None)]
    output = transcript(steps, parallel_tool_calls=False).events[-1]["response"]["output"]

    assert [item["name"] for item in output] == ["f"]


@pytest.mark.parametrize(
    ("said", "sent"),
    [("chatcmpl-tool-12ab", "call_12ab"), ("functions.f:0", "functions.f:0")],
)
def test_call_ids(said, sent):
    """Those that vLLM makes up are renamed; a template may need the others."""
    output = transcript([([1], call(0, "f", "{}", said))]).events[-1]["response"]["output"]

    assert output[0]["call_id"] == sent


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

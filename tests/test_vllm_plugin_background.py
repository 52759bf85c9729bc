"""Responses in the background, replayed and cancelled, without vLLM."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from vllm_stand_ins import arguments, installed

from responses_stream.recorded import read


def test_replay_and_cancel():
    """Readers get all there is, from where they want, and a last event."""

    async def run():
        core = installed()
        steps = [([1], {"content": "Hi"}), asyncio.Event(), ([2], None)]
        given = arguments(steps, background=True, store=True)
        task = asyncio.create_task(core._run_background_request_stream(*given))
        core.background_tasks["resp_1"] = task
        core.response_store["resp_1"] = SimpleNamespace(status="queued")
        reader = core.responses_background_stream_generator("resp_1")
        seen = await anext(reader)
        while b"Hi" not in seen:
            seen += await anext(reader)
        for _ in range(2):
            await core.responses_stream.cancel("resp_1")
        seen += b"".join([frame async for frame in reader])
        later = core.responses_background_stream_generator("resp_1", 3)
        rest = b"".join([frame async for frame in later])
        beyond = core.responses_background_stream_generator("resp_1", 99)
        none = b"".join([frame async for frame in beyond])
        return core, seen, rest, none

    core, seen, rest, none = asyncio.run(run())
    kept = core.responses_stream.kept["resp_1"]

    assert read(seen).findings == ()
    assert read(seen).events[-1]["type"] == "response.failed"
    assert seen.endswith(rest)
    assert read(rest).events[0]["sequence_number"] == 4
    assert none == b"data: [DONE]\n\n"
    assert (kept.response["status"], kept.response["error"]) == ("cancelled", None)
    assert core.response_store["resp_1"].status == "cancelled"


def test_the_last_event_is_waited_for():
    """While vLLM stores a response, it has not ended for those who read it."""

    async def run():
        core, storing = installed(), asyncio.Event()

        async def full_generator(*_args, **_kwargs):
            await storing.wait()
            return SimpleNamespace(output=None)

        core.responses_stream.full_generator = full_generator
        given = arguments([([1], {"content": "Hi"})], background=True, store=True)
        task = asyncio.create_task(core._run_background_request_stream(*given))
        reader = core.responses_background_stream_generator("resp_1")
        seen = await anext(reader)
        while b"Hi" not in seen:
            seen += await anext(reader)
        rest = asyncio.create_task(anext(reader))
        for _ in range(10):
            await asyncio.sleep(0)
        core.background_tasks["resp_1"] = task
        await core.responses_stream.cancel("resp_1")
        seen += await rest
        return core.responses_stream.kept["resp_1"].response, read(seen)

    response, recording = asyncio.run(run())

    assert response["status"] == "completed"
    assert recording.findings == ()


def test_a_failure_in_the_background():
    """vLLM's own memory learns of it."""

    async def run():
        core = installed()
        core.response_store["resp_1"] = SimpleNamespace(status="queued")
        given = arguments([RuntimeError("no")], background=True, store=True)
        await core._run_background_request(*given)
        return core

    core = asyncio.run(run())

    assert core.response_store["resp_1"].status == "failed"
    assert core.responses_stream.kept["resp_1"].response["status"] == "failed"


def test_cancel_before_it_has_begun():
    """A task that never ran leaves a response that has ended."""

    async def run():
        core = installed()
        given = arguments([asyncio.Event()], background=True, store=True)
        task = asyncio.create_task(core._run_background_request(*given))
        core.background_tasks["resp_1"] = task
        await core.responses_stream.cancel("resp_1")
        return core.responses_stream.kept["resp_1"]

    assert asyncio.run(run()).response["status"] == "cancelled"

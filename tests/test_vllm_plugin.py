"""The plugin without vLLM. Its serving object, parser and steps are stand-ins here, with
the names that the plugin takes from the real ones: vLLM is too large to install for these
tests, and cannot be made to say what they need. tests/integration/test_vllm*.py has it.
"""

# The stand-ins have vLLM's signatures.
# ruff: noqa: ARG002, PLR0913, PLR0917

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest
from helpers import errors

from responses_stream.recorded import read
from responses_stream.vllm_plugin.body import EventStream
from responses_stream.vllm_plugin.plugin import install
from responses_stream.vllm_plugin.settings import Settings
from responses_stream.vllm_plugin.turn import ASKED, Asked

OPEN, CLOSE, END = 1, 2, 3
"""Token ids of the markers round a thought, and of the end."""
MARKERS = {"<think>": OPEN, "</think>": CLOSE}


class Tokenizer:
    """Knows the markers; every other text is several tokens."""

    def encode(self, text, *, add_special_tokens):
        return [MARKERS[text]] if text in MARKERS else [7, 7]


class Parser:
    """Says for each step what the test has written down for it."""

    reasoning_parser = SimpleNamespace(
        reasoning_start_str="<think>", reasoning_end_str="</think>"
    )

    def parse_delta(
        self, delta_text, delta_token_ids, request, prompt_token_ids=None, *, finished
    ):
        assert request.include_reasoning
        return json.loads(delta_text) if delta_text else None


class Request(SimpleNamespace):
    """The part of vLLM's request that the plugin looks at."""

    def is_include_output_logprobs(self):
        return self.top_logprobs is not None

    def model_copy(self, *, update):
        return Request(**{**vars(self), **update})

    def model_dump(self, *, mode, exclude_unset):
        return {"model": "m", "input": "hi"}


def request(**more: Any) -> Request:
    default = {"include_reasoning": True, "parallel_tool_calls": True, "store": False}
    default |= {"background": False, "stream": True, "top_logprobs": None}
    return Request(**{"request_id": "resp_1", **default, **more})


class Core:
    """vLLM's serving object, as far as the plugin knows it."""

    def __init__(self) -> None:
        self.use_harmony = False
        self.parser = Parser
        self.background_tasks: dict[str, asyncio.Task[None]] = {}
        self.response_store: dict[str, Any] = {}
        self.logged: list[str] = []

    async def create_responses(self, request, raw_request=None):
        """Not called here."""

    def responses_stream_generator(
        self,
        request,
        sampling_params,
        result_generator,
        context,
        model_name,
        tokenizer,
        request_metadata,
        created_time=None,
    ):
        """Replaced."""

    async def responses_full_generator(
        self,
        request,
        sampling_params,
        result_generator,
        context,
        model_name,
        tokenizer,
        request_metadata,
        created_time=None,
    ):
        assert [step async for step in result_generator] == []
        self.logged.append(request.request_id)
        return SimpleNamespace(output=None)

    def responses_background_stream_generator(self, response_id, starting_after=None):
        """Replaced."""

    async def _run_background_request(self, request, *args, **kwargs):
        """Replaced."""

    async def _run_background_request_stream(self, request, *args, **kwargs):
        """Replaced."""

    def _create_response_logprobs(self, token_ids, logprobs, tokenizer, top_logprobs=None):
        return [
            {"token": token, "logprob": -1.0, "bytes": [], "top_logprobs": []}
            for token in logprobs
        ]

    def create_error_response(self, message):
        code = 400 if isinstance(message, ValueError) else 500
        return SimpleNamespace(error=SimpleNamespace(message=str(message), code=code))


class OutputKind(Enum):
    """vLLM's RequestOutputKind."""

    DELTA = 1
    FINAL_ONLY = 2


Step = tuple[list[int], dict[str, Any] | None] | BaseException | asyncio.Event
"""The tokens of a step and what the parser says by it; or what happens instead."""


def installed() -> Core:
    """A serving object that the plugin has taken over."""
    core = Core()
    assert install(core, Settings(keep_alive=0))
    return core


def arguments(
    steps: Iterable[Step], finish: str | None = "stop", **more: Any
) -> tuple[Any, ...]:
    """What vLLM gives its generators, for steps of these."""
    context = SimpleNamespace(
        last_output=None,
        response_parser=Parser(),
        num_prompt_tokens=5,
        num_output_tokens=0,
        num_cached_tokens=2,
        streamed_output_items=None,
    )
    steps = list(steps)

    async def results():
        for number, step in enumerate(steps):
            if isinstance(step, BaseException):
                raise step
            if isinstance(step, asyncio.Event):
                await step.wait()
                continue
            ids, delta = step
            context.num_output_tokens += len(ids)
            last = number == len(steps) - 1
            output = SimpleNamespace(
                text=json.dumps(delta) if delta else "",
                token_ids=ids,
                logprobs=[f"t{token}" for token in ids],
                finish_reason=finish if last else None,
            )
            context.last_output = SimpleNamespace(outputs=[output], prompt_token_ids=[])
            yield context

    sampling = SimpleNamespace(
        output_kind=OutputKind.FINAL_ONLY, temperature=1.0, top_p=1.0
    )
    return (request(**more), sampling, results(), context, "m", Tokenizer(), None)


def transcript(steps: Iterable[Step], finish: str | None = "stop", **more: Any) -> Any:
    """The recorded stream of these steps."""

    async def run() -> bytes:
        frames = installed().responses_stream_generator(*arguments(steps, finish, **more))
        return b"".join([frame async for frame in frames])

    return read(asyncio.run(run()))


def call(index: int, name: str = "", arguments: str = "", id: str = "") -> dict[str, Any]:  # noqa: A002
    """More of a call, in the words of a chat delta."""
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": index, "id": id, "function": function}]}


THOUGHT_AND_TEXT: list[Step] = [
    ([OPEN], None),
    ([10], {"reasoning": "Hm"}),
    ([11], None),
    ([12], {"reasoning": "ä"}),
    ([CLOSE], None),
    ([13], {"content": "Hi"}),
    ([END], None),
]


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
    """A delta that is none fails the response, and nothing else."""
    recording = transcript([([1], {"content": 5})])

    assert errors(recording.events) == []
    assert "content is int" in recording.events[-1]["response"]["error"]["message"]


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


# In the background --------------------------------------------------------------------


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

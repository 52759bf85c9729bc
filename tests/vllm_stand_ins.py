"""Stand-ins for vLLM's serving object, parser and steps, with the names that the plugin
takes from the real ones: vLLM is too large to install for these tests, and cannot be made
to say what they need. tests/integration/test_vllm*.py has it.
"""

# They have vLLM's signatures.
# ruff: noqa: ARG002, PLR0913, PLR0917

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from enum import Enum
from types import SimpleNamespace
from typing import Any

import msgspec

from responses_stream.recorded import read
from responses_stream.vllm_plugin.plugin import install
from responses_stream.vllm_plugin.settings import Settings

OPEN, CLOSE, END = 1, 2, 3
"""Token ids of the markers round a thought, and of the end."""
MARKERS = {"<think>": OPEN, "</think>": CLOSE}


class Tokenizer:
    """Knows the markers; every other text is several tokens."""

    def encode(self, text, *, add_special_tokens):
        return [MARKERS[text]] if text in MARKERS else [7, 7]


class DeltaFunctionCall(msgspec.Struct):
    """vLLM's."""

    name: str | None = None
    arguments: str | None = None


class DeltaToolCall(msgspec.Struct):
    """vLLM's."""

    index: int
    id: str | None = None
    function: DeltaFunctionCall | None = None


class DeltaMessage(msgspec.Struct):
    """vLLM's."""

    reasoning: str | None = None
    content: str | None = None
    tool_calls: list[DeltaToolCall] = []


class Parser:
    """Says for each step what the test has written down for it."""

    reasoning_parser = SimpleNamespace(
        reasoning_start_str="<think>", reasoning_end_str="</think>"
    )

    def parse_delta(
        self, delta_text, delta_token_ids, request, prompt_token_ids=None, *, finished
    ):
        assert request.include_reasoning
        return msgspec.json.decode(delta_text, type=DeltaMessage) if delta_text else None


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

"""vLLM's own event code, as installed: from a parser's message to bytes.

`chain` runs what vLLM's server runs after its parser: `responses_stream_generator` with its
processor, its final response, and the route's conversion to SSE. Only what lies before is
made up: the engine's steps, and a parser that has already parsed. `processor` sends the
same events by the same processor, without the three async generators around it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from starlette.responses import StreamingResponse
from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
)
from vllm.entrypoints.openai.responses.api_router import _convert_stream_to_sse_events
from vllm.entrypoints.openai.responses.context import SimpleContext
from vllm.entrypoints.openai.responses.protocol import (
    ResponseCompletedEvent,
    ResponseCreatedEvent,
    ResponseInProgressEvent,
    ResponsesRequest,
    ResponsesResponse,
)
from vllm.entrypoints.openai.responses.serving import OpenAIServingResponses
from vllm.entrypoints.openai.responses.streaming_events import (
    SimpleStreamingEventProcessor,
    _StateType,
    split_delta,
)
from vllm.entrypoints.serve.utils.tool_calls_utils import (
    maybe_filter_parallel_tool_calls,
)
from vllm.outputs import CompletionOutput, RequestOutput
from vllm.sampling_params import RequestOutputKind, SamplingParams

from responses_stream import Delta

from .loop import at_once, run
from .ours import Client
from .workload import MODEL, REQUEST


def message(delta: Delta) -> DeltaMessage:
    """What vLLM's parser makes of the same words."""
    if delta.tool_calls:
        [call] = delta.tool_calls
        function = DeltaFunctionCall(
            name=call.name or None, arguments=call.arguments or None
        )
        kind = "function" if call.name else None
        called = DeltaToolCall(
            id=call.id or None, type=kind, index=call.index, function=function
        )
        return DeltaMessage(tool_calls=[called])
    return DeltaMessage(reasoning=delta.reasoning or None, content=delta.content or None)


class Parsed:
    """A parser that has parsed everything beforehand."""

    def __init__(self, messages: Sequence[DeltaMessage]) -> None:
        self._next = iter(messages).__next__

    def parse_delta(
        self,
        delta_text: str,  # noqa: ARG002  (these names are vLLM's)
        delta_token_ids: list[int],  # noqa: ARG002
        request: Any,  # noqa: ARG002
        prompt_token_ids: list[int] | None = None,  # noqa: ARG002
        *,
        finished: bool,  # noqa: ARG002
    ) -> DeltaMessage:
        """vLLM's. To take any arguments would cost more than this takes."""
        return self._next()

    def count_reasoning_tokens(self, _token_ids: Sequence[int]) -> int:
        """vLLM's."""
        return 500


ASKED = ResponsesRequest(**REQUEST, store=False)
"""Made once, as are deltas: vLLM has read the request before its generator runs."""
SAMPLING = SamplingParams(max_tokens=4_096, output_kind=RequestOutputKind.DELTA)
CREATED = 1_795_215_516


class Turn:
    """What vLLM's generator is given for one response."""

    def __init__(self, messages: Sequence[DeltaMessage]) -> None:
        self.context = SimpleContext(response_parser=Parsed(messages))
        self.context.num_prompt_tokens = 10
        self.context.num_output_tokens = len(messages)
        more = step(None)
        self.steps = [more] * (len(messages) - 1) + [step("stop")]

    async def contexts(self) -> AsyncIterator[SimpleContext]:
        """The engine's steps."""
        for each in self.steps:
            self.context.last_output = each
            yield self.context

    def arguments(self) -> tuple[Any, ...]:
        """In the order of vLLM's parameters."""
        return (
            ASKED,
            SAMPLING,
            self.contexts(),
            self.context,
            MODEL,
            None,
            None,
            CREATED,
        )


def step(finish_reason: str | None) -> RequestOutput:
    """One step of the engine, a token long."""
    output = CompletionOutput(
        index=0,
        text="abcd",
        token_ids=[1],
        cumulative_logprob=None,
        logprobs=None,
        finish_reason=finish_reason,
    )
    return RequestOutput("1", "", [1], None, [output], finish_reason is not None)


def serving() -> OpenAIServingResponses:
    """vLLM's serving object without an engine."""
    made = object.__new__(OpenAIServingResponses)
    made.use_harmony = False
    made.enable_log_outputs = False
    made.enable_per_request_metrics = False
    made.tool_server = None
    made.request_logger = None
    return made


def chain(messages: Sequence[DeltaMessage]) -> list[str]:
    """What vLLM's server runs."""

    async def read() -> list[str]:
        turn = Turn(messages)
        events = serving().responses_stream_generator(*turn.arguments())
        return [frame async for frame in _convert_stream_to_sse_events(events)]

    return run(read())


def answer(messages: Sequence[DeltaMessage]) -> list[bytes]:
    """The same up to the ASGI server, in the response of its route."""

    async def respond() -> list[bytes]:
        turn, client = Turn(messages), Client()
        events = serving().responses_stream_generator(*turn.arguments())
        response = StreamingResponse(
            _convert_stream_to_sse_events(events), media_type="text/event-stream"
        )
        await response.stream_response(client.send)
        return client.writes

    return run(respond())


class Processor:
    """vLLM's processor, driven without the generators around it."""

    def __init__(self) -> None:
        self._processor = SimpleStreamingEventProcessor(tools=ASKED.tools)
        self._output = step(None).outputs[0]
        self._number = 0

    def begin(self) -> list[str]:
        """What vLLM says before the loop."""
        initial = ResponsesResponse.from_request(
            ASKED,
            SAMPLING,
            model_name=MODEL,
            created_time=CREATED,
            output=[],
            status="in_progress",
            usage=None,
        ).model_dump(mode="json", by_alias=True)
        about = {"sequence_number": -1, "response": initial}
        return self.sent(
            [
                ResponseCreatedEvent(type="response.created", **about),
                ResponseInProgressEvent(type="response.in_progress", **about),
            ]
        )

    def feed(self, said: DeltaMessage) -> list[str]:
        """The body of vLLM's loop over engine steps, behind the parser."""
        processor, frames = self._processor, []
        for part in split_delta(maybe_filter_parallel_tool_calls(said, ASKED)):
            target, call = processor.resolve_target_state(part)
            if target == _StateType.NONE:
                continue
            if processor.needs_transition(target, call):
                frames += self.sent(processor.close_current())
                frames += self.sent(processor.open(target, call))
            frames += self.sent(processor.emit_delta(part, self._output, _no_logprobs))
        return frames

    def end(self) -> list[str]:
        """What it says behind the loop."""
        frames = self.sent(self._processor.close_current())
        # Its own response object wants to see the last step, and nothing more.
        turn = Turn(())
        turn.context.streamed_output_items = self._processor.output_items
        final = at_once(serving().responses_full_generator(*turn.arguments()))
        about = {"sequence_number": -1, "response": final}
        return frames + self.sent(
            [ResponseCompletedEvent(type="response.completed", **about)]
        )

    def sent(self, events: Sequence[Any]) -> list[str]:
        """The frames of events, as vLLM's route makes them."""
        frames = []
        for event in events:
            if hasattr(event, "sequence_number"):
                event.sequence_number = self._number
            self._number += 1
            kind = getattr(event, "type", "unknown")
            data = event.model_dump_json(indent=None, by_alias=True)
            frames.append(f"event: {kind}\ndata: {data}\n\n")
        return frames


def _no_logprobs(_output: CompletionOutput) -> list[Any]:
    return []


def processor(messages: Sequence[DeltaMessage]) -> list[str]:
    """A whole response by it: all that vLLM's generator says, in its order."""
    machine = Processor()
    frames = machine.begin()
    for said in messages:
        frames += machine.feed(said)
    return frames + machine.end()

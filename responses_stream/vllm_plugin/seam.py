"""All that is taken from vLLM: its shapes (a call's is in deltas.py), and the check that
they are there.

vLLM promises none of this to plugins, but it has been the same from 0.24 to 0.33. What is
not checked here is asked for with a default where it is used.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Final, Protocol

from responses_stream.deltas import CheckedCall

log: Final = logging.getLogger("vllm.plugins.responses_stream")
"""Under vLLM's own logger, which has a handler and the operator's eye."""


class Output(Protocol):
    """vLLM's `CompletionOutput`, as a delta."""

    text: str
    token_ids: Sequence[int]
    logprobs: Sequence[Any] | None
    finish_reason: str | None


class Step(Protocol):
    """vLLM's `RequestOutput`: what one engine step has brought."""

    outputs: Sequence[Output]
    prompt_token_ids: Sequence[int] | None


class Message(Protocol):
    """vLLM's `DeltaMessage`. What its types promise pydantic has checked."""

    reasoning: str | None
    content: str | None
    tool_calls: Sequence[CheckedCall]


class Parser(Protocol):
    """The parser of one request, for reasoning and calls."""

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Any,
        prompt_token_ids: Sequence[int] | None = None,
        *,
        finished: bool,
    ) -> Message | None:
        """What the model says by more text."""


class Context(Protocol):
    """vLLM's `SimpleContext`: one request, and what has come of it."""

    last_output: Step | None
    response_parser: Parser | None
    num_prompt_tokens: int
    num_output_tokens: int
    num_cached_tokens: int
    streamed_output_items: list[Any] | None


class Request(Protocol):
    """vLLM's `ResponsesRequest`."""

    request_id: str
    parallel_tool_calls: bool | None
    store: bool | None
    background: bool | None
    stream: bool | None
    top_logprobs: int | None

    def is_include_output_logprobs(self) -> bool:
        """Whether `include` asks for log probabilities."""

    def model_copy(self, *, update: Mapping[str, Any]) -> Request:
        """Pydantic's."""

    def model_dump(self, *, mode: str, exclude_unset: bool) -> dict[str, Any]:
        """Pydantic's."""


class Core(Protocol):
    """vLLM's `OpenAIServingResponses`: it renders, schedules and parses."""

    use_harmony: bool
    parser: type[Parser] | None
    background_tasks: Mapping[str, Any]
    response_store: MutableMapping[str, Any]
    responses_stream: Any
    """Ours: see serving.py."""

    async def create_responses(self, request: Any, raw_request: Any) -> Any:
        """Answers a request: by what serving.py puts in, once it is there."""

    async def responses_full_generator(  # noqa: PLR0913, PLR0917  (vLLM's)
        self,
        request: Any,
        sampling_params: Any,
        result_generator: AsyncIterator[Context],
        context: Context,
        model_name: str,
        tokenizer: Any,
        request_metadata: Any,
        created_time: int | None = None,
    ) -> Any:
        """The response object of vLLM, logged and stored."""

    def create_error_response(self, message: Exception) -> Any:
        """An exception as vLLM's error, with the HTTP status that it means."""

    def _create_response_logprobs(
        self, token_ids: Sequence[int], logprobs: Any, tokenizer: Any, top_logprobs: Any
    ) -> Sequence[object]:
        """One entry for each token, in the Responses API's shape."""


GENERATOR: Final = (
    *("request", "sampling_params", "result_generator", "context"),
    *("model_name", "tokenizer", "request_metadata", "created_time"),
)
METHODS: Final[Mapping[str, tuple[str, ...]]] = {
    "create_responses": ("request", "raw_request"),
    "responses_stream_generator": GENERATOR,
    "responses_full_generator": GENERATOR,
    "responses_background_stream_generator": ("response_id", "starting_after"),
    "_run_background_request": ("request", "args", "kwargs"),
    "_run_background_request_stream": ("request", "args", "kwargs"),
    "_create_response_logprobs": (
        *("token_ids", "logprobs", "tokenizer"),
        "top_logprobs",
    ),
}
"""The methods that are called or replaced, with their parameters."""

ATTRIBUTES: Final = ("use_harmony", "parser", "background_tasks", "response_store")

PARSE_DELTA: Final = (
    *("delta_text", "delta_token_ids", "request", "prompt_token_ids", "finished"),
)


def unlike(core: object) -> Iterator[str]:
    """Each thing about vLLM's serving object that is not as the plugin needs it."""
    for name in ATTRIBUTES:
        if not hasattr(core, name):
            yield f"no attribute {name}"
    for name, expected in METHODS.items():
        yield from _unlike_method(core, name, expected)
    if not callable(getattr(core, "create_error_response", None)):
        yield "no method create_error_response"
    parser = getattr(core, "parser", None)
    if parser is not None:
        yield from _unlike_method(parser, "parse_delta", ("self", *PARSE_DELTA))


def _unlike_method(owner: object, name: str, expected: tuple[str, ...]) -> Iterator[str]:
    method = getattr(owner, name, None)
    if not callable(method):
        yield f"no method {name}"
        return
    found = tuple(inspect.signature(method).parameters)
    if found != expected:
        yield f"{name} takes ({', '.join(found)}); expected ({', '.join(expected)})"

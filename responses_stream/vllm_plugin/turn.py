"""One response of vLLM, from the engine's first step to the last event.

The same code makes it for everybody: streamed, whole, in the background. It differs only
in who takes the frames.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

import msgspec
from openai.types.responses import (
    ResponseCustomToolCall,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseReasoningItem,
)

from responses_stream.chat.failures import Failure, read_failure
from responses_stream.clients import dialect_for
from responses_stream.events import decode
from responses_stream.sse import SSEDecoder, encode
from responses_stream.stream import FrameStream
from responses_stream.usage import InputTokensDetails, OutputTokensDetails, Usage

from .seam import Context, Core, Request, log
from .settings import Settings
from .steps import StepReader


class Asked(msgspec.Struct, frozen=True):
    """What vLLM's own request object does not tell of a request."""

    sent: Mapping[str, Any] | None = None
    """Its JSON object as the client sent it: vLLM's has been through its validators, which
    change what a response has to echo (`tool_choice`)."""
    originator: str | None = None
    """The header of this name."""


UNTOLD: Final = Asked()
ASKED: Final = ContextVar("asked", default=UNTOLD)
"""Of the request that is being answered."""

NOT_ECHOED: Final = ("previous_input_messages", "request_id")
"""Keys of vLLM's that say nothing about the response, or say it by another name."""

EXTRAS: Final = (
    *("kv_transfer_params", "ec_transfer_params", "metrics"),
    *("input_messages", "output_messages"),
)
"""What vLLM adds to a response for those who run it: only where there is any."""

REASONS: Final = {"length": "length", "abort": "abort", "error": "error"}
"""vLLM's finish reasons. Every other one is a stop that somebody asked for."""

ITEMS: Final[Mapping[str, Any]] = {
    "message": ResponseOutputMessage,
    "reasoning": ResponseReasoningItem,
    "function_call": ResponseFunctionToolCall,
    "custom_tool_call": ResponseCustomToolCall,
}
"""vLLM keeps a response in the official models, for `previous_response_id`."""


class Turn:
    """One response while it is made. The arguments are those of vLLM's generators."""

    def __init__(  # noqa: PLR0913, PLR0917  (vLLM's)
        self,
        core: Core,
        settings: Settings,
        request: Request,
        sampling_params: Any,
        result_generator: AsyncIterator[Context],
        context: Context,
        model_name: str,
        tokenizer: Any,
        request_metadata: Any,
        created_time: int | None = None,
    ) -> None:
        self.request = request
        self.failure: Failure | None = None
        """Why the response failed, if it did."""
        self.error: Exception | None = None
        """What was raised, if that was why."""
        self.finished: Any = None
        """vLLM's own response object, once there is one."""
        self.stream = FrameStream(
            _echoed(request, sampling_params, model_name, created_time),
            order="interleaved",
            dialect=dialect_for(ASKED.get().originator, settings.dialect),
            reasoning=settings.reasoning,
        )
        self._core = core
        self._steps = result_generator
        self._context = context
        self._reader = StepReader(core, request, context.response_parser, tokenizer)
        self._rest = (sampling_params, model_name, tokenizer, request_metadata)
        # A whole answer is made of the same small steps as a stream, so that parsers
        # cannot read it in another way.
        kind = sampling_params.output_kind
        sampling_params.output_kind = type(kind).DELTA

    async def frames(self, end: Callable[[], bytes] = bytes) -> AsyncGenerator[bytes]:
        """The frames of all events, in order, as they come, at least one at a time.

        It raises nothing but CancelledError: what goes wrong is said by the last event.
        The steps end with it: the engine works for nobody. Then `end` is called, whose
        bytes follow the last event in the same piece.
        """
        try:
            yield b"".join(self.stream.start())
            feed, read = self.stream.feed, self._reader.read
            async for context in self._steps:
                if frames := feed(read(context.last_output)):
                    yield b"".join(frames)
            frames = self._finish()
        except Exception as error:  # noqa: BLE001 - whatever it is, the client must hear of it
            self.error = error
            frames = self._fail(self._failure_of(error))
        finally:
            if (close := getattr(self._steps, "aclose", None)) is not None:
                await close()
        yield b"".join((*await self._closed(frames), end()))

    def cancel(self) -> tuple[bytes, ...]:
        """The last frames of a response that nobody will finish."""
        if self.stream.ended:
            return ()
        return self.stream.fail("the response was cancelled", self._usage())

    def _finish(self) -> tuple[bytes, ...]:
        finish_reason = self._reader.finish_reason
        if finish_reason is None:
            return self._fail(_broken("the engine stopped without a finish reason"))
        reason = REASONS.get(finish_reason, "stop")
        if reason in ("abort", "error"):
            return self._fail(_broken(f"the engine ended with {reason!r}"))
        if reason == "stop" and self.stream.inside_call:
            # Run by nobody, asked for again by most: better than half a call.
            return self._fail(_broken("the model ended inside the arguments of a call"))
        return self.stream.finish(reason, self._usage())

    def _fail(self, failure: Failure) -> tuple[bytes, ...]:
        self.failure = failure
        if self.stream.ended:
            return ()
        return self.stream.fail(failure.in_stream(), self._usage())

    def _failure_of(self, error: Exception) -> Failure:
        """What an exception means, in vLLM's own reading of it."""
        try:
            said = self._core.create_error_response(error).error
            message, status = str(said.message), int(said.code)
        except Exception:  # noqa: BLE001 - then it means what it says
            message, status = str(error), 500
        log.warning("response %s failed: %r", self.request.request_id, error)
        said_message = message or type(error).__name__
        return read_failure({"message": said_message}, status)

    def _usage(self) -> Usage:
        context = self._context
        given, made = context.num_prompt_tokens, context.num_output_tokens
        return Usage(
            given,
            InputTokensDetails(
                context.num_cached_tokens,
                # Since 0.32.
                getattr(context, "num_cache_creation_tokens", 0),
            ),
            made,
            OutputTokensDetails(self._reader.reasoning_tokens),
            given + made,
        )

    # What vLLM itself makes of it -----------------------------------------------------

    async def _closed(self, frames: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """The last frames, with what vLLM has to add. It logs and stores by the way."""
        if self.failure is not None:
            return frames
        try:
            await self._finish_core()
        except (Exception, asyncio.CancelledError):  # noqa: BLE001
            # Our answer is whole without it, and too late to be cancelled.
            log.warning(
                "vLLM could not store or log response %s",
                self.request.request_id,
                exc_info=True,
            )
            return frames
        extras = self._extras()
        if not extras:
            return frames
        self.stream.response.update(extras)
        return (*frames[:-1], _with_extras(frames[-1], extras))

    async def _finish_core(self) -> None:
        response = msgspec.to_builtins(self.stream.response)
        items = [ITEMS[item["type"]].model_validate(item) for item in response["output"]]
        self._context.streamed_output_items = items
        sampling_params, model_name, tokenizer, request_metadata = self._rest
        self.finished = await self._core.responses_stream.full_generator(
            self.request,
            sampling_params,
            _nothing(),
            self._context,
            model_name,
            tokenizer,
            request_metadata,
            created_time=response["created_at"],
        )
        # Before 0.32 it does not know `streamed_output_items`, and parses all over again.
        self.finished.output = items

    def _extras(self) -> dict[str, Any]:
        found = {key for key in EXTRAS if getattr(self.finished, key, None) is not None}
        if not found:
            return {}
        extras: dict[str, Any] = self.finished.model_dump(mode="json", include=found)
        return extras


def _with_extras(frame: bytes, extras: Mapping[str, Any]) -> bytes:
    """A terminal event's frame, with more in its response."""
    (said,) = SSEDecoder().feed(frame)
    wire = msgspec.json.decode(said.data)
    wire["response"].update(extras)
    return encode(decode(wire))


def _broken(message: str) -> Failure:
    return read_failure(message, 500)


def _echoed(
    request: Request, sampling_params: Any, model_name: str, created_time: int | None
) -> dict[str, Any]:
    """What the response repeats of its request, with what vLLM has decided about it."""
    asked = ASKED.get().sent
    if asked is None:
        asked = request.model_dump(mode="json", exclude_unset=True)
    decided = {
        "id": request.request_id,
        "created_at": created_time or int(time.time()),
        "model": model_name,
        "background": bool(request.background),
        # False where the operator keeps no store, whatever was asked for.
        "store": bool(request.store),
    }
    chosen = {
        key: getattr(sampling_params, key)
        for key in ("temperature", "top_p")
        if asked.get(key) is None
    }
    kept = {key: value for key, value in asked.items() if key not in NOT_ECHOED}
    return {**kept, **chosen, **decided}


async def _nothing() -> AsyncIterator[Context]:
    """The steps that are left: none."""
    empty: tuple[Context, ...] = ()
    for step in empty:
        yield step

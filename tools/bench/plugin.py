"""Our plugin for vLLM: what it runs in the place of vLLM's own chain, on the same steps.

`least` shows what there is to gain: the same without anything that makes it right.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from responses_stream import DONE
from responses_stream.deltas import as_delta
from responses_stream.stream import FrameStream
from responses_stream.vllm_plugin.serving import Serving
from responses_stream.vllm_plugin.settings import Settings

from .loop import run
from .ours import REASON, USAGE
from .vllm_peer import ASKED, Turn, serving
from .workload import REQUEST

_json = msgspec.json.Encoder().encode


def plugin(messages: Sequence[Any]) -> list[bytes]:
    """What vLLM's server runs with the plugin installed."""

    async def read() -> list[bytes]:
        core = serving()
        Serving(core, Settings()).install()
        frames = core.responses_stream_generator(*Turn(messages).arguments())
        return [written async for written in frames]

    return run(read())


def least(messages: Sequence[Any]) -> list[bytes]:
    """The same events from the same steps, by what knows that nothing can go wrong."""

    async def read() -> list[bytes]:
        return [written async for written in _least(messages)]

    return run(read())


async def _least(messages: Sequence[Any]) -> AsyncIterator[bytes]:
    """Our stream opens items and closes them. Of every other message this keeps the text
    and writes the frame, at once: it checks nothing, and counts no tokens.
    """
    turn, stream = Turn(messages), FrameStream(REQUEST, order="interleaved")
    parse = turn.context.response_parser.parse_delta
    kind = ""
    end: Any = None
    hear = keep = numbers = head = rest = end
    async for context in turn.contexts():
        step = context.last_output
        output = step.outputs[0]
        message = parse(
            output.text,
            output.token_ids,
            ASKED,
            step.prompt_token_ids,
            finished=output.finish_reason is not None,
        )
        if text := message.content:
            said = "content"
        elif text := message.reasoning:
            said = "reasoning"
        else:
            [call] = message.tool_calls
            text = call.function.arguments
            said = "call" if not call.id else ""
        if said == kind:
            keep(text)
            if kind == "call":
                hear(text)
            number = numbers.next_number
            numbers.next_number = number + 1
            yield b"".join((head, _json(text), rest, _json(number), b"}\n\n"))
        else:
            kind = said
            yield b"".join(stream.feed(as_delta(message)))
            end = stream._text_tail or stream._call_tail  # noqa: SLF001
            hear, (*_, keep, _make, place, numbers) = end[1], end
            head, rest = place.head, place.tail
    yield b"".join((*stream.finish(REASON, USAGE), DONE))

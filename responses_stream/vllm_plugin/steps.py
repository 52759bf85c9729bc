"""One engine step, as what the model says in it.

The request's own parser reads the text. What it does not tell, this file works out of the
token ids: how many of them were thought, and which log probabilities belong to the text.
A step may say nothing (a part of a character, a marker, text that a parser holds back):
its tokens then count with the next words that come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from responses_stream.deltas import (
    Delta,
    FullDelta,
    ToolCallDelta,
    logprob,
    tool_call_delta,
)

from .seam import Core, Message, Output, Parser, Request, Step

NOTHING: Final = Delta()

MADE_UP: Final = "chatcmpl-tool-"
"""How vLLM begins an id where the model has said none."""


class StepReader:
    """Reads the steps of one response."""

    def __init__(
        self, core: Core, request: Request, parser: Parser | None, tokenizer: Any
    ) -> None:
        self.finish_reason: str | None = None
        """The last step's, in vLLM's words."""
        self.reasoning_tokens = 0
        """How many tokens so far were thought; the markers around it are none."""
        self._core = core
        self._request = request
        self._parser = parser
        self._tokenizer = tokenizer
        # Since 0.28; parsers before it always say what was thought.
        hides_thoughts = getattr(request, "include_reasoning", True) is False
        self._says_thoughts = not hides_thoughts or parser is None
        # Thoughts are left out here, not by the parser: their tokens count all the same.
        self._asked = request.model_copy(update={"include_reasoning": True})
        # As core has it: where thoughts are hidden, so are all log probabilities.
        self._says_logprobs = request.is_include_output_logprobs() and self._says_thoughts
        self._starts, self._ends = _starts_and_ends(parser, tokenizer)
        self._markers = self._starts | self._ends
        self._thinking = parser is not None
        self._silent: list[int] = []
        """The tokens since the last words."""
        self._silent_logprobs: list[Any] = []
        """Theirs, if they were asked for."""
        self._one_call = request.parallel_tool_calls is False
        self._first_call: int | None = None

    def read(self, step: Step | None) -> Delta:
        """What the model says in a step; an empty delta if nothing."""
        if step is None or not step.outputs:
            return NOTHING
        output = step.outputs[0]
        self.finish_reason = output.finish_reason
        if self._parser is None:
            delta = Delta(content=output.text)
        else:
            ids = output.token_ids
            message = self._parser.parse_delta(
                output.text,
                ids if type(ids) is list else list(ids),
                self._asked,
                step.prompt_token_ids,
                finished=output.finish_reason is not None,
            )
            delta = NOTHING if message is None else _delta(message)
        if self._thinking or self._says_logprobs:
            delta = self._account(output, delta)
        if delta.reasoning and not self._says_thoughts:
            delta = replace(delta, reasoning="")
        return self._called(delta) if delta.tool_calls else delta

    def _called(self, delta: Delta) -> Delta:
        calls = delta.tool_calls
        if self._one_call:
            if self._first_call is None:
                self._first_call = calls[0].index
            calls = tuple(call for call in calls if call.index == self._first_call)
        elif len(calls) == 1 and not calls[0].id:
            # Nearly all: more arguments.
            return delta
        return replace(delta, tool_calls=tuple(map(_renamed, calls)))

    # Tokens -----------------------------------------------------------------------

    def _account(self, output: Output, delta: Delta) -> Delta:
        """Counts the tokens of a step; the delta with its log probabilities."""
        if (
            delta.reasoning
            and not (delta.content or delta.tool_calls)
            and not (self._silent or self._says_logprobs)
            and self._markers.isdisjoint(output.token_ids)
        ):
            # Nearly all: one more thought, and nothing to be told apart.
            self.reasoning_tokens += len(output.token_ids)
            return delta
        self._silent += output.token_ids
        if self._says_logprobs:
            self._silent_logprobs += self._logprobs(output)
        if delta.reasoning or delta.content or delta.tool_calls:
            tokens, self._silent = self._silent, []
            logprobs, self._silent_logprobs = self._silent_logprobs, []
            end, begin = self._split(tokens, delta)
            self.reasoning_tokens += self._count(tokens[:end])
            if delta.content and self._says_logprobs:
                said = [entry for entry in logprobs[begin:] if entry is not None]
                delta = FullDelta(
                    delta.reasoning,
                    delta.content,
                    delta.tool_calls,
                    logprobs=tuple(map(logprob, said)),
                )
        if output.finish_reason == "length" and self._thinking and self.reasoning_tokens:
            # Cut inside a thought: there are no words to count these with.
            self.reasoning_tokens += self._count(self._silent)
        return delta

    def _logprobs(self, output: Output) -> Sequence[Any]:
        if output.logprobs is None:
            return [None] * len(output.token_ids)
        found: Sequence[Any] = self._core._create_response_logprobs(  # noqa: SLF001 - vLLM's only one
            token_ids=list(output.token_ids),
            logprobs=output.logprobs,
            tokenizer=self._tokenizer,
            top_logprobs=self._request.top_logprobs,
        )
        return found

    def _split(self, tokens: Sequence[int], delta: Delta) -> tuple[int, int]:
        """Where the thought ends, and where what is no thought begins."""
        if not self._thinking:
            return 0, 0
        if not self._ends.isdisjoint(tokens):
            self._thinking = False
            end = next(at for at, token in enumerate(tokens) if token in self._ends)
            return end, end + 1
        if not delta.content and not delta.tool_calls:
            return len(tokens), len(tokens)
        self._thinking = False
        # No marker tells: the lengths of the texts do, as well as they can.
        said = (
            len(delta.reasoning)
            + len(delta.content)
            + sum(len(call.name) + len(call.arguments) for call in delta.tool_calls)
        )
        cut = round(len(tokens) * len(delta.reasoning) / said)
        return cut, cut

    def _count(self, tokens: Sequence[int]) -> int:
        """How many of them are no markers."""
        if self._starts.isdisjoint(tokens):
            return len(tokens)
        return sum(token not in self._starts for token in tokens)


def _delta(message: Message) -> Delta:
    calls = message.tool_calls
    said = tuple(map(tool_call_delta, calls)) if calls else ()
    return Delta(message.reasoning or "", message.content or "", said)


def _renamed(call: ToolCallDelta) -> ToolCallDelta:
    """The call by an id as clients know them. Those that a model made mean something to
    its template, and stay.
    """
    said = call.id.removeprefix(MADE_UP)
    return call if said == call.id else replace(call, id="call_" + said)


def _starts_and_ends(parser: Any, tokenizer: Any) -> tuple[frozenset[int], frozenset[int]]:
    """The ids of the tokens that open and close a thought, as far as they are known."""
    reasoning = getattr(parser, "reasoning_parser", None)
    return (
        _marker(tokenizer, getattr(reasoning, "reasoning_start_str", None)),
        _marker(tokenizer, getattr(reasoning, "reasoning_end_str", None)),
    )


def _marker(tokenizer: Any, text: object) -> frozenset[int]:
    if not isinstance(text, str) or not text.strip():
        return frozenset()
    ids = tokenizer.encode(text.strip(), add_special_tokens=False)
    # A marker of several tokens is plain text to the model, and counts as such.
    return frozenset(ids) if len(ids) == 1 else frozenset()

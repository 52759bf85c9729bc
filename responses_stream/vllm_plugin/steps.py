"""One engine step, as what the model says in it.

The request's own parser reads the text. What it does not tell, this file works out of the
token ids: how many of them were thought, and which log probabilities belong to the text.
A step may say nothing (a part of a character, a marker, text that a parser holds back):
its tokens then count with the next words that come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from responses_stream.deltas import Delta, FullDelta, ToolCallDelta, as_delta
from responses_stream.items import Logprob
from responses_stream.json_text import JSONScanner

from .seam import Core, Output, Parser, Request, Step

MADE_UP: Final = "chatcmpl-tool-"
"""How vLLM begins an id where the model has said none."""


class Token(NamedTuple):
    """One token that the model made, with its log probability if that was asked for."""

    id: int
    logprob: object | None


class Arguments:
    """The arguments of one call, as far as they have come."""

    def __init__(self) -> None:
        self._scanner = JSONScanner()
        self._begin = ""

    @property
    def are_open(self) -> bool:
        """Whether they began as JSON and are not complete. Plain text is never open."""
        return self._begin in ("{", "[") and not self._scanner.complete

    def feed(self, text: str) -> None:
        """Takes more of them."""
        self._begin = self._begin or text.lstrip()[:1]
        self._scanner.feed(text)


class StepReader:
    """Reads the steps of one response."""

    def __init__(
        self, core: Core, request: Request, parser: Parser | None, tokenizer: Any
    ) -> None:
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
        self._starts, self._ends = _markers(parser, tokenizer)
        self._thinking = parser is not None
        self._silent: list[Token] = []
        self._first_call: int | None = None
        self._arguments = Arguments()

    @property
    def inside_call(self) -> bool:
        """Whether the last thing said is a call whose JSON is still open."""
        return self._arguments.are_open

    def read(self, step: Step) -> Delta:
        """What the model says in a step; an empty delta if nothing."""
        output = step.outputs[0]
        self._silent += self._tokens(output)
        delta = as_delta(self._parse(step, output))
        if delta.reasoning or delta.content or delta.tool_calls:
            delta = self._spoken(delta)
        if output.finish_reason == "length" and self._thinking and self.reasoning_tokens:
            # Cut inside a thought: there are no words to count these with.
            self.reasoning_tokens += self._count(self._silent)
        return delta

    def _parse(self, step: Step, output: Output) -> object:
        if self._parser is None:
            return {"content": output.text}
        message = self._parser.parse_delta(
            output.text,
            list(output.token_ids),
            self._asked,
            step.prompt_token_ids,
            finished=output.finish_reason is not None,
        )
        return {} if message is None else message

    def _spoken(self, delta: Delta) -> Delta:
        tokens, self._silent = self._silent, []
        thought, rest = self._split(tokens, delta)
        self.reasoning_tokens += self._count(thought)
        if delta.content and self._says_logprobs:
            logprobs = tuple(
                _logprob(token.logprob) for token in rest if token.logprob is not None
            )
            delta = FullDelta(
                delta.reasoning, delta.content, delta.tool_calls, logprobs=logprobs
            )
        if not self._says_thoughts:
            delta = replace(delta, reasoning="")
        if delta.tool_calls:
            delta = self._called(delta)
        elif delta.content.strip():
            self._arguments = Arguments()
        return delta

    def _called(self, delta: Delta) -> Delta:
        calls = delta.tool_calls
        if self._first_call is None:
            self._first_call = calls[0].index
        if self._request.parallel_tool_calls is False:
            calls = tuple(call for call in calls if call.index == self._first_call)
        for call in calls:
            if call.name:
                self._arguments = Arguments()
            self._arguments.feed(call.arguments)
        return replace(delta, tool_calls=tuple(map(_renamed, calls)))

    # Tokens -----------------------------------------------------------------------

    def _tokens(self, output: Output) -> list[Token]:
        ids = list(output.token_ids)
        if not self._says_logprobs or output.logprobs is None:
            return [Token(token, None) for token in ids]
        logprobs = self._core._create_response_logprobs(  # noqa: SLF001 - vLLM's only one
            token_ids=ids,
            logprobs=output.logprobs,
            tokenizer=self._tokenizer,
            top_logprobs=self._request.top_logprobs,
        )
        return [Token(*pair) for pair in zip(ids, logprobs, strict=True)]

    def _split(
        self, tokens: Sequence[Token], delta: Delta
    ) -> tuple[Sequence[Token], Sequence[Token]]:
        """The tokens of the thought, and the others."""
        if not self._thinking:
            return (), tokens
        end = next((at for at, token in enumerate(tokens) if token.id in self._ends), None)
        if end is not None:
            self._thinking = False
            return tokens[:end], tokens[end + 1 :]
        if not delta.content and not delta.tool_calls:
            return tokens, ()
        self._thinking = False
        # No marker tells: the lengths of the texts do, as well as they can.
        said = (
            len(delta.reasoning)
            + len(delta.content)
            + sum(len(call.name) + len(call.arguments) for call in delta.tool_calls)
        )
        cut = round(len(tokens) * len(delta.reasoning) / said)
        return tokens[:cut], tokens[cut:]

    def _count(self, tokens: Sequence[Token]) -> int:
        return sum(token.id not in self._starts for token in tokens)


def _renamed(call: ToolCallDelta) -> ToolCallDelta:
    """The call by an id as clients know them. Those that a model made mean something to
    its template, and stay.
    """
    said = call.id.removeprefix(MADE_UP)
    return call if said == call.id else replace(call, id="call_" + said)


def _logprob(entry: Any) -> Logprob:
    read = as_delta({"logprobs": [entry]}).logprobs
    return read[0]


def _markers(parser: Any, tokenizer: Any) -> tuple[frozenset[int], frozenset[int]]:
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

"""What the plugin reads in an engine's steps, with stand-ins for vLLM."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vllm_stand_ins import (
    CLOSE,
    END,
    OPEN,
    THOUGHT_AND_TEXT,
    arguments,
    call,
    installed,
    transcript,
)

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

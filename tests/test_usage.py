"""Token counters of both APIs, and what is made of those that are missing."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import ResponseUsage

from responses_stream.errors import LocalProtocolError
from responses_stream.usage import InputTokensDetails, OutputTokensDetails, Usage

COUNT = st.integers(0, 2**53)
KEYS = st.sampled_from(
    ["input_tokens", "prompt_tokens", "output_tokens", "completion_tokens", "total_tokens"]
)
DETAILS = st.dictionaries(
    st.sampled_from(["cached_tokens", "cache_write_tokens", "reasoning_tokens"]),
    COUNT | st.none(),
)
USAGE = st.dictionaries(KEYS, COUNT | st.none()) | st.fixed_dictionaries(
    {"prompt_tokens_details": DETAILS | st.none(), "completion_tokens_details": DETAILS}
)


@given(USAGE)
def test_every_counter_is_always_there(usage):
    """Whatever is missing or null, openai's type finds all its integers on the wire."""
    wire = msgspec.json.decode(msgspec.json.encode(Usage.read(usage)))

    read = ResponseUsage.model_validate(wire, strict=True)

    assert wire == read.model_dump(exclude_unset=True)


@given(USAGE)
def test_reading_twice_is_reading_once(usage):
    """What was written is read as it was meant."""
    once = Usage.read(usage)

    assert once == Usage.read(once) == Usage.read(msgspec.to_builtins(once))


def test_both_apis_words_are_read():
    """A chat completion's usage and a response's are the same usage."""
    expected = Usage(7, InputTokensDetails(3, 2), 5, OutputTokensDetails(4), 12)

    chat = {
        "prompt_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2},
        "completion_tokens": 5,
        "completion_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 12,
    }
    responses = {
        "input_tokens": 7,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 12,
    }

    assert expected == Usage.read(chat)
    assert expected == Usage.read(responses)


def test_a_missing_total_is_the_sum():
    """The total is made where nobody gives it."""
    assert 5 == Usage.read({"prompt_tokens": 2, "completion_tokens": 3}).total_tokens


def test_no_usage_stays_none():
    """Nothing is not zero."""
    assert Usage.read(None) is None


def test_a_whole_float_is_an_integer():
    """JSON knows no integers; 3.0 is three."""
    assert 3 == Usage.read({"input_tokens": 3.0}).input_tokens


@pytest.mark.parametrize("count", [-1, 1.5, "3", True, [], float("nan"), float("inf")])
def test_what_is_no_count_is_refused_by_name(count):
    """The error names the counter, what was found and what was expected."""
    with pytest.raises(LocalProtocolError, match=r"usage\.input_tokens is .*; expected"):
        Usage.read({"input_tokens": count})


@pytest.mark.parametrize("usage", [5, "usage", [1], {"input_tokens_details": 5}])
def test_what_is_no_usage_is_refused(usage):
    """The error says what was expected."""
    with pytest.raises(LocalProtocolError, match="expected a mapping"):
        Usage.read(usage)

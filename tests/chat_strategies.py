"""Chunks that no server should send, for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(st.text(max_size=3), values, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = ("content", "reasoning", "reasoning_content", "refusal", "tool_calls")
odd_deltas = st.dictionaries(
    st.sampled_from((*FIELDS, "function_call", "annotations", "role")), json_values
)
odd_choices = st.dictionaries(
    st.sampled_from(("index", "delta", "message", "finish_reason", "logprobs")),
    json_values | odd_deltas,
)
odd_chunks = st.dictionaries(
    st.sampled_from(("choices", "usage", "error", "object", "message")),
    json_values | st.lists(odd_choices, max_size=2),
)

"""Requests that vLLM would turn down."""

from __future__ import annotations

import pytest

from responses_stream.chat.tools import CUSTOM_AS_FUNCTION
from responses_stream.vllm_plugin.asked import acceptable

FORM = {"type": "grammar", "syntax": "lark", "definition": "start: A"}
TOLD = f"{CUSTOM_AS_FUNCTION}\n\nThe input must match this lark grammar:\nstart: A"


def test_a_grammar_is_told():
    """The model reads it where vLLM cannot hold it to it."""
    tool = {"type": "custom", "name": "f", "description": "Does.", "format": FORM}
    asked = {"input": "hi", "tools": [tool]}

    assert acceptable(asked)["tools"] == [
        {**tool, "description": f"Does.\n\n{TOLD}", "format": {"type": "text"}}
    ]
    assert tool["format"] is FORM


def test_a_grammar_in_a_namespace():
    """A tool is the same wherever it stands."""
    tool = {"type": "custom", "name": "f", "format": FORM}
    (space,) = acceptable({"tools": [{"type": "namespace", "tools": [tool]}]})["tools"]

    assert space["tools"][0]["description"] == TOLD


@pytest.mark.parametrize(
    "asked",
    [
        {"input": "hi"},
        {"tools": 5},
        {"tools": [5, {"type": "function", "name": "f"}]},
        {"tools": [{"type": "custom", "name": "f", "format": {"type": "text"}}]},
    ],
)
def test_anything_else(asked):
    """It goes to vLLM as it came, right or wrong."""
    assert acceptable(asked) == asked

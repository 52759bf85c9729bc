"""Hypothesis strategies: what models and parsers say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

# Surrogates too: a parser that reads a JSON escape may hand us half a pair.
TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from('😀é"\\\n {}'), min_size=1)
WORDS = TEXT.filter(lambda text: not text.isspace())
ANY_TEXT = st.text(st.characters(), max_size=6) | st.sampled_from(
    [
        "",
        " ",
        "\n\n",
        "\ud83d",
        "\ude00",
        "😀",
        '{"input": "',
        "\\u00",
        "{",
        "}",
        '"',
        "{}",
        "a",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.text(max_size=4), JSON, max_size=3)

REQUEST = {
    "model": "m",
    "tools": [
        {"type": "function", "name": "f"},
        {"type": "custom", "name": "c"},
        {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "t"}]},
    ],
}


class Turn(Struct, frozen=True):
    """One thing that a model says: `kind` is reasoning, content, or a tool's name."""

    kind: str
    text: str


class Said(Struct, frozen=True):
    """All that a model says in one response."""

    turns: tuple[Turn, ...]
    interleaved: bool
    """Whether neighbouring calls are written at the same time."""

    request = REQUEST

    def expected(self) -> list[tuple[str, str]]:
        """The kind and text of each item that must come of it."""
        out: list[tuple[str, str]] = []
        for turn in self.turns:
            match turn.kind:
                case "c":
                    out.append(("custom_tool_call", json.loads(turn.text)["input"]))
                case "f" | "n__t":
                    out.append(("function_call", turn.text))
                case kind:
                    item = {"reasoning": "reasoning", "content": "message"}[kind]
                    if out and out[-1][0] == item:
                        out[-1] = (item, out[-1][1] + turn.text)
                    else:
                        out.append((item, turn.text))
        return out


@st.composite
def dialogues(draw) -> Said:
    """Legal speech: words, thoughts and calls, in any order."""
    turn = st.one_of(
        st.builds(Turn, st.sampled_from(["reasoning", "content"]), WORDS),
        st.builds(Turn, st.sampled_from(["f", "n__t"]), ARGUMENTS.map(json.dumps)),
        st.builds(
            lambda text, ascii_: Turn(
                "c", json.dumps({"input": text}, ensure_ascii=ascii_)
            ),
            st.text(st.characters(codec="utf-8")),
            st.booleans(),
        ),
    )
    turns = draw(st.lists(turn, max_size=6))
    return Said(tuple(turns), draw(st.booleans()))


def played(said: Said) -> list[dict[str, Any]]:
    """The shortest script: one delta for each turn."""
    return [
        *(delta for pieces in _deltas(said, lambda text: [text]) for delta in pieces),
        {"finish_reason": "stop"},
    ]


def _deltas(said: Said, cut: Any) -> Iterator[list[dict[str, Any]]]:
    for index, turn in enumerate(said.turns):
        pieces = cut(turn.text)
        if turn.kind in ("reasoning", "content"):
            yield [{turn.kind: piece} for piece in pieces]
        else:
            head = {"index": index, "id": f"call_{index}", "function": {"name": turn.kind}}
            tail = [{"index": index, "function": {"arguments": piece}} for piece in pieces]
            yield [{"tool_calls": [part]} for part in (head, *tail)]


@st.composite
def cuttings(draw, said: Said) -> list[dict[str, Any]]:
    """The same speech in small pieces; neighbouring calls mixed, if they may be."""

    def cut(text: str) -> list[str]:
        units = text.encode("utf-16-le", "surrogatepass")
        count = len(units) // 2
        cuts = sorted(draw(st.lists(st.integers(0, count), max_size=5)))
        edges = [0, *cuts, count]
        return [
            units[2 * a : 2 * b].decode("utf-16-le", "surrogatepass")
            for a, b in pairwise(edges)
        ]

    script: list[dict[str, Any]] = []
    calls: list[list[dict[str, Any]]] = []
    for turn, deltas in zip(said.turns, _deltas(said, cut), strict=True):
        if turn.kind in ("reasoning", "content") or not said.interleaved:
            script += _mixed(draw, calls)
            calls = []
            script += deltas
        else:
            calls.append(deltas)
    return [*script, *_mixed(draw, calls), {"finish_reason": "stop"}]


def _mixed(draw, calls: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The calls' deltas, each call's in order; calls begin in order too."""
    begun = [deltas.pop(0) for deltas in calls]
    rest: list[dict[str, Any]] = []
    while calls := [deltas for deltas in calls if deltas]:
        rest.append(draw(st.sampled_from(calls)).pop(0))
    return begun + rest


def noise() -> st.SearchStrategy[dict[str, Any]]:
    """A delta of any shape that can be read."""
    function = st.fixed_dictionaries(
        {},
        optional={
            "name": st.sampled_from(["f", "c", "n__t", " ", ""]),
            "arguments": ANY_TEXT,
        },
    )
    one_call = st.fixed_dictionaries(
        {"function": function},
        optional={
            "index": st.integers(0, 3) | st.none(),
            "id": st.sampled_from(["", "a", "b"]),
        },
    )
    logprob = st.builds(
        lambda token: {"token": token, "logprob": -1.0, "bytes": None}, ANY_TEXT
    )
    annotation = st.builds(
        lambda title: {
            "type": "url_citation",
            "url_citation": {"url": "u", "title": title, "start_index": 0, "end_index": 1},
        },
        ANY_TEXT,
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "reasoning": ANY_TEXT,
            "reasoning_content": ANY_TEXT,
            "content": ANY_TEXT | st.none(),
            "refusal": ANY_TEXT,
            "tool_calls": st.lists(one_call, max_size=3),
            "logprobs": st.lists(logprob, max_size=2),
            "annotations": st.lists(annotation, max_size=2),
        },
    )

"""Workload W: what a parser says in one turn of a thinking model that calls two tools.

2,002 deltas: 500 of reasoning, 1,000 of content, and two calls of 250 pieces of arguments
each. The pieces are as long as tokens are, and as many of them need an escape in JSON, or
are not ASCII, as in code and prose (performance.md).
"""

from __future__ import annotations

import json
import random
from typing import Any, Final

from responses_stream import Delta, ToolCallDelta

REASONING: Final = 500
CONTENT: Final = 1_000
ARGUMENTS: Final = 250
"""Of each call."""
CALLS: Final = ("search", "write")

CHARACTERS: Final = 7_160
"""Of all text: 3.58 for each piece."""
ESCAPED: Final = 291
NOT_ASCII: Final = 152

PLAIN: Final = (
    *(" the", " of", " a", "ing", " to", " is", "er", " in", " we", ".", ",", " and"),
    *(" call", " tool", "ation", " value", " should", " first", " check", "s", " it"),
)
QUOTED: Final = ("\n", '"', "\n\n", ' "', '",', "\\n", "\t", '("')
ACCENTED: Final = (" é", "ü", "天气", " café", "—", "😀", " naïve", "ñ")

MODEL: Final = "demo"
REQUEST: Final[dict[str, Any]] = {
    "model": MODEL,
    "input": "What is the weather?",
    "stream": True,
    "tools": [
        {"type": "function", "name": name, "parameters": {"type": "object"}}
        for name in CALLS
    ],
}


def workload() -> list[Delta]:
    """The deltas, the same at every call."""
    calls = [_arguments(number) for number in range(len(CALLS))]
    texts = _texts(calls)
    deltas = [Delta(reasoning=text) for text in texts[:REASONING]]
    deltas += [Delta(content=text) for text in texts[REASONING:]]
    for index, (name, pieces) in enumerate(zip(CALLS, calls, strict=True)):
        call = ToolCallDelta(index, f"call_{index}", name)
        deltas.append(Delta(tool_calls=(call,)))
        deltas += [
            Delta(tool_calls=(ToolCallDelta(index, "", "", piece),)) for piece in pieces
        ]
    return deltas


def said(delta: Delta) -> str:
    """The text of a delta, whatever it is of."""
    calls = "".join(call.arguments for call in delta.tool_calls)
    return delta.reasoning + delta.content + calls


def needs_escape(text: str) -> bool:
    """Whether JSON has to escape something in it."""
    return len(json.dumps(text, ensure_ascii=False)) > len(text) + 2


def _arguments(number: int) -> list[str]:
    """A JSON object, cut into pieces as long as a token."""
    rng = random.Random(number)
    lines = ["".join(rng.choices(PLAIN, k=14)).strip() for _ in range(12)]
    value = {f"line_{at}": line for at, line in enumerate(lines)}
    text = json.dumps({"path": "src/main.py", **value})
    cuts = sorted(rng.sample(range(1, len(text)), ARGUMENTS - 1))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _texts(calls: list[list[str]]) -> list[str]:
    """The pieces of reasoning and content that, with the calls', make the numbers above."""
    rng = random.Random(2_002)
    arguments = [piece for pieces in calls for piece in pieces]
    escaped = ESCAPED - sum(map(needs_escape, arguments))
    count = REASONING + CONTENT
    kinds: list[tuple[str, ...]] = [
        *[QUOTED] * escaped,
        *[ACCENTED] * NOT_ASCII,
        *[PLAIN] * (count - escaped - NOT_ASCII),
    ]
    rng.shuffle(kinds)
    texts = [rng.choice(kind) for kind in kinds]
    # What is missing in length, the plain pieces get one character at a time.
    missing = CHARACTERS - sum(map(len, arguments)) - sum(map(len, texts))
    plain = [at for at, kind in enumerate(kinds) if kind is PLAIN]
    for at in rng.sample(plain, missing):
        texts[at] += "s"
    return texts

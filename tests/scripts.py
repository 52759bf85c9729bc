"""Named scripts: each rule of the grammar, what parsers really said, and the failures.

Each is a list of steps, as helpers.run takes them, and the stream's options. Their
transcripts are snapshots/NAME.sse.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

RECORDINGS: Final = Path(__file__).parent / "recordings"

STOP = {"finish_reason": "stop", "usage": {"prompt_tokens": 9, "completion_tokens": 5}}
CALLED = {"finish_reason": "tool_calls", "usage": STOP["usage"]}
LENGTH = {"finish_reason": "length", "usage": STOP["usage"]}

Step = dict[str, Any]
Script = tuple[list[Step], dict[str, Any]]


def call(index: int | None, **said: str) -> Step:
    """A delta of one tool call: id, name, arguments."""
    function = {key: said[key] for key in ("name", "arguments") if key in said}
    entry: Step = {"index": index, "function": function}
    return {"tool_calls": [entry | {key: said[key] for key in ("id",) if key in said}]}


def words(kind: str, text: str) -> list[Step]:
    """A text as a parser says it, a word at a time."""
    return [{kind: piece} for piece in text.replace(" ", " \0").split("\0")]


def tool(name: str, kind: str = "function") -> Step:
    """A declared tool."""
    return {"type": kind, "name": name}


def recorded(name: str) -> Script:
    """What a real vLLM's parser said; see tests/recordings."""
    path = RECORDINGS / "vllm_deltas" / f"{name}.jsonl"
    first, *steps = map(json.loads, path.read_text().splitlines())
    return steps, {"request": first["request"]}


INTERLEAVED: Final = {"order": "interleaved"}
WEATHER: Final = {"model": "demo", "tools": [tool("get_weather")]}
PATCH: Final = {"model": "demo", "tools": [tool("apply_patch", "custom")]}
AGENTS: Final = {
    "model": "demo",
    "tools": [
        {"type": "namespace", "name": "agents", "description": "d", "tools": [tool("wait")]}
    ],
}
ESCAPED: Final = ['{"in', 'put": "*** A\\', "n+1\\u00", "e9 \\ud83d", '\\ude00\\"', '"}']
CITATION: Final = {
    "type": "url_citation",
    "url_citation": {
        "url": "https://example.org",
        "title": "T",
        "start_index": 0,
        "end_index": 2,
    },
}
LOGPROB: Final = {
    "token": "Hi",
    "logprob": -0.5,
    "bytes": [72, 105],
    "top_logprobs": [{"token": "Yo", "logprob": -1.5, "bytes": None}],
}

SCRIPTS: Final[dict[str, Script]] = {
    # The order of speech.
    "nothing_said": ([STOP], {}),
    "text": ([*words("content", "It is sunny."), STOP], {}),
    "reasoning": ([*words("reasoning", "Let me see."), STOP], {}),
    "reasoning_text_two_calls": (
        [
            *words("reasoning", "Two cities."),
            *words("content", "I look it up."),
            call(0, id="call_a", name="get_weather"),
            call(0, arguments='{"city": '),
            call(0, arguments='"Paris"}'),
            call(1, id="call_b", name="get_weather", arguments='{"city": "Tokyo"}'),
            CALLED,
        ],
        {"request": WEATHER},
    ),
    "interleaved_phases": (
        [
            {"reasoning": "First."},
            {"content": "One."},
            call(0, id="call_a", name="f", arguments="{}"),
            {"reasoning": "Then."},
            {"content": "Two."},
            CALLED,
        ],
        INTERLEAVED,
    ),
    "strict_refuses_late_text": (
        [call(0, id="call_a", name="f", arguments="{}"), {"content": "Late."}, CALLED],
        {},
    ),
    "compound_delta": (
        [
            {
                "reasoning": "R.",
                "content": "T.",
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "call_a",
                        "function": {"name": "f", "arguments": "{}"},
                    },
                    {
                        "index": 1,
                        "id": "call_b",
                        "function": {"name": "g", "arguments": "{}"},
                    },
                ],
            },
            CALLED,
        ],
        {},
    ),
    # White space.
    "white_space_in_front": (
        [{"content": "\n"}, {"content": "\n"}, {"content": "Hi"}, STOP],
        {},
    ),
    "white_space_before_a_call": (
        [
            {"reasoning": "R."},
            {"content": "\n\n"},
            call(0, id="call_a", name="f", arguments="{}"),
            {"content": "\n"},
            CALLED,
        ],
        INTERLEAVED,
    ),
    "white_space_only": ([{"reasoning": "\n\n"}, {"content": " \n"}, STOP], {}),
    # Tool calls.
    "call_without_arguments": ([call(0, id="call_a", name="f"), CALLED], {}),
    "call_without_id": ([call(0, name="f", arguments="{}"), CALLED], {}),
    "call_with_late_name": (
        [
            call(0, id="call_a", arguments='{"a":'),
            call(0, arguments="1}"),
            call(0, name="f"),
            CALLED,
        ],
        {},
    ),
    "calls_without_index": (
        [
            call(None, id="call_a", name="f", arguments='{"a"'),
            call(None, arguments=": 1}"),
            call(None, id="call_b", name="g", arguments="{}"),
            CALLED,
        ],
        {},
    ),
    "calls_with_one_index": (
        [
            call(0, id="call_a", name="f", arguments="{}"),
            call(0, id="call_b", name="f", arguments="[]"),
            CALLED,
        ],
        {},
    ),
    "calls_mixed": (
        [
            call(0, id="call_a", name="f"),
            call(1, id="call_b", name="g"),
            call(1, arguments='{"b": '),
            call(0, arguments='{"a": '),
            call(1, arguments="2}"),
            call(0, arguments="1}"),
            CALLED,
        ],
        {},
    ),
    "calls_with_gaps": (
        [
            call(7, id="call_a", name="f", arguments="{}"),
            call(3, id="call_b", name="g", arguments="{}"),
            CALLED,
        ],
        {},
    ),
    "call_with_blank_name": (
        [
            call(0, id="call_a", name=" ", arguments="{}"),
            call(1, id="call_b", name="g", arguments="{}"),
            CALLED,
        ],
        {},
    ),
    "call_without_any_name": ([call(0, id="call_a", arguments='{"a": 1}'), CALLED], {}),
    "call_id_used_before": (
        [call(0, id="functions.f:0", name="f", arguments="{}"), CALLED],
        {"request": {"input": [{"type": "function_call", "call_id": "functions.f:0"}]}},
    ),
    "call_with_broken_json": (
        [call(0, id="call_a", name="f", arguments='{"a": oops'), CALLED],
        {},
    ),
    "text_behind_an_open_call": (
        [
            call(0, id="call_a", name="f", arguments='{"a":'),
            {"content": "Meanwhile."},
            call(0, arguments=" 1}"),
            CALLED,
        ],
        INTERLEAVED,
    ),
    "custom_tool": (
        [
            call(0, id="call_a", name="apply_patch"),
            *(call(0, arguments=a) for a in ESCAPED),
            CALLED,
        ],
        {"request": PATCH},
    ),
    "custom_tool_raw": (
        [call(0, id="call_a", name="apply_patch", arguments='{"patch": "x"}'), CALLED],
        {"request": PATCH},
    ),
    "namespaced_tool": (
        [call(0, id="call_a", name="agents__wait", arguments='{"s": 1}'), CALLED],
        {"request": AGENTS},
    ),
    # What else a message can hold.
    "refusal": ([*words("refusal", "I will not."), STOP], {}),
    "text_then_refusal": ([{"content": "Well, "}, {"refusal": "no."}, STOP], {}),
    "logprobs": (
        [{"content": "Hi", "logprobs": [LOGPROB]}, STOP],
        {"request": {"top_logprobs": 1}},
    ),
    "annotations": (
        [{"content": "Hi"}, {"annotations": [CITATION]}, {"content": "!"}, STOP],
        {},
    ),
    "code_points_cut": (
        [{"content": "\ud83d"}, {"content": "\ude00 \ud83d"}, {"content": "x"}, STOP],
        {},
    ),
    # Options.
    "reasoning_as_summary": (
        [*words("reasoning", "Let me see."), {"content": "Yes."}, STOP],
        {"reasoning": "summary"},
    ),
    "reasoning_as_both": (
        [*words("reasoning", "Let me see."), {"content": "Yes."}, STOP],
        {"reasoning": "both"},
    ),
    "openresponses": (
        [
            *words("reasoning", "Let me see."),
            {"content": "Yes."},
            call(0, id="call_a", name="apply_patch", arguments='{"input": "x"}'),
            CALLED,
        ],
        {"dialect": "openresponses", "request": PATCH},
    ),
    "openresponses_failed": (
        [
            {"content": "Well"},
            {"error": {"code": "rate_limit_exceeded", "message": "Slow down."}},
        ],
        {"dialect": "openresponses"},
    ),
    "codex_refusal": (
        [{"content": "Well, "}, {"refusal": "no."}, STOP],
        {"dialect": "codex"},
    ),
    "codex_failed_in_text": (
        [call(0, id="call_a", name="f", arguments="{}"), {"content": "Well"}],
        {"dialect": "codex", "order": "interleaved"},
    ),
    "codex_length_in_text": ([{"content": "It is"}, LENGTH], {"dialect": "codex"}),
    "codex_length_in_a_call": (
        [{"content": "So:"}, call(0, id="call_a", name="f", arguments='{"a": "'), LENGTH],
        {"dialect": "codex"},
    ),
    "request_echoed": (
        [{"content": "Hi"}, STOP],
        {
            "request": {
                "model": "demo",
                "id": "resp_given",
                "created_at": 5,
                "temperature": None,
                "reasoning": {"effort": "max"},
                "text": {"verbosity": "low"},
                "chat_template_kwargs": {"enable_thinking": False},
                "metadata": {"k": "v"},
            }
        },
    ),
    # Ends.
    "length_in_text": ([{"content": "It is"}, LENGTH], {}),
    "length_in_reasoning": ([{"reasoning": "It is"}, LENGTH], {}),
    "length_in_a_call": (
        [{"content": "So:"}, call(0, id="call_a", name="f", arguments='{"a": "'), LENGTH],
        {},
    ),
    "length_in_mixed_calls": (
        [
            call(0, id="call_a", name="f", arguments='{"a": '),
            call(1, id="call_b", name="g", arguments='{"b": '),
            LENGTH,
        ],
        {},
    ),
    "length_at_once": ([LENGTH], {}),
    "content_filter": ([{"content": "It is"}, {"finish_reason": "content_filter"}], {}),
    "aborted": ([{"content": "It is"}, {"finish_reason": "abort"}], {}),
    "failed_in_a_call": (
        [
            call(0, id="call_a", name="f", arguments='{"a": "'),
            {"error": {"message": "engine died"}},
        ],
        {},
    ),
    "failed_at_once": (
        [{"error": {"code": "context_length_exceeded", "message": "Too long."}}],
        {},
    ),
    "ended_early": ([{"reasoning": "Let me"}], {}),
    # A real vLLM server's parsers.
    "vllm_empty_think": recorded("empty_think"),
    "vllm_length_in_text": recorded("length_in_text"),
    "vllm_reasoning_text": recorded("reasoning_text"),
    "vllm_reasoning_text_two_calls": recorded("reasoning_text_two_calls"),
    "vllm_text_only": recorded("text_only"),
}

"""What chat servers send: one named script for each way to be right or wrong.

A script is a body, how it is framed, and what a Responses client must get of it. Numbers
in comments are those of clients.md 5.1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

Fields = dict[str, Any]

DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


@dataclass(frozen=True)
class Script:
    """A chat server's answer, and what is to come of it."""

    body: tuple[bytes, ...]
    """Each is one write."""
    status: int = 200
    headers: tuple[str, ...] = ("content-type: text/event-stream",)
    framing: Literal["chunked", "close", "length"] = "chunked"
    ending: Literal["clean", "cut", "reset", "open"] = "clean"
    """`cut` closes where more was promised, `open` leaves the connection open."""
    keep: bool = False
    """Whether the connection may serve another request."""
    gate: Literal["none", "head", "rest"] = "none"
    """What waits for ScriptedServer.gate: the headers, or all but the first write."""
    pause: float = 0.0
    """Before each write but the first."""

    ends: str = "completed"
    """The terminal event, or the status of an HTTP error."""
    text: str = ""
    thoughts: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Name and arguments, or input, of each."""
    reason: str = ""
    """Of an incomplete response; of a failed one its code."""
    says: str = ""
    """A part of the error's message."""
    usage: tuple[int, int] | None = (7, 5)


def chunk(delta: Fields | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One chunk as vLLM writes it."""
    choice = {
        "index": 0,
        "delta": delta or {},
        "logprobs": None,
        "finish_reason": finish,
    }
    return data({**COMMON, "choices": [choice], **more})


def data(value: Any) -> bytes:
    """One frame."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


COMMON = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1795215516,
    "model": "m",
}
ROLE = chunk({"role": "assistant", "content": ""})
STOP = chunk(finish="stop")
CALLED = chunk(finish="tool_calls")
COUNTED = data({**COMMON, "choices": [], "usage": USAGE})
END = (COUNTED, DONE)


def said(*words: str, field: str = "content") -> tuple[bytes, ...]:
    return tuple(chunk({field: word}) for word in words)


def call(
    index: int | None = 0,
    id_: str | None = None,
    name: str | None = None,
    arguments: Any = None,
) -> Fields:
    """An entry of `tool_calls`, without what is None."""
    function = {"name": name, "arguments": arguments}
    function = {key: value for key, value in function.items() if value is not None}
    entry = {"index": index, "id": id_, "function": function or None}
    return {key: value for key, value in entry.items() if value is not None}


def calls(*entries: Fields) -> bytes:
    return chunk({"tool_calls": list(entries)})


HELLO = (ROLE, *said("Hel", "lo"), STOP, *END)
"""An answer with nothing wrong."""

WEATHER = ("get_weather", '{"city":"Paris"}')
TIME = ("get_time", "{}")
ONE_CALL = (
    calls(call(0, "call_a", "get_weather", "")),
    calls(call(0, arguments='{"city":')),
    calls(call(0, arguments='"Paris"}')),
)

WHOLE = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1795215516,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello"},
            "finish_reason": "stop",
        }
    ],
    "usage": USAGE,
}


def with_choice(**choice: Any) -> Fields:
    return {**WHOLE, "choices": [{"index": 0, **choice}]}


def hello(*body: bytes, **more: Any) -> Script:
    """An answer that says Hello, however it is sent."""
    return Script(body or HELLO, text="Hello", **more)


def failed(*body: bytes, **more: Any) -> Script:
    return Script(
        body,
        **{"ends": "failed", "reason": "server_error", "usage": None, **more},
    )


def refused(status: int, said: Any, code: str, ends: str, **more: Any) -> Script:
    """An HTTP error."""
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    more.setdefault("headers", ("content-type: application/json",))
    return Script(
        (body,) if body else (),
        status=status,
        framing="length",
        ends=ends,
        reason=code,
        **more,
    )


def one_byte_each(body: tuple[bytes, ...]) -> tuple[bytes, ...]:
    joined = b"".join(body)
    return tuple(joined[i : i + 1] for i in range(len(joined)))


def without_blank_lines(body: tuple[bytes, ...]) -> bytes:
    return b"".join(body).replace(b"\n\n", b"\n")


FRAMINGS = {
    "plain": hello(),
    "crlf": hello(*(frame.replace(b"\n", b"\r\n") for frame in HELLO)),
    "cr": hello(*(frame.replace(b"\n", b"\r") for frame in HELLO)),
    "one_byte_each": hello(*one_byte_each(HELLO)),
    "crlf_one_byte_each": hello(
        *one_byte_each(tuple(frame.replace(b"\n", b"\r\n") for frame in HELLO))
    ),
    "one_write": hello(b"".join(HELLO)),
    "events_called_json": hello(headers=("content-type: application/json",)),
    "events_called_text": hello(headers=("content-type: text/plain; charset=utf-8",)),
    "no_content_type": hello(headers=()),
    "until_close": hello(framing="close"),
    "whole_json": hello(
        json.dumps(WHOLE).encode(),
        headers=("content-type: application/json",),
        framing="length",
    ),
    "whole_json_called_events": hello(json.dumps(WHOLE).encode()),
    "whole_json_indented": hello(*one_byte_each((json.dumps(WHOLE, indent=2).encode(),))),
    "whole_json_in_one_event": hello(data(WHOLE), DONE),
    "json_lines": hello(*(frame[6:-1] for frame in HELLO[:-1])),
    "byte_order_mark": hello(b"\xef\xbb\xbf" + HELLO[0], *HELLO[1:]),
    "no_space_after_colon": hello(*(frame.replace(b": ", b":", 1) for frame in HELLO)),
    "comments": hello(
        b": PROCESSING\n\n", HELLO[0], b": ping\n\n", *HELLO[1:], b": bye\n\n"
    ),
    "other_fields": hello(
        *(b"event: message\nid: 1\nretry: 10\n" + frame for frame in HELLO)
    ),
    "data_over_lines": hello(
        *(frame.replace(b', "created"', b',\ndata: "created"') for frame in HELLO)
    ),
    "no_done": hello(*HELLO[:-1]),  # 26
    "done_twice": hello(*HELLO, DONE),
    "no_last_blank_line": hello(ROLE, *said("Hello"), STOP, COUNTED[:-2]),
    "no_blank_lines": hello(without_blank_lines(HELLO)),
    "stays_open_after_done": hello(ending="open"),
    "stays_open_after_usage": hello(*HELLO[:-1], ending="open"),
    "stays_open_after_finish": hello(
        ROLE, *said("Hello"), STOP, ending="open", usage=(0, 0)
    ),
    "garbage_after_finish": hello(ROLE, *said("Hello"), STOP, b"data: {garbage\n\n", *END),
    "cut_after_finish": hello(ROLE, *said("Hello"), STOP, ending="cut", usage=(0, 0)),
}

ROLES_AND_USAGE = {
    "role_on_each_chunk": hello(
        chunk({"role": "assistant", "content": "Hel"}),
        chunk({"role": "assistant", "content": "lo"}),
        chunk({"role": "assistant", "content": ""}, "stop"),
        *END,
    ),
    "no_role": hello(*said("Hello"), STOP, *END),
    "lightllm": hello(
        chunk({"role": "assistant", "content": "Hel"}, usage=None),
        chunk({"role": "assistant", "content": "lo"}, usage=None),
        chunk({"role": "assistant", "content": ""}, "stop", usage=None),
        COUNTED,
    ),
    "usage_before_finish": hello(ROLE, *said("Hello"), COUNTED, STOP, DONE),
    "usage_in_finish": hello(ROLE, *said("Hello"), chunk({}, "stop", usage=USAGE), DONE),
    "usage_on_each_chunk": hello(
        chunk({"content": "Hel"}, usage={"prompt_tokens": 7, "completion_tokens": 1}),
        chunk({"content": "lo"}, usage={"prompt_tokens": 7, "completion_tokens": 2}),
        chunk({}, "stop", usage={"prompt_tokens": 7, "completion_tokens": 3}),
        *END,
    ),
    "usage_null": hello(
        chunk({"content": "Hello"}, "stop", usage=None), DONE, usage=(0, 0)
    ),
    "usage_never": hello(ROLE, *said("Hello"), STOP, DONE, usage=(0, 0)),
    "usage_null_counters": hello(  # 34
        *said("Hello"),
        STOP,
        data({"choices": [], "usage": {**USAGE, "prompt_tokens_details": None}}),
        DONE,
    ),
    "usage_without_total": hello(  # 35
        *said("Hello"),
        STOP,
        data(
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 7,
                    "completion_tokens": 5.0,
                    "completion_tokens_details": {"reasoning_tokens": None},
                },
            }
        ),
        DONE,
    ),
    "usage_nonsense": hello(
        *said("Hello"),
        STOP,
        data({"choices": [], "usage": {"prompt_tokens": "many"}}),
        DONE,
        usage=(0, 0),
    ),
    "choices_empty_at_first": hello(
        data({**COMMON, "choices": [], "prompt_filter_results": []}), *HELLO
    ),
    "choices_null": hello(data({**COMMON, "choices": None}), *HELLO),
    "second_choice": hello(
        ROLE,
        data({**COMMON, "choices": [{"index": 1, "delta": {"content": "Other"}}]}),
        *said("Hello"),
        data({**COMMON, "choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]}),
        STOP,
        *END,
    ),
    "delta_null": hello(
        *said("Hello"),
        data({**COMMON, "choices": [{"index": 0, "delta": None}]}),
        STOP,
        *END,
    ),
    "sparse_chunks": hello(
        data({"choices": [{"delta": {"content": "Hello"}}]}),
        data({"choices": [{"finish_reason": "stop"}]}),
        *END,
    ),
    "finish_empty_on_each": hello(
        chunk({"content": "Hel"}, ""), chunk({"content": "lo"}, "null"), STOP, *END
    ),
    "finish_eos": hello(*said("Hello"), chunk({}, "eos_token"), *END),
    "finish_unknown": hello(*said("Hello"), chunk({}, "because"), *END),
    "finish_in_capitals": hello(*said("Hello"), chunk({}, "STOP"), *END),
    "finish_object": hello(
        *said("Hello"),
        data({"choices": [{"index": 0, "delta": {}, "finish_reason": {"type": "stop"}}]}),
        *END,
    ),
    "text_after_finish": hello(ROLE, *said("Hel"), STOP, *said("lo"), *END),
    "text_with_finish": hello(ROLE, *said("Hel"), chunk({"content": "lo"}, "stop"), *END),
    "content_in_parts": hello(
        chunk({"content": [{"type": "text", "text": "Hello"}]}), STOP, *END
    ),
}

THOUGHTS = {
    "reasoning": hello(
        ROLE, *said("Hm", "m", field="reasoning"), *HELLO[1:], thoughts="Hmm"
    ),
    "reasoning_content": hello(
        ROLE, *said("Hm", "m", field="reasoning_content"), *HELLO[1:], thoughts="Hmm"
    ),
    "reasoning_twice": hello(
        chunk({"reasoning": "Hmm", "reasoning_content": "Hmm"}),
        *HELLO[1:],
        thoughts="Hmm",
    ),
    "reasoning_in_parts": hello(
        chunk(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Hmm"}]}
                ]
            }
        ),
        *HELLO[1:],
        thoughts="Hmm",
    ),
    "reasoning_and_text_in_one": hello(
        chunk({"reasoning": "Hmm", "content": "Hel"}),
        *said("lo"),
        STOP,
        *END,
        thoughts="Hmm",
    ),
    "reasoning_of_white_space": hello(  # vLLM's empty think block
        *said("\n\n", field="reasoning"), *HELLO
    ),
    "reasoning_again_after_text": hello(
        *said("One.", field="reasoning"),
        *said("Hel"),
        *said("Two.", field="reasoning"),
        *said("lo"),
        STOP,
        *END,
        thoughts="One.Two.",
    ),
    "cut_while_thinking": Script(  # 43
        (ROLE, *said("Hmm", field="reasoning"), chunk({}, "length"), *END),
        ends="incomplete",
        reason="max_output_tokens",
        thoughts="Hmm",
    ),
    "blank_message_before_call": Script(  # 11
        (*said("Hmm", field="reasoning"), *said("\n\n"), *ONE_CALL, CALLED, *END),
        thoughts="Hmm",
        calls=(WEATHER,),
    ),
    "white_space_only": Script((ROLE, *said("\n", " "), STOP, *END)),
    "nothing_said": Script((ROLE, STOP, *END)),
}

CALLS = {
    "one_call": Script((ROLE, *ONE_CALL, CALLED, *END), calls=(WEATHER,)),
    "call_finished_by_stop": Script((ROLE, *ONE_CALL, STOP, *END), calls=(WEATHER,)),
    "call_in_one_chunk": Script(
        (calls(call(0, "call_a", *WEATHER)), CALLED, *END), calls=(WEATHER,)
    ),
    "call_in_whole_json": Script(
        (
            json.dumps(
                with_choice(
                    message={
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": "call_a",
                                "type": "function",
                                **call(None, None, *TIME),
                            },
                            {
                                "id": "call_b",
                                "type": "function",
                                **call(None, None, *WEATHER),
                            },
                        ],
                    },
                    finish_reason="tool_calls",
                )
            ).encode(),
        ),
        calls=(TIME, WEATHER),
    ),
    "two_calls": Script(
        (*ONE_CALL, calls(call(1, "call_b", *TIME)), CALLED, *END),
        calls=(WEATHER, TIME),
    ),
    "two_calls_in_one_chunk": Script(  # 4
        (
            calls(call(0, "call_a", *WEATHER), call(1, "call_b", *TIME)),
            CALLED,
            *END,
        ),
        calls=(WEATHER, TIME),
    ),
    "two_calls_interleaved": Script(  # 30
        (
            calls(call(0, "call_a", "get_weather")),
            calls(call(1, "call_b", "get_time")),
            calls(call(0, arguments='{"city":')),
            calls(call(1, arguments="{}")),
            calls(call(0, arguments='"Paris"}')),
            CALLED,
            *END,
        ),
        calls=(WEATHER, TIME),
    ),
    "two_calls_of_one_index": Script(  # 52
        (
            calls(call(0, "call_a", *WEATHER), call(0, "call_b", *TIME)),
            CALLED,
            *END,
        ),
        calls=(WEATHER, TIME),
    ),
    "two_calls_without_index": Script(
        (
            calls(call(None, "call_a", "get_weather", '{"city":')),
            calls(call(None, arguments='"Paris"}')),
            calls(call(None, "call_b", *TIME)),
            CALLED,
            *END,
        ),
        calls=(WEATHER, TIME),
    ),
    "index_in_words": Script(
        (
            chunk({"tool_calls": [{**call(0, "call_a", *WEATHER), "index": "0"}]}),
            chunk({"tool_calls": [{**call(1, "call_b", *TIME), "index": "1"}]}),
            CALLED,
            *END,
        ),
        calls=(WEATHER, TIME),
    ),
    "index_gaps": Script(
        (
            calls(call(3, "call_a", *WEATHER)),
            calls(call(7, "call_b", *TIME)),
            CALLED,
            *END,
        ),
        calls=(WEATHER, TIME),
    ),
    "late_name": Script(
        (
            calls(call(0, "call_a", arguments='{"city":')),
            calls(call(0, name="get_weather", arguments='"Paris"}')),
            CALLED,
            *END,
        ),
        calls=(WEATHER,),
    ),
    "name_on_each_chunk": Script(
        (
            calls(call(0, "call_a", "get_weather", '{"city":')),
            calls(call(0, "call_a", "get_weather", '"Paris"}')),
            CALLED,
            *END,
        ),
        calls=(WEATHER,),
    ),
    "name_empty_afterwards": Script(
        (
            calls(call(0, "call_a", "get_weather", '{"city":')),
            calls(call(0, "", "", '"Paris"}')),
            CALLED,
            *END,
        ),
        calls=(WEATHER,),
    ),
    "no_call_id": Script(  # 7
        (
            chunk({"tool_calls": [{"index": 0, "id": None, **call(None, None, *WEATHER)}]}),
            CALLED,
            *END,
        ),
        calls=(WEATHER,),
    ),
    "call_id_used_before": Script(  # 51
        (calls(call(0, "call_0", *WEATHER)), CALLED, *END), calls=(WEATHER,)
    ),
    "no_arguments": Script(  # 10
        (calls(call(0, "call_a", "get_time")), CALLED, *END), calls=(TIME,)
    ),
    "call_without_function": Script(
        (calls(call(0, "call_a")), *ONE_CALL, CALLED, *END), calls=(WEATHER,)
    ),
    "empty_arguments": Script(
        (calls(call(0, "call_a", "get_time", "")), CALLED, *END), calls=(TIME,)
    ),
    "arguments_as_object": Script(
        (calls(call(0, "call_a", "get_weather", {"city": "Paris"})), CALLED, *END),
        calls=(WEATHER,),
    ),
    "legacy_function_call": Script(
        (
            chunk({"function_call": {"name": "get_weather", "arguments": '{"city":'}}),
            chunk({"function_call": {"arguments": '"Paris"}'}}),
            chunk({}, "function_call"),
            *END,
        ),
        calls=(WEATHER,),
    ),
    "nameless_call_beside_another": Script(
        (
            calls(call(0, "call_x", "  ", "{}")),
            calls(call(1, "call_a", *WEATHER)),
            CALLED,
            *END,
        ),
        calls=(WEATHER,),
    ),
    "nameless_call_alone": failed(
        calls(call(0, "call_x", "", '{"a":1}')), CALLED, *END, usage=(7, 5)
    ),
    "text_and_call_in_one": hello(  # 17
        chunk({"content": "Hello", "tool_calls": [call(0, "call_a", *WEATHER)]}),
        CALLED,
        *END,
        calls=(WEATHER,),
    ),
    "text_after_call": hello(*ONE_CALL, *said("Hello"), STOP, *END, calls=(WEATHER,)),
    "thoughts_between_calls": Script(
        (
            *ONE_CALL,
            *said("Hmm", field="reasoning"),
            calls(call(1, "call_b", *TIME)),
            CALLED,
            *END,
        ),
        thoughts="Hmm",
        calls=(WEATHER, TIME),
    ),
    "custom_call": Script(  # 38
        (
            calls(call(0, "call_a", "apply_patch", '{"inp')),
            calls(call(0, arguments='ut": "*** Begin\\nEnd \\ud83d')),
            calls(call(0, arguments='\\udc4b"}')),
            CALLED,
            *END,
        ),
        calls=(("apply_patch", "*** Begin\nEnd 👋"),),
    ),
    "namespaced_call": Script(
        (calls(call(0, "call_a", "agents__wait", "{}")), CALLED, *END),
        calls=(("wait", "{}"),),
    ),
    "call_cut_by_limit": Script(  # 12
        (*ONE_CALL[:2], chunk({}, "length"), *END),
        ends="incomplete",
        reason="max_output_tokens",
        calls=(("get_weather", '{"city":'),),
    ),
}

CONTENT = {
    "emoji_cut_in_two": Script(
        (
            b'data: {"choices":[{"index":0,"delta":{"content":"Hi \\ud83d"}}]}\n\n',
            b'data: {"choices":[{"index":0,"delta":{"content":"\\udc4b"}}]}\n\n',
            STOP,
            *END,
        ),
        text="Hi 👋",
    ),
    "lone_surrogate": Script(
        (
            b'data: {"choices":[{"index":0,"delta":{"content":"Hi \\ud83d"}}]}\n\n',
            *said("!"),
            STOP,
            *END,
        ),
        text="Hi \ufffd!",
    ),
    "broken_utf8": Script(
        (
            b'data: {"choices":[{"index":0,"delta":{"content":"Hi \xff"}}]}\n\n',
            STOP,
            *END,
        ),
        text="Hi \ufffd",
    ),
    "refusal": Script(
        (ROLE, *said("I ", "won't", field="refusal"), STOP, *END), text="I won't"
    ),
    "logprobs": hello(
        data(
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {"content": "Hello"},
                        "logprobs": {
                            "content": [
                                {
                                    "token": "Hello",
                                    "logprob": -0.5,
                                    "bytes": [72, 101],
                                    "top_logprobs": [
                                        {"token": "Bye", "logprob": -2, "bytes": None}
                                    ],
                                }
                            ]
                        },
                    }
                ]
            }
        ),
        STOP,
        *END,
    ),
    "logprobs_of_thoughts": hello(
        data(
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {"reasoning": "Hmm"},
                        "logprobs": {
                            "content": [{"token": "Hmm", "logprob": -1, "top_logprobs": []}]
                        },
                    }
                ]
            }
        ),
        *HELLO,
        thoughts="Hmm",
    ),
    "annotations": hello(
        *said("Hello"),
        chunk(
            {
                "annotations": [
                    {
                        "type": "url_citation",
                        "url_citation": {
                            "url": "https://example.com",
                            "title": "E",
                            "start_index": 0,
                            "end_index": 5,
                        },
                    }
                ]
            }
        ),
        STOP,
        *END,
    ),
    "limit": hello(  # 42
        ROLE,
        *said("Hello"),
        chunk({}, "length"),
        *END,
        ends="incomplete",
        reason="max_output_tokens",
    ),
    "limit_in_other_words": hello(
        *said("Hello"),
        chunk({}, "max_tokens"),
        *END,
        ends="incomplete",
        reason="max_output_tokens",
    ),
    "content_filter": hello(
        *said("Hello"),
        chunk({}, "content_filter"),
        *END,
        ends="incomplete",
        reason="content_filter",
    ),
}

UPSTREAM_DIED = {"error": {"message": "engine died", "type": "server_error", "code": None}}

FAILURES = {
    "ends_in_text": failed(ROLE, *said("Hello"), text="Hello"),  # 32, 33
    "ends_in_thoughts": failed(  # 31
        ROLE, *said("Hmm", field="reasoning"), thoughts="Hmm"
    ),
    "ends_in_call": failed(*ONE_CALL[:2], calls=(("get_weather", '{"city":'),)),
    "ends_after_done": failed(ROLE, *said("Hello"), DONE, text="Hello"),
    "ends_at_once": failed(says="empty"),
    "ends_after_role": failed(ROLE, says="without a finish reason"),
    "cut_in_text": failed(ROLE, *said("Hello"), ending="cut", text="Hello"),
    "cut_in_frame": failed(ROLE, *said("Hello"), STOP[:30], ending="cut", text="Hello"),
    "reset_in_text": failed(ROLE, *said("Hello"), ending="reset", text="Hello"),
    "finish_abort": failed(
        *said("Hello"), chunk({}, "abort"), *END, text="Hello", usage=(7, 5)
    ),
    "finish_error": failed(
        *said("Hello"), chunk({}, "error"), *END, text="Hello", usage=(7, 5)
    ),
    "error_first": failed(data(UPSTREAM_DIED), DONE, says="engine died"),  # 8
    "error_in_text": failed(  # 24
        ROLE,
        *said("Hello"),
        data(UPSTREAM_DIED),
        DONE,
        says="engine died",
        text="Hello",
    ),
    "error_in_call": failed(
        *ONE_CALL[:2],
        data(UPSTREAM_DIED),
        says="engine died",
        calls=(("get_weather", '{"city":'),),
    ),
    "error_after_call": failed(
        *ONE_CALL, data(UPSTREAM_DIED), says="engine died", calls=(WEATHER,)
    ),
    "error_as_string": failed(
        *said("Hello"), data({"error": "engine died"}), says="engine died", text="Hello"
    ),
    "error_event": failed(
        *said("Hello"),
        b'event: error\ndata: {"message": "engine died"}\n\n',
        says="engine died",
        text="Hello",
    ),
    "error_event_in_words": failed(
        *said("Hello"),
        b"event: error\ndata: engine died\n\n",
        says="engine died",
        text="Hello",
    ),
    "error_object": failed(
        data({"object": "error", "message": "engine died", "code": 500}),
        says="engine died",
    ),
    "error_detail": failed(data({"detail": "engine died"}), says="engine died"),
    "error_beside_choices": failed(
        chunk({"content": "Hello"}, "error", error={"message": "engine died"}),
        says="engine died",
    ),
    "error_in_whole_json": failed(json.dumps(UPSTREAM_DIED).encode(), says="engine died"),
    "rate_limit_in_stream": failed(
        *said("Hello"),
        data({"error": {"message": "slow, try again in 2s", "code": 429}}),
        reason="rate_limit_exceeded",
        says="try again in 2s",
        text="Hello",
    ),
    "overflow_in_stream": failed(
        data({"error": {"message": "maximum context length is 8 tokens", "code": 400}}),
        reason="context_length_exceeded",
    ),
    "bad_request_in_stream": failed(
        data({"error": {"message": "bad regex", "code": 400}}), reason="invalid_prompt"
    ),
    "html_page": failed(
        b"<html><body>Welcome to nginx!</body></html>",
        headers=("content-type: text/html",),
        says="<html>",
    ),
    "garbage": failed(ROLE, b"data: {garbage\n\n", says="{garbage"),
    "json_of_another_kind": failed(ROLE, b"data: 42\n\n"),
    "field_of_another_type": failed(chunk({"content": 42}), says="content is int"),
    "deep_json": failed(b"data: " + b"[" * 100_000 + b"\n\n"),
}

TOO_LONG = "This model's maximum context length is 8 tokens. However, you requested 9."

REFUSALS = {
    "reset_at_once": refused(502, b"", "server_error", "502", ending="reset"),
    "http_400": refused(
        400,
        {"error": {"message": "bad tool", "param": "tools", "code": 400}},
        "invalid_prompt",
        "400",
        says="bad tool",
    ),
    "http_400_too_long": refused(
        400,
        {
            "object": "error",
            "message": TOO_LONG,
            "type": "BadRequestError",
            "code": 400,
        },
        "context_length_exceeded",
        "400",
        says="maximum context length",
    ),
    "http_500_too_long": refused(
        500, {"error": TOO_LONG}, "context_length_exceeded", "400"
    ),
    "http_400_llama_cpp": refused(
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
            }
        },
        "context_length_exceeded",
        "400",
    ),
    "http_401": refused(401, {"error": "Unauthorized"}, "server_error", "401"),
    "http_404": refused(
        404, {"detail": "model m does not exist"}, "model_not_found", "404"
    ),
    "http_422": refused(
        422,
        {"detail": [{"loc": ["body"], "msg": "field required"}]},
        "invalid_prompt",
        "422",
        says="field required",
    ),
    "http_429": refused(
        429, {"error": {"message": "queue full"}}, "rate_limit_exceeded", "429"
    ),
    "http_429_retry": refused(
        429,
        {"error": {"message": "queue full"}},
        "rate_limit_exceeded",
        "429",
        headers=("content-type: application/json", "retry-after: 7"),
    ),
    "http_429_quota": refused(
        429,
        {"error": {"message": "pay", "code": "insufficient_quota"}},
        "insufficient_quota",
        "429",
    ),
    "http_500_page": refused(
        500,
        b"<html>Internal Server Error</html>",
        "server_error",
        "500",
        headers=("content-type: text/html",),
        says="answered 500",
    ),
    "http_503_retry": refused(
        503,
        b"Loading model",
        "server_error",
        "503",
        headers=("content-type: text/plain", "retry-after: 9"),
        says="Loading model",
    ),
    "http_302": refused(
        302, b"", "server_error", "502", headers=("location: /login",), says="/login"
    ),
}

STREAMED: dict[str, Script] = {
    **FRAMINGS,
    **ROLES_AND_USAGE,
    **THOUGHTS,
    **CALLS,
    **CONTENT,
    **FAILURES,
}
"""The scripts that a gateway answers with a stream."""

SCRIPTS: dict[str, Script] = {**STREAMED, **REFUSALS}

"""Scripts that say Hello, framed and counted in every way there is.

Numbers in comments are those of clients.md 5.1.
"""

from __future__ import annotations

import json

from gateway_frames import (
    COMMON,
    COUNTED,
    DONE,
    END,
    HELLO,
    ROLE,
    STOP,
    USAGE,
    WHOLE,
    chunk,
    data,
    hello,
    said,
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

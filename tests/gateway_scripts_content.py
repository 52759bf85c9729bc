"""Scripts of thoughts, and of text that is more than words.

Numbers in comments are those of clients.md 5.1.
"""

from __future__ import annotations

from gateway_frames import (
    CALLED,
    END,
    HELLO,
    ONE_CALL,
    ROLE,
    STOP,
    WEATHER,
    Script,
    chunk,
    data,
    hello,
    said,
)

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

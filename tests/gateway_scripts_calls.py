"""Scripts of calls, numbered and named in every way there is.

Numbers in comments are those of clients.md 5.1.
"""

from __future__ import annotations

import json

from gateway_frames import (
    CALLED,
    END,
    ONE_CALL,
    ROLE,
    STOP,
    TIME,
    WEATHER,
    Script,
    call,
    calls,
    chunk,
    failed,
    hello,
    said,
    with_choice,
)

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

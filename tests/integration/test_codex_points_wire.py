"""What a naive server gets wrong before codex: of the 18 points, those about the wire.

The others, in test_codex_points.py, take a turn of codex or several requests. Each is asked
of the gateway and of the plugin, most of every backend that there is; what only a chat
server can do wrong is asked of the gateway before a scripted one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from codex_items import (
    CUSTOM,
    EVERYTHING,
    IMAGE_OUTPUT,
    NAMESPACE,
    TOOL_SEARCH,
    WEB_SEARCH,
    call_item,
    said,
)
from codex_model import (
    USAGE,
    Finish,
    Pause,
    Script,
    call,
    calling,
    say,
    words,
)
from codex_upstream import DIE
from codex_wire import GATEWAY_AND_PLUGIN, Server

pytest_plugins = ["codex_fixtures"]
pytestmark = pytest.mark.integration

PARIS, TOKYO = {"location": "Paris"}, {"location": "Tokyo"}
WEATHER = calling(
    call("get_weather", PARIS, 0),
    call("get_weather", TOKYO, 1),
    reasoning="They ask about the weather.",
    text="I ask for both.",
)
LIMITS = {"max_tokens", "max_completion_tokens"}
REFUSED_BY_VLLM = {"logit_bias": {"99999999": 1}}
"""What vLLM's engine notices only when the stream has begun."""


both_servers = pytest.mark.parametrize("backend", GATEWAY_AND_PLUGIN, indirect=True)


def shuffled(script: Script) -> Script:
    """The same, with the deltas of its two calls in turns."""
    calls = [step for step in script if isinstance(step, dict) and "tool_calls" in step]
    ends = [step for step in script if step not in calls]
    first, second = (
        [step for step in calls if step["tool_calls"][0]["index"] == index]
        for index in (0, 1)
    )
    turns = [step for pair in zip(first, second, strict=True) for step in pair]
    return [*ends[:-1], *turns, ends[-1]]


def test_point_01_items_are_whole_in_output_item_done(server, model):
    """Each item is whole when it is done, and the last payload has the same ones."""
    model.plays(WEATHER)

    transcript = server.ask()

    kinds = [item["type"] for item in transcript.items]
    assert kinds == ["reasoning", "message", "function_call", "function_call"]
    assert all(item["content"][0]["text"] for item in transcript.items[:2])
    arguments = [json.loads(item["arguments"]) for item in transcript.items[2:]]
    assert arguments == [PARIS, TOKYO]
    assert transcript.final["output"] == transcript.items
    assert transcript.violations == []


@both_servers
def test_point_02_failures_are_response_failed(server, upstream):
    """An engine that dies says so in response.failed, with a code; in no error event."""
    upstream.plays([*words("It is"), DIE])

    transcript = server.ask(**REFUSED_BY_VLLM)

    assert transcript.types[-1] == "failed"
    assert "error" not in transcript.types
    assert transcript.final["error"]["code"] in ("server_error", "invalid_prompt")
    assert transcript.final["error"]["message"]
    assert transcript.violations == []


@both_servers
def test_point_03_the_body_ends_after_response_failed(server, upstream):
    """Codex acts on response.failed when the body ends, so it ends at once."""
    upstream.plays([*words("It is"), {"content": 5}, Pause(5)])

    transcript = server.ask(**REFUSED_BY_VLLM)

    assert transcript.types[-1] == "failed"
    assert transcript.ended_at - transcript.times[-1] < 0.2


def test_point_04_no_output_limit_of_our_own(server, model, upstream):
    """Codex sends no limit, and dies of one: the model gets none either."""
    model.plays(WEATHER)

    transcript = server.ask()

    assert transcript.types[-1] == "completed"
    assert all(set(asked.body).isdisjoint(LIMITS) for asked in upstream.asked)


USAGES = {
    "whole": USAGE,
    "none": None,
    "empty": {},
    "no total": {"prompt_tokens": 100, "completion_tokens": 10},
    "floats": {"prompt_tokens": 100.0, "completion_tokens": 10.0, "total_tokens": 110.0},
    "empty details": {
        **USAGE,
        "prompt_tokens_details": {},
        "completion_tokens_details": {},
    },
    "null details": {**USAGE, "prompt_tokens_details": None},
    "null counts": {**USAGE, "prompt_tokens_details": {"cached_tokens": None}},
}


@pytest.mark.parametrize("usage", USAGES.values(), ids=USAGES)
def test_point_06_usage_is_whole_or_absent(served, upstream, usage):
    """Whatever the chat server counts, codex gets integers, all of them, or null."""
    upstream.plays(say("Hi.", usage=usage))

    found = Server(served()).ask().final["usage"]

    if found is not None:
        assert_whole(found)


def assert_whole(usage):
    """It has all its counts, as integers, and they add up."""
    counts = [usage[name] for name in ("input_tokens", "output_tokens", "total_tokens")]
    counts.append(usage["input_tokens_details"]["cached_tokens"])
    counts.append(usage["output_tokens_details"]["reasoning_tokens"])
    assert {type(count) for count in counts} == {int}
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


def test_point_06_usage_is_whole(server, model):
    """It is there, and counts the thoughts among the rest."""
    model.plays(WEATHER)

    usage = server.ask().final["usage"]

    assert_whole(usage)
    assert min(usage["input_tokens"], usage["output_tokens"]) > 0


def test_point_07_added_items_can_grow(server, model):
    """An item is added with its empty fields, or codex would drop all its deltas."""
    model.plays(WEATHER)

    transcript = server.ask()

    added = [event["item"] for event in transcript.all("output_item.added")]
    assert (added[0]["summary"], added[1]["content"]) == ([], [])
    assert [item["arguments"] for item in added[2:]] == ["", ""]
    assert all({"content_index", "delta"} <= set(event) for event in deltas(transcript))


def deltas(transcript) -> Iterator[dict[str, object]]:
    """Those of thoughts and text."""
    for kind in ("reasoning_text.delta", "output_text.delta"):
        found = transcript.all(kind)
        assert found
        yield from found


def test_point_08_one_item_at_a_time(server, model):
    """Calls that a chat server tells in turns come one after the other."""
    model.plays(shuffled(WEATHER))

    transcript = server.ask()

    steps = [kind for kind in transcript.types if kind.startswith("output_item.")]
    assert steps == ["output_item.added", "output_item.done"] * 4
    assert [json.loads(i["arguments"]) for i in transcript.items[2:]] == [PARIS, TOKYO]
    assert transcript.violations == []


def test_point_09_messages_are_made_of_output_text(server, model):
    """A part of another type would make the whole message vanish."""
    model.plays(WEATHER)

    messages = [item for item in server.ask().items if item["type"] == "message"]

    parts = [part["type"] for message in messages for part in message["content"]]
    assert parts == ["output_text"]


def test_point_10_reasoning_has_a_summary(server, model):
    """An item without one would be dropped."""
    model.plays(WEATHER)

    reasoning = server.ask().items[0]

    assert reasoning["summary"] == []
    assert [part["type"] for part in reasoning["content"]] == ["reasoning_text"]


def test_point_11_names_and_arguments_as_declared(server, model):
    """A namespace comes back apart, arguments as the very text that the model wrote."""
    written = '{"targets": ["a"],  "timeout_ms": 10000, "big": 12345678901234567890}'
    model.plays(calling(call("multi_agent_v1__wait_agent", written)))

    (item,) = server.ask(tools=[NAMESPACE]).items

    assert (item["name"], item["namespace"]) == ("wait_agent", "multi_agent_v1")
    assert item["arguments"] == written


@pytest.mark.parametrize(
    "tools",
    [[], [CUSTOM, NAMESPACE, WEB_SEARCH, TOOL_SEARCH]],
    ids=["no tools", "all kinds of tools"],
)
def test_point_12_all_that_codex_sends_is_accepted(server, model, upstream, tools):
    """Every kind of tool and item, and any order of roles, is told to the model."""
    model.plays(say("Sunny."))

    transcript = server.ask(tools=tools, input=EVERYTHING)

    assert transcript.response.status == 200
    assert transcript.types[-1] == "completed"
    for asked in upstream.asked:
        roles = [message["role"] for message in asked.messages]
        assert roles.count("system") == 1
        assert roles[0] == "system"
        assert roles.count("tool") == 3


def test_point_12_outputs_with_images_are_accepted(served, upstream):
    """A list with an image, as view_image gives it, reaches the model."""
    upstream.plays(say("I see."))
    viewed = call_item("function_call", "c1", name="view_image", arguments="{}")
    shown = call_item("function_call_output", "c1", output=IMAGE_OUTPUT)

    transcript = Server(served()).ask(input=[said("user", "Look."), viewed, shown])

    assert transcript.types[-1] == "completed"
    assert "base64,AA==" in json.dumps(upstream.asked[0].messages)


def test_point_13_fields_of_codex_are_no_hindrance(server, model, upstream):
    """No instructions, and fields that only codex knows: none of them goes further."""
    model.plays(WEATHER)

    transcript = server.ask()

    assert transcript.types[-1] == "completed"
    own = {"client_metadata", "prompt_cache_key", "include", "store", "reasoning", "input"}
    assert all(own.isdisjoint(asked.body) for asked in upstream.asked)


def test_point_15_no_header_names_another_model(server, model):
    """Codex warns of an account at risk if openai-model is not the model it asked for."""
    model.plays(WEATHER)

    headers = server.ask().headers

    assert "openai-model" not in headers
    assert headers["content-type"].startswith("text/event-stream")


def test_point_18_the_last_event_has_its_blank_line(server, model):
    """The body ends with a blank line, its lines with LF, and none begins with a BOM."""
    model.plays(WEATHER)

    body = server.ask().body

    assert body.startswith(b"event: response.created\n")
    assert body.endswith(b"\n\n")
    assert b"\r" not in body


def test_point_18_an_emoji_that_was_cut_is_whole(served, upstream):
    """Halves of a surrogate pair in two chunks are one character; a lone half is none."""
    halves = ("\ud83d", "\udc4b")
    upstream.plays(
        [*({"content": half} for half in ("A ", *halves, " B \ud83d")), Finish()]
    )

    transcript = Server(served()).ask()

    (part,) = transcript.items[0]["content"]
    assert part["text"] == "A 👋 B \ufffd"
    assert b"\\ud8" not in transcript.body


def test_point_18_characters_are_whole(server, model):
    """A model may write one in several tokens, as the tiny one does: no event has half."""
    model.plays(say("Grüße 👋🏽 an 日本", reasoning="Über 🤔"))

    transcript = server.ask()

    said = [item["content"][0]["text"] for item in transcript.items]
    assert said == ["Über 🤔", "Grüße 👋🏽 an 日本"]
    assert "\ufffd" not in transcript.body.decode()

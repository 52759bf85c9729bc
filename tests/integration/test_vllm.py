"""What a real vLLM server answers with the plugin."""

from __future__ import annotations

import msgspec
import pytest
from openai.types.responses import Response
from vllm_requests import CASES, PATCH, TEXT, THOUGHT, WEATHER, said, without_ids
from vllm_server import vllm_fixture, wait_until  # noqa: F401

from responses_stream import decode

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("name", CASES)
def test_a_stream(vllm, name):
    """It says what the model says, in items that end as they should."""
    case = CASES[name]
    answer = vllm.ask(case.request)

    assert answer.events[-1]["type"] == f"response.{case.end}"
    assert tuple(map(said, answer.final["output"])) == case.items


@pytest.mark.parametrize("name", CASES)
def test_judges(vllm, name):
    """The checker, the official types and the official accumulator find nothing."""
    answer = vllm.ask(CASES[name].request)
    events = [decode(wire) for wire in answer.events]
    for event in events:
        event.to_openai()

    assert answer.recording.findings == ()
    assert answer.body.endswith(b"\n\ndata: [DONE]\n\n")
    assert not answer.cut
    assert [event.to_dict() for event in events] == list(answer.events)


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].end != "failed"])
def test_whole(vllm, name):
    """The answer without a stream is the stream's last word, item for item."""
    streamed = vllm.ask(CASES[name].request).final
    whole = vllm.ask(CASES[name].request, stream=False)
    own = ("id", "created_at", "completed_at", "output", "usage")

    assert whole.status == 200
    assert without_ids(whole.object) == without_ids(streamed)
    assert {k: v for k, v in whole.object.items() if k not in own} == {
        k: v for k, v in streamed.items() if k not in own
    }
    details = "output_tokens_details"
    assert whole.object["usage"][details] == streamed["usage"][details]
    Response.model_validate(whole.object)


@pytest.mark.parametrize(("name", "status"), [("broken_call", 500), ("refused", 400)])
def test_a_failure_without_stream(vllm, name, status):
    """It is an HTTP error, with the code of the stream's."""
    streamed = vllm.ask(CASES[name].request).final
    whole = vllm.ask(CASES[name].request, stream=False)

    assert whole.status == status
    assert whole.object["error"]["code"] == streamed["error"]["code"]
    assert whole.object["error"]["message"] == streamed["error"]["message"]


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("text", 28),
        ("unicode", 21),
        ("hidden_thought", 28),
        ("no_thinking", 0),
        ("cut_thought", 8),
    ],
)
def test_reasoning_tokens(vllm, name, tokens):
    """They are those of the thought: byte tokens too, the markers not."""
    usage = vllm.ask(CASES[name].request).final["usage"]

    assert usage["output_tokens_details"]["reasoning_tokens"] == tokens
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


def test_no_reasoning_tokens_where_the_template_has_closed_the_thought(vllm):
    """Text that comes at once was not thought, whatever the parser was told."""
    final = vllm.ask(input="endless", max_output_tokens=50).final

    assert final["usage"]["output_tokens"] == 50
    assert final["usage"]["output_tokens_details"]["reasoning_tokens"] == 0


@pytest.mark.parametrize("stream", [True, False])
def test_logprobs(vllm, stream):
    """Each token of the text has its own, and nothing else has any."""
    asked = {"include": ["message.output_text.logprobs"], "top_logprobs": 2}
    answer = vllm.ask(input="hi", stream=stream, **asked)
    final = answer.final if stream else answer.object
    (part,) = final["output"][1]["content"]
    tokens = part["logprobs"]

    assert "".join(entry["token"] for entry in tokens) == TEXT
    assert {len(entry["top_logprobs"]) for entry in tokens} == {2}


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "name": "get_weather"}]
)
def test_tool_choice(vllm, choice):
    """A call that was asked for comes as a call."""
    asked = {"input": "weather", "tools": WEATHER, "max_output_tokens": 400}
    answer = vllm.ask(asked, tool_choice=choice)
    calls = [item for item in answer.final["output"] if item["type"] == "function_call"]

    assert answer.recording.findings == ()
    assert [call["name"] for call in calls] == ["get_weather"]
    assert "location" in msgspec.json.decode(calls[0]["arguments"])
    assert answer.final["tool_choice"] == choice


def test_call_ids(vllm):
    """They look as clients expect, and are never the same."""
    items = vllm.ask(CASES["weather"].request).final["output"]
    first, second = (item["call_id"] for item in items if "call_id" in item)

    assert first.startswith("call_")
    assert second.startswith("call_")
    assert first != second


def test_the_response_echoes_its_request(vllm):
    """What the client sent, or defaults; not what vLLM has made of it."""
    asked = {"metadata": {"a": "b"}, "max_output_tokens": None, "instructions": "Be nice."}
    final = vllm.ask(input="hi", **asked).final

    assert final["metadata"] == {"a": "b"}
    assert final["instructions"] == "Be nice."
    assert final["max_output_tokens"] is None
    assert final["tool_choice"] == "auto"
    assert final["text"] == {"format": {"type": "text"}}
    assert final["error"] is None
    assert not {"kv_transfer_params", "input_messages"} & set(final)


def test_vllms_own_additions(vllm):
    """Who asks for the raw tokens gets them, in the last event too."""
    final = vllm.ask(input="hi", enable_response_messages=True).final

    assert final["output_messages"][0]["tokens"]


def test_headers(vllm):
    """Nobody on the way may hold a stream back."""
    headers = vllm.ask(input="hi").headers

    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-cache, no-transform"
    assert headers["x-accel-buffering"] == "no"
    assert headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize(
    ("asked", "status", "param", "code"),
    [
        (b"{", 400, None, "invalid_prompt"),
        ({"model": "tiny"}, 400, "input", "invalid_prompt"),
        ({"model": "other", "input": "hi"}, 404, "model", "model_not_found"),
        (
            {"input": "hi", "previous_response_id": "resp_0"},
            404,
            "response_id",
            "not_found",
        ),
        ({"input": "hi", "max_output_tokens": 0}, 400, "max_tokens", "invalid_prompt"),
        ({"input": "hi " * 40000}, 400, "input_tokens", "context_length_exceeded"),
        ({"input": "hi", "tools": [{"type": "no"}]}, 400, "tools", "invalid_prompt"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_refusals(vllm, asked, status, param, code):
    """What is wrong before the stream is said in OpenAI's shape, and in words."""
    answer = vllm.post("/v1/responses", asked)
    error = answer.object["error"]

    assert (answer.status, error["param"], error["code"]) == (status, param, code)
    assert error["type"] == "invalid_request_error"
    assert error["message"]
    assert "{" not in error["message"]
    assert answer.headers["x-request-id"].startswith("req_")


def test_a_client_that_hangs_up(vllm):
    """The engine stops working for nobody, and vLLM's count of its load is right."""
    before = vllm.metric("generation_tokens_total{")
    with vllm.streaming(input="endless") as response:
        while b"output_text.delta" not in response.readline():
            pass
        loaded = vllm.get("/load").object["server_load"]

    wait_until(lambda: vllm.metric("num_requests_running{") == 0)
    wait_until(lambda: vllm.get("/load").object["server_load"] == 0)
    assert loaded == 1
    assert vllm.metric("generation_tokens_total{") < before + 30_000


def test_the_next_turn(vllm):
    """vLLM's memory of a response holds what was streamed."""
    first = vllm.ask(input="hi").final
    asked = {"input": "and?", "previous_response_id": first["id"]}
    second = vllm.ask(asked, enable_response_messages=True).final

    assert second["previous_response_id"] == first["id"]
    assert TEXT.strip() in second["input_messages"][0]["message"]


def test_a_stored_response(vllm):
    """GET gives the stream's last word."""
    final = vllm.ask(input="hi").final

    assert vllm.get(f"/v1/responses/{final['id']}").object == final


def test_the_official_client(vllm):
    """It accumulates a response of typed items."""
    with (
        vllm.client() as client,
        client.responses.stream(model="tiny", input="hi") as stream,
    ):
        response = stream.get_final_response()

    assert response.output_text == TEXT
    assert response.output[0].content[0].text == THOUGHT


def test_the_official_client_takes_custom_calls(vllm):
    """Their input is plain text."""
    request = {"model": "tiny", **CASES["custom"].request}
    with vllm.client() as client, client.responses.stream(**request) as stream:
        response = stream.get_final_response()

    assert response.output[1].input == PATCH

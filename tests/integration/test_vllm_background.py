"""Responses in the background of a real vLLM server with the plugin."""

from __future__ import annotations

import pytest
from vllm_endless import endless_in_background
from vllm_requests import BACKGROUND, CASES, without_ids
from vllm_server import vllm_fixture, wait_until  # noqa: F401

from responses_stream.recorded import read

pytestmark = pytest.mark.integration


def path(response_id, **query):
    """Where a stored response is."""
    asked = "&".join(f"{key}={value}" for key, value in query.items())
    return f"/v1/responses/{response_id}" + (f"?{asked}" if asked else "")


def settled(vllm, response_id):
    """The response, once it has ended."""
    wait_until(lambda: vllm.get(path(response_id)).object["status"] != "in_progress")
    return vllm.get(path(response_id)).object


def begun(vllm, **more):
    """A response that goes on in the background, made without streaming."""
    return vllm.ask(BACKGROUND, stream=False, input="endless", **more).object


@pytest.mark.parametrize("name", ["weather", "cut_call", "broken_call", "refused"])
def test_a_stream_in_the_background(vllm, name):
    """It is the stream of the foreground, also where it ends badly."""
    case = CASES[name]
    answer = vllm.ask({**BACKGROUND, **case.request})

    assert answer.recording.findings == ()
    assert answer.events[-1]["type"] == f"response.{case.end}"
    assert answer.final["background"] is True
    assert settled(vllm, answer.final["id"]) == answer.final


def test_resume_at_every_number(vllm):
    """The same bytes once more, from behind that number to the end."""
    body = vllm.ask(BACKGROUND, input="emptythink").body
    frames = body.split(b"\n\n")[:-2]
    final = read(body).events[-1]["response"]

    for number in range(len(frames) + 3):
        resumed = vllm.get(path(final["id"], stream="true", starting_after=number))
        expected = [*frames[number + 1 :], b"data: [DONE]", b""]
        assert resumed.body == b"\n\n".join(expected), number
    assert vllm.get(path(final["id"], stream="true")).body == body


def test_resume_while_it_runs(vllm):
    """A reader that comes in the middle is there until the end."""
    made = vllm.ask(BACKGROUND, input="endless", max_output_tokens=300)
    answer = vllm.get(path(made.final["id"], stream="true", starting_after=40))

    assert answer.events[0]["sequence_number"] == 41
    assert read(answer.body, starting_after=40).findings == ()
    assert answer.final == made.final


def test_a_response_in_the_background_without_stream(vllm):
    """It is there at once, in progress, and whole later."""
    made = begun(vllm, max_output_tokens=100)
    ended = settled(vllm, made["id"])
    streamed = vllm.ask(input="endless", max_output_tokens=100).final

    assert (made["status"], made["output"]) == ("in_progress", [])
    assert ended["status"] == "incomplete"
    assert without_ids(ended) == without_ids(streamed)


def test_cancel(vllm):
    """The response is cancelled, for ever, and the engine rests."""
    made = begun(vllm)
    cancelled = vllm.post(path(made["id"]) + "/cancel")
    again = vllm.post(path(made["id"]) + "/cancel")

    assert (cancelled.status, cancelled.object["status"]) == (200, "cancelled")
    assert again.object == cancelled.object == vllm.get(path(made["id"])).object
    wait_until(lambda: vllm.metric("num_requests_running{") == 0)


def test_cancel_ends_the_streams(vllm):
    """Who reads gets a last event, now and later."""
    with vllm.client() as client:
        stream, response_id = endless_in_background(client, temperature=0)
        client.responses.cancel(response_id)
        *_, last = stream
    later = vllm.get(path(response_id, stream="true"))

    assert last.type == "response.failed"
    assert last.response.error.message == "the response was cancelled"
    assert last.response.output[0].status == "incomplete"
    assert later.recording.findings == ()
    assert later.events[-1]["sequence_number"] == last.sequence_number


def test_cancel_of_a_finished_response(vllm):
    """It changes nothing, and is no error."""
    final = vllm.ask(BACKGROUND, input="hi").final
    cancelled = vllm.post(path(final["id"]) + "/cancel")

    assert (cancelled.status, cancelled.object) == (200, final)


def test_the_official_client_resumes(vllm):
    """It goes on behind the last number that it has seen."""
    with vllm.client() as client:
        request = {"model": "tiny", "input": "hi", **BACKGROUND}
        seen = list(client.responses.create(stream=True, **request))
        response_id = seen[0].response.id
        rest = client.responses.retrieve(response_id, stream=True, starting_after=10)
        resumed = list(rest)

    assert resumed == seen[11:]


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"stream": "true", "starting_after": -5}, "starting_after"),
        ({"stream": "true", "starting_after": "x"}, "starting_after"),
    ],
)
def test_refusals(vllm, query, param):
    """A stream that cannot be given is refused before it begins."""
    final = vllm.ask(BACKGROUND, input="hi").final
    answer = vllm.get(path(final["id"], **query))

    assert (answer.status, answer.object["error"]["param"]) == (400, param)


def test_no_stream_of_a_response_that_had_none(vllm):
    """What was made without streaming cannot be streamed later."""
    final = vllm.ask(input="hi").final
    answer = vllm.get(path(final["id"], stream="true"))

    assert (answer.status, answer.object["error"]["param"]) == (400, "stream")


def test_no_cancel_in_the_foreground(vllm):
    """A response that somebody waited for cannot be cancelled by name."""
    final = vllm.ask(input="hi").final
    answer = vllm.post(path(final["id"]) + "/cancel")

    assert (answer.status, answer.object["error"]["param"]) == (400, "response_id")


@pytest.mark.parametrize("query", [{}, {"stream": "true"}])
def test_nobody_knows_it(vllm, query):
    """404, in OpenAI's shape."""
    answer = vllm.get(path("resp_0", **query))
    cancelled = vllm.post(path("resp_0") + "/cancel")

    assert (answer.status, cancelled.status) == (404, 404)
    assert answer.object["error"]["type"] == "invalid_request_error"
    assert answer.object == cancelled.object

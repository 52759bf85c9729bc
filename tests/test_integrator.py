"""A server that somebody wrote from the README alone, and the official client."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import msgspec
import openai
import pytest

from responses_stream import DONE, ResponseStream, encode

FUNCTION = {"type": "function", "name": "get_weather", "parameters": {"type": "object"}}


def parser() -> Iterator[SimpleNamespace]:
    """A parser that is none of ours: attributes, and None where it says nothing."""

    def said(**fields: object) -> SimpleNamespace:
        nothing = {"reasoning": None, "content": None, "tool_calls": None}
        return SimpleNamespace(**(nothing | fields))

    def call(**function: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(index=0, id=None, function=SimpleNamespace(**function))]

    yield said(reasoning="They want ")
    yield said(reasoning="the weather.")
    yield said(content="\n\n")
    yield said(content="I look 🌤️ it up.")
    yield said(tool_calls=call(name="get_weather", arguments=None))
    yield said(tool_calls=call(name=None, arguments='{"city": '))
    yield said(tool_calls=call(name=None, arguments='"Paris"}'))


class Server(BaseHTTPRequestHandler):
    """The three steps of "To put it into a server"."""

    def do_POST(self) -> None:
        """Answers /v1/responses."""
        body = self.rfile.read(int(self.headers["content-length"]))
        stream = ResponseStream(msgspec.json.decode(body))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.write(stream.start())
        for delta in parser():
            self.write(stream.feed(delta))
        self.write(stream.finish("tool_calls"))
        self.write(stream.close())
        self.wfile.write(DONE)

    def write(self, events) -> None:
        self.wfile.write(b"".join(encode(event) for event in events))

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(name="client")
def _client() -> Iterator[openai.OpenAI]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with openai.OpenAI(
        base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none", max_retries=0
    ) as client:
        yield client
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_official_client_accumulates_the_same_response(client):
    """What `responses.stream` returns at the end is what the server streamed."""
    with client.responses.stream(model="m", input="Paris?", tools=[FUNCTION]) as stream:
        events = list(stream)
        final = stream.get_final_response()

    reasoning, message, call = final.output
    assert "They want the weather." == reasoning.content[0].text
    assert "\n\nI look 🌤️ it up." == message.content[0].text == final.output_text
    assert ("get_weather", '{"city": "Paris"}') == (call.name, call.arguments)
    assert call.call_id.startswith("call_")
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.id for item in done] == [item.id for item in final.output]
    assert list(range(len(events))) == [event.sequence_number for event in events]


def test_the_official_client_iterates_over_every_event(client):
    """`create(stream=True)` yields typed events, text in the order it was said."""
    events = list(client.responses.create(model="m", input="Paris?", stream=True))
    text = "".join(e.delta for e in events if e.type == "response.output_text.delta")

    assert "\n\nI look 🌤️ it up." == text
    assert "response.completed" == events[-1].type

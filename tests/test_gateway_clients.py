"""The official SDKs go through a tool round trip with the gateway and its demo model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import agents
import openai
import pytest
from gateway_world import serving
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
)
from pydantic import BaseModel

from responses_stream.gateway.settings import Settings

WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
        "additionalProperties": False,
    },
    "strict": True,
}


@pytest.fixture(scope="module", name="url")
def _url() -> Iterator[str]:
    with serving(Settings(demo_pace=0)) as url:
        yield url


def called(response: Response) -> ResponseFunctionToolCall:
    """The one call of a response."""
    (call,) = (item for item in response.output if item.type == "function_call")
    return call


def answered(response: Response) -> list[Any]:
    """The conversation after the tool has answered."""
    return [
        {"role": "user", "content": "How is the weather?"},
        *(item.model_dump(exclude_none=True) for item in response.output),
        {
            "type": "function_call_output",
            "call_id": called(response).call_id,
            "output": "sunny, 21 degrees",
        },
    ]


def ways(client: openai.OpenAI) -> dict[str, Any]:
    """Every way to ask for a response."""

    def whole(**request: Any) -> Response:
        return client.responses.create(**request)

    def streamed(**request: Any) -> Response:
        events = list(client.responses.create(stream=True, **request))
        assert isinstance(events[-1], ResponseCompletedEvent)
        return events[-1].response

    def accumulated(**request: Any) -> Response:
        with client.responses.stream(**request) as stream:
            return stream.get_final_response()

    return {"create": whole, "create_stream": streamed, "stream": accumulated}


def async_ways(client: openai.AsyncOpenAI) -> dict[str, Any]:
    """The same, asynchronous."""

    async def whole(**request: Any) -> Response:
        return await client.responses.create(**request)

    async def streamed(**request: Any) -> Response:
        stream = await client.responses.create(stream=True, **request)
        events = [event async for event in stream]
        assert isinstance(events[-1], ResponseCompletedEvent)
        return events[-1].response

    async def accumulated(**request: Any) -> Response:
        async with client.responses.stream(**request) as stream:
            return await stream.get_final_response()

    return {"create": whole, "create_stream": streamed, "stream": accumulated}


def check(first: Response, second: Response) -> None:
    """A call with arguments that fit, then an answer that quotes the tool."""
    assert '{"city":"Paris","days":1}' == called(first).arguments
    assert first.usage is not None
    assert "sunny, 21 degrees" in second.output_text
    assert ["reasoning", "message"] == [item.type for item in second.output]


@pytest.mark.parametrize("way", ["create", "create_stream", "stream"])
def test_openai_makes_a_tool_round_trip(url, way):
    """The synchronous client, in each of its three ways."""
    with openai.OpenAI(base_url=url, api_key="x") as client:
        ask = ways(client)[way]
        first = ask(model="demo", input="How is the weather?", tools=[WEATHER])
        second = ask(model="demo", input=answered(first), tools=[WEATHER])

    check(first, second)


@pytest.mark.parametrize("way", ["create", "create_stream", "stream"])
def test_async_openai_makes_a_tool_round_trip(url, way):
    """The asynchronous client, in each of its three ways."""

    async def main() -> tuple[Response, Response]:
        async with openai.AsyncOpenAI(base_url=url, api_key="x") as client:
            ask = async_ways(client)[way]
            first = await ask(model="demo", input="How is the weather?", tools=[WEATHER])
            second = await ask(model="demo", input=answered(first), tools=[WEATHER])
        return first, second

    check(*asyncio.run(main()))


class Title(BaseModel):
    """What the model is to answer."""

    title: str
    words: int


def test_openai_parses_structured_output(url):
    """`responses.parse` gets JSON that fits the schema of its model."""
    with openai.OpenAI(base_url=url, api_key="x") as client:
        response = client.responses.parse(
            model="demo", input="A title, please", text_format=Title
        )

    assert Title(title="A title, please", words=1) == response.output_parsed


def test_openai_lists_the_models(url):
    """`models.list()` understands the body with both lists."""
    with openai.OpenAI(base_url=url, api_key="x") as client:
        assert ["demo"] == [model.id for model in client.models.list()]


def test_openai_raises_the_right_error(url):
    """A bad request is a BadRequestError that names the field."""
    with (
        openai.OpenAI(base_url=url, api_key="x") as client,
        pytest.raises(openai.BadRequestError) as raised,
    ):
        client.responses.create(model="demo", input=[{"role": "king"}])  # type: ignore[list-item]

    assert "input[0].role" == raised.value.param


@pytest.mark.parametrize("streamed", [True, False])
def test_openai_chat_speaks_through_the_gateway(url, streamed):
    """`chat.completions` of the same client gets the chat server's answer."""
    request: Any = {"model": "demo", "messages": [{"role": "user", "content": "Hi"}]}
    with openai.OpenAI(base_url=url, api_key="x") as client:
        if streamed:
            chunks = list(client.chat.completions.create(stream=True, **request))
            deltas = [c.delta for chunk in chunks for c in chunk.choices]
            text = "".join(delta.content or "" for delta in deltas)
        else:
            answer = client.chat.completions.create(**request)
            text = answer.choices[0].message.content or ""

    assert "demo model" in text


@agents.function_tool
def get_weather(city: str, days: int) -> str:
    """The weather of a city."""
    return f"{city}: sunny for {days} day"


@pytest.mark.parametrize("streamed", [True, False])
def test_agents_make_a_tool_round_trip(url, streamed):
    """openai-agents runs the tool, and ends with the answer of the second turn."""

    async def main() -> str:
        agents.set_tracing_disabled(disabled=True)
        async with openai.AsyncOpenAI(base_url=url, api_key="x") as client:
            model = agents.OpenAIResponsesModel("demo", client)
            agent = agents.Agent("Meteo", tools=[get_weather], model=model)
            if not streamed:
                return (await agents.Runner.run(agent, "Weather?")).final_output
            result = agents.Runner.run_streamed(agent, "Weather?")
            async for _ in result.stream_events():
                pass
            return result.final_output

    assert "Paris: sunny for 1 day" in asyncio.run(main())

"""With `--dialect openresponses`: every HTTP demand of clients.md section 1.

The schemas are written down from that page. Like the zod schemas of the compliance suite
they judge each event by its `type`, and let unknown keys pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from gateway_fixtures import server_of
from gateway_scripts import SCRIPTS, STREAMED
from gateway_world import REQUEST, Got, ScriptedServer, ask, serving
from helpers import errors

from responses_stream.gateway.settings import Settings

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
ANY: Schema = {}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def record(optional: dict[str, Schema] | None = None, /, **properties: Schema) -> Schema:
    """An object whose `properties` are all required."""
    return {
        "type": "object",
        "required": list(properties),
        "properties": {**properties, **(optional or {})},
    }


def constant(value: str) -> Schema:
    return {"const": value}


def one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def many(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


LOGPROB = record(token=STRING, logprob=NUMBER, bytes=many(INTEGER), top_logprobs=many(ANY))
TEXT_PART = record(
    {"logprobs": many(LOGPROB)},
    type=constant("output_text"),
    text=STRING,
    annotations=many(ANY),
)
REFUSAL_PART = record(type=constant("refusal"), refusal=STRING)
THOUGHT_PART = record(type=constant("reasoning_text"), text=STRING)
SUMMARY_PART = record(type=constant("summary_text"), text=STRING)
PART: Schema = {"anyOf": [TEXT_PART, REFUSAL_PART, THOUGHT_PART, SUMMARY_PART]}

STATUS = one_of("in_progress", "completed", "incomplete")
MESSAGE = record(
    {"phase": one_of("commentary", "final_answer")},
    type=constant("message"),
    id=STRING,
    status=STATUS,
    role=constant("assistant"),
    content=many({"anyOf": [TEXT_PART, REFUSAL_PART]}),
)
REASONING = record(
    {"content": many(THOUGHT_PART), "encrypted_content": STRING},
    type=constant("reasoning"),
    id=STRING,
    status=STATUS,
    summary=many(SUMMARY_PART),
)
CALL = record(
    type=constant("function_call"),
    id=STRING,
    status=STATUS,
    call_id=STRING,
    name=STRING,
    arguments=STRING,
)
ITEM: Schema = {"anyOf": [MESSAGE, REASONING, CALL]}

ERROR = record(
    type=one_of(
        "server_error", "invalid_request", "not_found", "model_error", "too_many_requests"
    ),
    code=nullable(STRING),
    message=STRING,
    param=nullable(STRING),
)
TOOL = record(
    type=constant("function"),
    name=STRING,
    description=nullable(STRING),
    parameters=nullable({"type": "object"}),
    strict=nullable(BOOLEAN),
)
USAGE = record(
    input_tokens=INTEGER,
    output_tokens=INTEGER,
    total_tokens=INTEGER,
    input_tokens_details=record(cached_tokens=INTEGER),
    output_tokens_details=record(reasoning_tokens=INTEGER),
)
RESPONSE = record(
    id=STRING,
    object=constant("response"),
    created_at=INTEGER,
    completed_at=nullable(INTEGER),
    status=one_of("queued", "in_progress", "completed", "failed", "incomplete"),
    incomplete_details=nullable(record(reason=STRING)),
    model=STRING,
    previous_response_id=nullable(STRING),
    instructions=nullable(STRING),
    output=many(ITEM),
    error=nullable(ERROR),
    tools=many(TOOL),
    tool_choice=ANY,
    truncation=one_of("auto", "disabled"),
    parallel_tool_calls=BOOLEAN,
    text=record(format=record(type=STRING)),
    top_p=NUMBER,
    presence_penalty=NUMBER,
    frequency_penalty=NUMBER,
    top_logprobs=INTEGER,
    temperature=NUMBER,
    reasoning=nullable(record(effort=ANY, summary=ANY)),
    usage=nullable(USAGE),
    max_output_tokens=nullable(INTEGER),
    max_tool_calls=nullable(INTEGER),
    store=BOOLEAN,
    background=BOOLEAN,
    service_tier=STRING,
    metadata=ANY,
    safety_identifier=nullable(STRING),
    prompt_cache_key=nullable(STRING),
)

IN_ITEM = {"item_id": STRING, "output_index": INTEGER}
IN_CONTENT = {**IN_ITEM, "content_index": INTEGER}
IN_SUMMARY = {**IN_ITEM, "summary_index": INTEGER}
LOGPROBS = {"logprobs": many(LOGPROB)}
EVENTS: dict[str, dict[str, Schema]] = {
    **{
        f"response.{state}": {"response": RESPONSE}
        for state in ("created", "in_progress", "completed", "incomplete", "failed")
    },
    "response.output_item.added": {"output_index": INTEGER, "item": ITEM},
    "response.output_item.done": {"output_index": INTEGER, "item": ITEM},
    "response.content_part.added": {**IN_CONTENT, "part": PART},
    "response.content_part.done": {**IN_CONTENT, "part": PART},
    "response.output_text.delta": {**IN_CONTENT, "delta": STRING, **LOGPROBS},
    "response.output_text.done": {**IN_CONTENT, "text": STRING, **LOGPROBS},
    "response.output_text.annotation.added": {
        **IN_CONTENT,
        "annotation_index": INTEGER,
        "annotation": ANY,
    },
    "response.refusal.delta": {**IN_CONTENT, "delta": STRING},
    "response.refusal.done": {**IN_CONTENT, "refusal": STRING},
    "response.reasoning.delta": {**IN_CONTENT, "delta": STRING},
    "response.reasoning.done": {**IN_CONTENT, "text": STRING},
    "response.reasoning_summary_part.added": {**IN_SUMMARY, "part": SUMMARY_PART},
    "response.reasoning_summary_part.done": {**IN_SUMMARY, "part": SUMMARY_PART},
    "response.reasoning_summary_text.delta": {**IN_SUMMARY, "delta": STRING},
    "response.reasoning_summary_text.done": {**IN_SUMMARY, "text": STRING},
    "response.function_call_arguments.delta": {**IN_ITEM, "delta": STRING},
    "response.function_call_arguments.done": {**IN_ITEM, "arguments": STRING},
}
"""What each event requires, besides `type` and `sequence_number`."""

VALIDATORS = {
    kind: jsonschema.Draft202012Validator(
        record(type=constant(kind), sequence_number=INTEGER, **properties)
    )
    for kind, properties in EVENTS.items()
}
WHOLE = jsonschema.Draft202012Validator(RESPONSE)

FUNCTIONS = {**REQUEST, "tools": REQUEST["tools"][:2]}
"""Only function tools are in the schema."""

_server = server_of(SCRIPTS)


@pytest.fixture(scope="module", name="url", params=["text", "summary", "both"])
def _url(server: ScriptedServer, request: pytest.FixtureRequest) -> Iterator[str]:
    settings = Settings(
        upstream=server.url,
        linger=0.1,
        dialect="openresponses",
        reasoning=request.param,
    )
    with serving(settings) as url:
        yield url


def judge(got: Got) -> None:
    """Every event fits its schema; the order is the one that is demanded."""
    for wire in got.events:
        assert wire["type"] in VALIDATORS
        VALIDATORS[wire["type"]].validate(wire)
    numbers = [wire["sequence_number"] for wire in got.events]
    assert numbers == sorted(set(numbers))
    kinds = [wire["type"] for wire in got.events]
    assert 1 == kinds.count("response.in_progress")
    last = got.events[-1]["response"]
    for item in last["output"][:-1]:
        # An incomplete item is the last one, and the response is not complete then.
        assert "completed" == item["status"]
    if last["status"] == "completed":
        assert all(item["status"] == "completed" for item in last["output"])


@pytest.mark.parametrize("name", STREAMED)
def test_each_script_fits_the_schemas(url, name):
    """Names, required keys, no nulls where none may be, one in_progress, `[DONE]`."""
    got = ask(url, model=name, stream=True, **FUNCTIONS)

    judge(got)
    assert [] == errors(got.events)
    assert got.body.startswith(b"event: response.created\n")


def test_the_whole_response_fits_its_schema(url):
    """Without `stream`, too."""
    got = ask(url, model="reasoning", **FUNCTIONS)

    WHOLE.validate(got.json)


@pytest.mark.parametrize("name", ["http_400", "http_404", "http_429", "http_500_page"])
def test_errors_have_types_of_their_own(url, name):
    """`{type, code, message, param}`, with the types of the specification."""
    got = ask(url, model=name, **FUNCTIONS)

    jsonschema.Draft202012Validator(ERROR).validate(got.error)


def test_a_failure_has_its_type(url):
    """Within the stream, too."""
    got = ask(url, model="rate_limit_in_stream", stream=True, **FUNCTIONS)

    assert "too_many_requests" == got.response["error"]["type"]


@pytest.mark.parametrize("key", ["completed_at", "temperature", "store", "usage"])
def test_the_schema_can_fail(url, key):
    """A key that is missing is found missing."""
    got = ask(url, model="plain", stream=True, **FUNCTIONS)
    wire = got.events[-1]
    del wire["response"][key]

    with pytest.raises(jsonschema.ValidationError):
        VALIDATORS[wire["type"]].validate(wire)

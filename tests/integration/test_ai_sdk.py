"""The AI SDK, whose zod schemas judge every event (tests/integration/ai_sdk/client.js)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from servers import ROOT, Reply, answering, chatting

from responses_stream import SSEDecoder

pytestmark = pytest.mark.integration

HERE = Path(__file__).parent
SNAPSHOTS = {path.stem: path for path in sorted((ROOT / "snapshots").glob("*.sse"))}

Part = dict[str, Any]


def parts_by_url(urls: list[str], **asked: Any) -> dict[str, list[Part]]:
    """What the AI SDK shows of the streams at these base URLs."""
    defaults = {"provider": "openai", "steps": 3, "store": False}
    command = ["node", HERE / "ai_sdk" / "client.js"]
    done = subprocess.run(
        [*command, json.dumps(defaults | asked | {"urls": urls})],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[Part]] = {url: [] for url in urls}
    for line in done.stdout.splitlines():
        url, part = json.loads(line)
        found[url].append(part)
    return found


def parts(url: str, **asked: Any) -> list[Part]:
    """What the AI SDK shows of one stream."""
    return parts_by_url([url], **asked)[url]


def kinds(found: list[Part]) -> set[str]:
    """Which there are."""
    return {part["type"] for part in found}


def of_kind(kind: str, found: list[Part]) -> list[Part]:
    """Those of one kind."""
    return [part for part in found if part["type"] == kind]


def text(kind: str, found: list[Part]) -> str:
    """All `text`, or all `reasoning`."""
    return "".join(part["text"] for part in of_kind(f"{kind}-delta", found))


def finish(found: list[Part]) -> str:
    """How the last step ended."""
    return of_kind("finish", found)[-1]["finishReason"]


# A model -----------------------------------------------------------------------------


def test_thoughts_and_text(gateway):
    """Both are shown, and nothing is found wrong."""
    found = parts(gateway("--reasoning", "both"))

    assert "error" not in kinds(found)
    assert text("reasoning", found).startswith("The user writes: “Paris, please”.")
    assert text("text", found).startswith("You said: “Paris, please”.")
    assert finish(found) == "stop"


def test_function_tool_round_trip(gateway):
    """The tool is called with what the model says, and the answer quotes what it gives."""
    found = parts(gateway("--reasoning", "both"), tool="weather")
    [result] = of_kind("tool-result", found)

    assert set() == {"error", "tool-error"} & kinds(found)
    assert result["input"] == {"city": "Paris"}
    assert text("text", found) == "Done. The tool said: “it is sunny in Paris”"
    assert [step["finishReason"] for step in of_kind("finish-step", found)] == [
        "tool-calls",
        "stop",
    ]


def test_custom_tool_round_trip(gateway):
    """A custom tool gets raw text, and its output goes back."""
    found = parts(gateway(), tool="shout")
    [result] = of_kind("tool-result", found)

    assert set() == {"error", "tool-error"} & kinds(found)
    assert result["input"] == "Paris, please"
    assert text("text", found) == "Done. The tool said: “Paris, please!”"
    assert finish(found) == "stop"


@pytest.mark.parametrize("reasoning", ["text", "summary", "both"])
def test_open_responses(gateway, reasoning):
    """The AI SDK's other client completes a tool round trip too, in the other dialect.

    It knows thoughts by the names of that dialect only where they are summaries.
    """
    url = gateway("--dialect", "openresponses", "--reasoning", reasoning)
    found = parts(url, provider="open-responses", tool="weather")
    thoughts = "I shall call weather and see.The tool has answered; I shall say what."

    assert set() == {"error", "tool-error"} & kinds(found)
    assert ("" if reasoning == "text" else thoughts) == text("reasoning", found)
    assert text("text", found) == "Done. The tool said: “it is sunny in Paris”"
    assert finish(found) == "stop"


def test_references_to_what_nobody_stored(gateway):
    """By default the AI SDK sends references in its second step; the error says why not."""
    found = parts(gateway(), tool="weather", store=True)
    [error] = of_kind("error", found)

    assert "item_reference" in error["error"]
    assert "stores nothing" in error["error"]


# Bad ends ----------------------------------------------------------------------------


def call(name: str, arguments: str) -> Part:
    """A chat delta with all that there is of a call."""
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": "call_a", "function": function}]}


def test_cut_off_text(gateway):
    """A response that is incomplete ends as `length`, its text kept."""
    with chatting([{"content": "Once upon"}], "length") as upstream:
        found = parts(gateway("--upstream", upstream))

    assert "error" not in kinds(found)
    assert text("text", found) == "Once upon"
    assert finish(found) == "length"


def test_cut_off_function_call(gateway):
    """A tool is not run with half of its arguments."""
    with chatting([call("weather", '{"city": "Par')], "length") as upstream:
        found = parts(gateway("--upstream", upstream), tool="weather", steps=1)

    assert set() == {"error", "tool-result"} & kinds(found)
    assert [part["invalid"] for part in of_kind("tool-call", found)] == [True]
    assert finish(found) == "length"


def test_cut_off_custom_call(gateway):
    """A custom tool is not run with half of its input.

    The AI SDK's schema knows no custom call that is not `completed`. Half a text is a text,
    so this error is all that keeps it from running the tool.
    """
    with chatting([call("shout", '{"input": "Par')], "length") as upstream:
        found = parts(gateway("--upstream", upstream), tool="shout")
    [error] = of_kind("error", found)

    assert "TypeValidationError" in error["error"]
    assert "tool-result" not in kinds(found)
    assert finish(found) == "error"


def test_failed(gateway):
    """What the upstream died of is told, and what it said before is kept."""
    with chatting([{"content": "Once upon"}], "error") as upstream:
        found = parts(gateway("--upstream", upstream))
    [error] = of_kind("error", found)

    assert "the model server ended with 'error'" in error["error"]
    assert text("text", found) == "Once upon"
    assert finish(found) == "error"


def test_unreachable(gateway):
    """Nobody answers for the upstream: the request fails, and says of what."""
    found = parts(gateway("--upstream", "http://127.0.0.1:9"))
    [error] = of_kind("error", found)

    assert "the model server cannot be reached" in error["error"]


# Every transcript ----------------------------------------------------------------------


def events_of(name: str) -> list[dict[str, Any]]:
    """What a snapshot says."""
    frames = SSEDecoder().feed(SNAPSHOTS[name].read_bytes())
    return [json.loads(frame.data) for frame in frames if frame.data != "[DONE]"]


@pytest.fixture(scope="module", name="shown")
def _shown() -> dict[str, list[Part]]:
    """What the AI SDK shows of each snapshot, by its name."""

    def answer(path: str, _body: bytes) -> Reply:
        return Reply([SNAPSHOTS[path.split("/")[1]].read_bytes()])

    found: dict[str, list[Part]] = {}
    with answering(answer) as base:
        for provider in ("openai", "open-responses"):
            names = [name for name in SNAPSHOTS if provider_of(name) == provider]
            urls = [f"{base}/{name}" for name in names]
            shown = parts_by_url(urls, provider=provider, steps=1)
            found |= {url.rpartition("/")[2]: parts for url, parts in shown.items()}
    return found


def provider_of(name: str) -> str:
    """Which client of the AI SDK reads the dialect of a snapshot."""
    return "open-responses" if name.startswith("openresponses") else "openai"


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_snapshot(name, shown):
    """The AI SDK finds nothing wrong, shows the whole text, and how it ended."""
    found, events = shown[name], events_of(name)
    words = ("response.output_text.delta", "response.refusal.delta")
    texts = [event["delta"] for event in events if event["type"] in words]
    errors = [part["error"] for part in of_kind("error", found)]
    response = events[-1]["response"]

    assert "".join(texts) == text("text", found)
    if response["status"] == "failed":
        [error] = errors
        assert response["error"]["message"] in error
    else:
        assert errors == []
        assert finish(found) in ends(response)


def ends(response: dict[str, Any]) -> set[str]:
    """What the AI SDK may call the end of a response that did not fail."""
    match response:
        case {"incomplete_details": {"reason": "max_output_tokens"}}:
            return {"length"}
        case {"incomplete_details": {"reason": "content_filter"}}:
            return {"content-filter"}
    if any(item["type"].endswith("_call") for item in response["output"]):
        return {"tool-calls"}
    return {"content-filter"} if b"refusal" in msgspec.json.encode(response) else {"stop"}

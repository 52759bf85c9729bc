"""Transcripts as they were recorded: each judged, and its faults found again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers import frames, run

from responses_stream.delta_script import play
from responses_stream.recorded import read
from responses_stream.sse import encode

RECORDINGS = Path(__file__).parent / "recordings"

# What vLLM 0.32 sends lacks keys of the response object (vllm.md, warts 19 and 20).
VLLM = {"response-keys"}
# Its calls and reasoning have no status when they are announced.
VLLM_CUSTOM = VLLM | {"item-keys"}
# `response.completed` of a cut response, whose items say that they are whole (4 and 5).
CUT = {"status", "truncated-item"}
# White space alone as an item (15).
BLANK = VLLM | {"phantom"}

VERDICTS: dict[str, tuple[set[str], set[str]]] = {
    "vllm_transcripts/bg_get_stream_after40.sse": (set(), VLLM),
    "vllm_transcripts/custom_tool.sse": (set(), VLLM_CUSTOM | BLANK),
    "vllm_transcripts/empty_think.sse": (set(), BLANK),
    "vllm_transcripts/engine_crash.sse": ({"no-end", "unclosed"}, VLLM),
    "vllm_transcripts/logprobs.sse": (set(), VLLM | {"logprobs"}),
    "vllm_transcripts/no_reasoning.sse": (set(), VLLM),
    "vllm_transcripts/only_tool.sse": (set(), BLANK),
    "vllm_transcripts/reasoning_text.sse": (set(), VLLM),
    "vllm_transcripts/text_only.sse": (set(), VLLM),
    "vllm_transcripts/trunc_text.sse": (CUT, VLLM),
    "vllm_transcripts/trunc_tool.sse": (CUT, VLLM),
    "vllm_transcripts/two_tools.sse": (set(), VLLM),
    "vllm_pr38227_paris_london.sse": ({"final-output"}, VLLM),
}
"""The error rules and the warning rules that each recording breaks."""
RESUMED = {"vllm_transcripts/bg_get_stream_after40.sse": 40}

CLEAN = frames(run([{"content": "Hi"}, {"finish_reason": "stop"}]))


def rules(body: bytes) -> list[str]:
    """The rules that a body breaks."""
    return [finding.violation.rule for finding in read(body).findings]


def verdict(name: str) -> tuple[set[str], set[str]]:
    """The error rules and the warning rules that a recording breaks."""
    recording = read((RECORDINGS / name).read_bytes(), starting_after=RESUMED.get(name))
    broken = {(found.violation.level, found.violation.rule) for found in recording.findings}
    return tuple({r for level, r in broken if level == of} for of in ("error", "warning"))


def test_every_recording_has_a_verdict():
    """A new one must not lie there unjudged."""
    found = {str(path.relative_to(RECORDINGS)) for path in RECORDINGS.rglob("*.sse")}

    assert set(VERDICTS) == {name for name in found if name.startswith("vllm")}


@pytest.mark.parametrize("name", VERDICTS)
def test_the_verdict_on_a_recording(name):
    """As vllm.md section 4 gives it."""
    assert VERDICTS[name] == verdict(name)


def test_the_pull_request_is_told_which_ids_differ():
    """Each item of its final payload has another id than the stream."""
    body = (RECORDINGS / "vllm_pr38227_paris_london.sse").read_bytes()

    messages = [found.violation.message for found in read(body).findings]
    ids = {message.split()[0] for message in messages if "id is" in message}
    assert {
        *(f"output[{index}].id" for index in range(3)),
        *(f"output[{index}].call_id" for index in (1, 2)),
    } == ids


@pytest.mark.parametrize("order", ["strict", "interleaved"])
@pytest.mark.parametrize("dialect", ["openai", "openresponses"])
@pytest.mark.parametrize("reasoning", ["text", "summary", "both"])
@pytest.mark.parametrize(
    "script", sorted((RECORDINGS / "vllm_deltas").iterdir()), ids=lambda path: path.stem
)
def test_recorded_deltas_give_clean_transcripts(script, order, dialect, reasoning):
    """What a real vLLM's parsers said, in every way that we can say it."""
    with script.open("rb") as lines:
        steps = play(lines, order=order, dialect=dialect, reasoning=reasoning)
        body = b"".join(encode(event) for events in steps for event in events)

    assert not rules(body)


def test_a_clean_body_is_clean():
    """Every event is there, `[DONE]` is none."""
    recording = read(CLEAN)

    assert not recording.findings
    assert 9 == len(recording.events)
    assert 0 == recording.count("error") == recording.count("warning")


def without_event_lines(body: bytes) -> bytes:
    """The body as a server writes it that sends only data."""
    return b"".join(ln for ln in body.splitlines(keepends=True) if ln[:6] != b"event:")


@pytest.mark.parametrize(
    "body",
    [
        CLEAN.replace(b"\n", b"\r\n"),
        without_event_lines(CLEAN),
        CLEAN.removesuffix(b"data: [DONE]\n\n"),
        b": a comment\n\n" + CLEAN,
    ],
    ids=["crlf", "no event lines", "no done", "comment"],
)
def test_bodies_that_all_clients_read(body):
    """Servers differ in these."""
    assert not rules(body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"\xef\xbb\xbf" + CLEAN, "a byte order mark"),
        (CLEAN.replace(b"\n", b"\r"), "CR alone"),
        (CLEAN.replace(b"Hi", b"\xff"), "not UTF-8"),
        (CLEAN + b"data: {}\n\n", r"behind \[DONE\]"),
        (b"data: {\n\n" + CLEAN, "not JSON"),
        (b"data: 5\n\n" + CLEAN, "expected an object"),
        (b"data: " + b"[" * 100_000 + b"\n\n" + CLEAN, "not JSON"),
        (
            CLEAN.replace(b"event: response.created", b"event: created"),
            "event is 'created'",
        ),
        (CLEAN[:-1], "no blank line"),
    ],
    ids=range(9),
)
def test_what_is_wrong_with_frames(body, message):
    """It breaks some client before any event is judged."""
    found = [f.violation for f in read(body).findings if f.violation.rule == "frame"]

    assert re.search(message, found[0].message)


def test_a_finding_has_the_line_of_its_event():
    """So that an editor can go there."""
    recording = read(CLEAN.replace(b'"delta":"Hi"', b'"delta":"Ho"'))

    line = CLEAN[: CLEAN.index(b"event: response.output_text.done")].count(b"\n") + 1
    assert line == recording.findings[0].line


def test_a_missing_end_is_found_on_the_last_line():
    """Where something should have followed."""
    body = CLEAN[: CLEAN.index(b"event: response.completed")]

    assert [("no-end", 25)] == [(f.violation.rule, f.line) for f in read(body).findings]


@pytest.mark.parametrize("body", [b"", b"\n", b"data: [DONE]\n\n", b"\x00\xff", b"<html>"])
def test_what_is_no_transcript_has_no_end(body):
    """Nothing is raised."""
    assert "no-end" in rules(body)


def test_a_strange_retry_is_no_reason_to_crash():
    """Nothing in a body is."""
    assert not rules(b"retry: " + b"9" * 5000 + b"\n\n" + CLEAN)

"""Content parts, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from responses_stream.chat.content import content_parts, output_parts
from responses_stream.chat.fields import InvalidRequest

Part = dict[str, Any]


def image(**fields: str) -> Part:
    """An image part of chat."""
    return {"type": "image_url", "image_url": fields}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "input_text", "text": "a"}, {"type": "text", "text": "a"}),
        (
            {"type": "output_text", "text": "a", "annotations": [], "logprobs": []},
            {"type": "text", "text": "a"},
        ),
        ({"type": "text", "text": "a", "x": 1}, {"type": "text", "text": "a"}),
        ({"type": "refusal", "refusal": "no"}, {"type": "text", "text": "no"}),
        (
            {"type": "input_image", "image_url": "u", "detail": "high"},
            image(url="u", detail="high"),
        ),
        (
            {"type": "input_image", "image_url": "u", "detail": "original"},
            image(url="u", detail="high"),
        ),
        (
            {"type": "input_image", "image_url": "u", "detail": "low"},
            image(url="u", detail="low"),
        ),
        ({"type": "input_image", "image_url": "u", "detail": "auto"}, image(url="u")),
        ({"type": "input_image", "image_url": "u"}, image(url="u")),
        ({"type": "computer_screenshot", "image_url": "u"}, image(url="u")),
        (
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:,"},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:,"}},
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
            {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
        ),
        (
            {"type": "video_url", "video_url": {"url": "u"}},
            {"type": "video_url", "video_url": {"url": "u"}},
        ),
        ({"type": "from_the_future", "x": 1}, {"type": "from_the_future", "x": 1}),
    ],
)
def test_parts(part: Part, expected: Part) -> None:
    """Text is text; an image has the details that chat knows; the rest goes through."""
    assert content_parts([part], "content") == [expected]


@pytest.mark.parametrize(
    "kind", ["image_url", "input_audio", "audio_url", "video_url", "file"]
)
def test_outputs_may_have_the_parts_of_chat(kind: str) -> None:
    """What a chat server may know is shown; other JSON is told in words."""
    part, other = {"type": kind, kind: {}}, {"type": "their_own"}

    assert output_parts([part, other], "output") == [
        part,
        {"type": "text", "text": '{"type": "their_own"}'},
    ]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"text": "a"}, "content[0].type: found nothing, expected a string"),
        (
            {"type": "input_image", "file_id": "file_1"},
            (
                "content[0].image_url: found nothing, expected a URL or a data URL "
                "(this server keeps no files)"
            ),
        ),
        (
            {"type": "input_file", "file_url": "https://example.org/a.pdf"},
            (
                'content[0].file_url: found "https://example.org/a.pdf", '
                "expected file_data instead"
            ),
        ),
    ],
)
def test_errors_name_the_part(part: Part, message: str) -> None:
    """The path leads to the field that chat cannot do without."""
    with pytest.raises(InvalidRequest) as caught:
        content_parts([part], "content")

    assert caught.value.message == message

"""Content parts: what a Responses item says, as the parts of a chat message.

A chat server takes images only from a user message (and most of them refuse a tool
message that holds anything but text), so what is said splits in two: its text, which
any role may say, and its attachments, which have to follow in a user message.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from .fields import Fields, kind_of, objects, text_field, unexpected

Part = dict[str, Any]
"""One content part of a chat message."""

IMAGE_DETAILS: Final[Mapping[object, str]] = {
    "low": "low",
    "high": "high",
    # The nearest that chat has: SGLang refuses a message with any other word.
    "original": "high",
}
"""What is asked of an image beyond the default, in the words of chat."""


def content_parts(content: object, param: str) -> list[Part]:
    """The chat parts that say what `content` says, a string or a list of parts."""
    if isinstance(content, str):
        return [text_part(content)]
    if not isinstance(content, list | tuple):
        raise unexpected(content, "a string or a list of parts", param)
    return [_part(part, path) for part, path in objects(content, param)]


def output_parts(output: object, param: str) -> list[Part]:
    """The chat parts that say what a tool said.

    That is a string or a list of parts by contract, but any JSON can be told.
    """
    if output is None:
        return []
    if not isinstance(output, list | tuple):
        return [_output_part(output, param)]
    return [_output_part(part, f"{param}[{i}]") for i, part in enumerate(output)]


def _output_part(output: object, param: str) -> Part:
    if isinstance(output, str):
        return text_part(output)
    if isinstance(output, Mapping) and kind_of(output) in _PARTS:
        return _part(output, param)
    return text_part(json_text(output))


def json_text(value: object) -> str:
    """`value` as JSON, the way that models write it."""
    return json.dumps(value, ensure_ascii=False)


def text_part(text: str) -> Part:
    """The chat part that says `text`."""
    return {"type": "text", "text": text}


def text_of(parts: Iterable[Part]) -> str:
    """What `parts` say in words, one part a line, which is how servers join them."""
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def attachments_of(parts: Iterable[Part]) -> list[Part]:
    """What `parts` hold besides text."""
    return [part for part in parts if part["type"] != "text"]


def _part(part: Fields, param: str) -> Part:
    # Whether an unknown part can be told is for the upstream server to say.
    return _PARTS.get(text_field(part, "type", param), _as_it_is)(part, param)


def _text(part: Fields, param: str) -> Part:
    return text_part(text_field(part, "text", param))


def _refusal(part: Fields, param: str) -> Part:
    # Chat has a part for it too, which SGLang and llama.cpp do not know.
    return text_part(text_field(part, "refusal", param))


def _image(part: Fields, param: str) -> Part:
    url = part.get("image_url")
    if not isinstance(url, str):
        expected = "a URL or a data URL (this server keeps no files)"
        raise unexpected(url, expected, f"{param}.image_url")
    detail = part.get("detail")
    image = {"url": url}
    if isinstance(detail, str) and detail in IMAGE_DETAILS:
        image["detail"] = IMAGE_DETAILS[detail]
    return {"type": "image_url", "image_url": image}


def _file(part: Fields, param: str) -> Part:
    if part.get("file_url") is not None:
        raise unexpected(part["file_url"], "file_data instead", f"{param}.file_url")
    names = ("file_data", "file_id", "filename")
    file = {name: part[name] for name in names if part.get(name) is not None}
    return {"type": "file", "file": file}


def _as_it_is(part: Fields, _param: str) -> Part:
    return dict(part)


_PARTS: Final[Mapping[str, Callable[[Fields, str], Part]]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "summary_text": _text,
    "reasoning_text": _text,
    "refusal": _refusal,
    "input_image": _image,
    "computer_screenshot": _image,
    "input_file": _file,
    # The words of chat itself, from a client that mixes the two.
    "image_url": _as_it_is,
    "input_audio": _as_it_is,
    "audio_url": _as_it_is,
    "video_url": _as_it_is,
    "file": _as_it_is,
}

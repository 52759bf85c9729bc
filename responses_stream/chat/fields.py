"""Reading the fields of a request: the value, or an error that says what was there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

Fields = Mapping[str, Any]
"""One JSON object of the request."""

LONGEST_QUOTE: Final = 40
"""Of a wrong value, in a message: a data URL may have megabytes."""


class InvalidRequest(ValueError):  # noqa: N818 - on the wire `invalid_request_error`
    """The request is not one that a chat server could answer; to be answered by 400.

    `param` is the path of the field at fault, such as `input[3].content[0].image_url`.
    """

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


def unexpected(found: object, expected: str, param: str) -> InvalidRequest:
    """The error for a field that holds something else than it should."""
    return InvalidRequest(f"{param}: found {_named(found)}, expected {expected}", param)


def _named(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case Mapping():
            return "an object"
        case list():
            return "a list"
        case str() if len(value) > LONGEST_QUOTE:
            return f"{json.dumps(value[:LONGEST_QUOTE])}..."
        case _:
            return json.dumps(value, default=repr)


def text_field(fields: Fields, name: str, param: str = "") -> str:
    """The string that `fields`, to be found at `param`, must have under `name`."""
    value = fields.get(name)
    if not isinstance(value, str):
        raise unexpected(value, "a string", f"{param}.{name}" if param else name)
    return value


def kind_of(fields: Fields) -> str:
    """The `type` of `fields`; empty where it has none that could be looked up."""
    kind = fields.get("type")
    return kind if isinstance(kind, str) else ""


def object_field(fields: Fields, name: str, param: str = "") -> Fields:
    """The object that `fields` may have under `name`; an empty one if it has none."""
    value = fields.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise unexpected(value, "an object", f"{param}.{name}" if param else name)
    return value


def objects(value: object, param: str) -> Iterator[tuple[Fields, str]]:
    """Each object of the list `value`, with its path."""
    if not isinstance(value, list | tuple):
        raise unexpected(value, "a list", param)
    for position, entry in enumerate(value):
        path = f"{param}[{position}]"
        if not isinstance(entry, Mapping):
            raise unexpected(entry, "an object", path)
        yield entry, path

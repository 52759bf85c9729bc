"""A JSON value that fits a JSON schema: what the demo model writes where one is due.

Schemas come from clients, so nothing in one is believed to have the right type or a
sensible size; where it has not, the value may not fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

Schema = Mapping[str, Any]

DEEPEST: Final = 8
"""Where a schema that holds itself is given up."""

MOST_VALUES: Final = 1000
"""How many values one example may hold."""

LONGEST: Final = 10_000
"""Of strings and arrays."""

FORMATS: Final[Mapping[str, str]] = {
    "date": "2026-11-20",
    "time": "12:00:00Z",
    "date-time": "2026-11-20T12:00:00Z",
    "email": "ada@example.com",
    "uri": "https://example.com/",
    "uuid": "7f5cf4d2-5b0b-4f0e-8d8e-0a7a3f3c1b9e",
    "ipv4": "127.0.0.1",
    "hostname": "example.com",
}

WORDS: Final[Mapping[str, str]] = {
    "city": "Paris",
    "location": "Paris",
    "place": "Paris",
    "country": "France",
    "name": "Ada",
    "path": "README.md",
    "file": "README.md",
    "url": "https://example.com/",
    "language": "en",
    "unit": "celsius",
    "timezone": "Europe/Paris",
    "cmd": "echo hello from responses_stream",
    "command": "echo hello from responses_stream",
}
"""What a string of this name would hold. Harmless, whatever tool gets it."""


class Example:
    """Makes a value for a schema.

    `topic` is what strings are about that no other rule knows anything of.
    """

    def __init__(self, schema: Schema, topic: str) -> None:
        self._root = schema
        self._topic = topic
        self._left = MOST_VALUES

    def value(self) -> Any:
        """A value that fits the whole schema, as far as it is understood."""
        return self._value(self._root, "", 0)

    def _value(self, schema: object, name: str, depth: int) -> Any:
        self._left -= 1
        if depth > DEEPEST or self._left < 0:
            return None
        plain = self._plain(schema, depth)
        if "const" in plain:
            return plain["const"]
        if options := _list(plain, "enum"):
            return options[0]
        match _kind(plain):
            case "object":
                value: Any = self._object(plain, depth)
            case "array":
                value = self._array(plain, name, depth)
            case "integer" | "number":
                value = _number(plain)
            case "boolean":
                value = False
            case "null":
                value = None
            case _:
                value = self._string(plain, name)
        return value

    def _plain(self, schema: object, depth: int) -> Schema:
        """`schema` with references followed, and the first of its choices taken."""
        plain = dict(_mapping(schema))
        for _ in range(DEEPEST - depth + 1):
            if "$ref" in plain:
                plain = {**self._at(plain.pop("$ref")), **plain}
            elif "allOf" in plain:
                for option in _list(plain, "allOf", pop=True):
                    plain |= _mapping(option)
            else:
                choices = [
                    *_list(plain, "anyOf", pop=True),
                    *_list(plain, "oneOf", pop=True),
                ]
                if not choices:
                    break
                plain = {**_mapping(choices[0]), **plain}
        return plain

    def _at(self, where: object) -> Schema:
        """What a reference means."""
        found: object = self._root
        for step in str(where).removeprefix("#").split("/")[1:]:
            found = _mapping(found).get(step.replace("~1", "/").replace("~0", "~"))
        return _mapping(found)

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        properties = _mapping(schema.get("properties"))
        names = [name for name in _list(schema, "required") if isinstance(name, str)]
        return {
            name: self._value(properties.get(name), name, depth + 1)
            for name in names or properties
        }

    def _array(self, schema: Schema, name: str, depth: int) -> list[Any]:
        before = self._left
        entry = self._value(schema.get("items"), name, depth + 1)
        each = before - self._left
        # Arrays in arrays multiply: each copy of an entry counts for all that it holds.
        most = min(_size(schema, "maxItems", LONGEST), 1 + max(0, self._left) // each)
        entries = [entry] * min(max(1, _size(schema, "minItems", 0)), most)
        self._left -= each * max(0, len(entries) - 1)
        return entries

    def _string(self, schema: Schema, name: str) -> str:
        form = schema.get("format")
        text = FORMATS.get(form) if isinstance(form, str) else None
        text = text or WORDS.get(name) or self._topic
        text = _shortened(text, _size(schema, "maxLength", LONGEST))
        return text.ljust(_size(schema, "minLength", 0), ".")


def _shortened(text: str, most: int) -> str:
    """As many words of `text` as `most` characters hold; of a long one its beginning."""
    if len(text) <= most:
        return text
    whole_words = text[: most + 1].rpartition(" ")[0].rstrip()
    return whole_words or text[:most]


def _mapping(value: object) -> Schema:
    return value if isinstance(value, Mapping) else {}


def _list(schema: Any, key: str, *, pop: bool = False) -> list[Any]:
    value = schema.pop(key, None) if pop else schema.get(key)
    return value if isinstance(value, list) else []


def _size(schema: Schema, key: str, default: int) -> int:
    size = schema.get(key)
    return min(size, LONGEST) if type(size) is int and size >= 0 else default


def _kind(schema: Schema) -> object:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    if kind is None and "properties" in schema:
        return "object"
    return "array" if kind is None and "items" in schema else kind


def _number(schema: Schema) -> float:
    """A whole number if one fits: codex refuses 1000.0 for an integer."""
    bounds = {key: n for key, n in schema.items() if type(n) in (int, float)}
    least, most = -math.inf, math.inf
    if "minimum" in bounds:
        least = math.ceil(bounds["minimum"])
    if "exclusiveMinimum" in bounds:
        least = max(least, math.floor(bounds["exclusiveMinimum"]) + 1)
    if "maximum" in bounds:
        most = math.floor(bounds["maximum"])
    if "exclusiveMaximum" in bounds:
        most = min(most, math.ceil(bounds["exclusiveMaximum"]) - 1)
    if least > most:
        return float(bounds.get("minimum", bounds.get("maximum", 0.5)))
    step = max(1, int(bounds.get("multipleOf", 1)))
    return math.floor(min(max(1, least), most)) // -step * -step

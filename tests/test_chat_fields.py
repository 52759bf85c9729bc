"""The words of an error."""

from __future__ import annotations

import pytest

from responses_stream.chat.fields import unexpected


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (None, "nothing"),
        ({"a": 1}, "an object"),
        ([1], "a list"),
        (True, "true"),
        (1.5, "1.5"),
        ("data:,", '"data:,"'),
        ("x" * 41, f'"{"x" * 40}"...'),
    ],
)
def test_what_was_found_is_named_and_not_repeated(value: object, named: str) -> None:
    """In the words of JSON, and shortly: a data URL may have megabytes."""
    error = unexpected(value, "a horse", "stable[0]")

    assert str(error) == f"stable[0]: found {named}, expected a horse"
    assert error.param == "stable[0]"

"""Whole code points only.

A model's tokens may cut an emoji in two; a JSON escape then reaches us as half a surrogate
pair. Half a pair cannot be written as UTF-8, and codex drops the event that holds one
(codex.md section 4). So a first half waits for its second, and a lone one becomes U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

LONE = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_whole(text: str) -> bool:
    """Whether there is nothing to mend."""
    # Half a pair is not printable. Line ends are not either, but of most texts this tells.
    return text.isprintable() or _SURROGATE.search(text) is None


def mend(text: str) -> str:
    """`text` with pairs joined and lone halves replaced."""
    if text.isascii() or is_whole(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def mend_all(value: Any) -> Any:
    """A JSON value with every string mended, keys too."""
    if isinstance(value, str):
        return mend(value)
    if isinstance(value, Mapping):
        return {mend_all(key): mend_all(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [mend_all(entry) for entry in value]
    return value


class CodePoints:
    """Mends a text that comes in pieces cut anywhere."""

    __slots__ = ("half",)

    def __init__(self) -> None:
        self.half = ""
        """The first half of a pair whose second has not come yet."""

    def feed(self, text: str) -> str:
        """All of `text` that is sure by now."""
        if not self.half and (text.isascii() or is_whole(text)):
            return text
        text = self.half + text
        self.half = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return mend(text[:-1] if self.half else text)

    def flush(self) -> str:
        """What is left when nothing more comes."""
        half, self.half = self.half, ""
        return LONE if half else ""

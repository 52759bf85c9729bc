"""JSON text: what does it say, is it complete, and what does its string say?

The last two are asked of text that is still being written. Both machines look at each
character once, so a call of a million characters costs per character what a short one
does.
"""

from __future__ import annotations

import json
import re
from enum import Enum, auto
from typing import Any, Final

import msgspec

from .code_points import CodePoints

DEEPEST: Final = 100
"""How many levels a value may have. Nobody means more, and Python's own limit, a multiple
of it, is met in some later step, where nobody expects it."""

_OUTSIDE: Final = re.compile(r'["{}\[\]]')
_INSIDE: Final = re.compile(r'["\\]')


def is_deep(text: str | bytes, value: object) -> bool:
    """Whether `value`, which `text` says, has more levels than DEEPEST."""
    # A chunk has a handful of brackets, and is not worth the walk.
    if isinstance(text, str):
        brackets = text.count("{") + text.count("[")
    else:
        brackets = text.count(b"{") + text.count(b"[")
    if brackets <= DEEPEST:
        return False
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


class Unreadable(ValueError):  # noqa: N818 - whose fault it is, the name says
    """A body is no JSON, or such as nobody means."""


def read_body(body: bytes) -> Any:
    """What a request's body says. Raises Unreadable.

    Not by the standard library, which lets half a surrogate pair through, for which some
    later step knows no words, and which fails at great depth.
    """
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"the body is no JSON: {error}"
        raise Unreadable(message) from error
    if is_deep(body, found):
        message = f"the body has more than {DEEPEST} levels"
        raise Unreadable(message)
    return found


class JSONScanner:
    """Tells when a text is a complete JSON object, array or string.

    A bare number or word never counts as complete: `12` may become `123`.
    """

    __slots__ = ("_begin", "_depth", "_escaped", "_in_string", "complete")

    def __init__(self) -> None:
        self.complete = False
        """Whether the last bracket or quote closed the outermost one."""
        self._begin = ""
        self._depth = 0
        self._in_string = False
        self._escaped = False

    @property
    def cut(self) -> bool:
        """Whether an object or array has begun and is not complete: more was meant."""
        return self._begin in ("{", "[") and not self.complete

    def feed(self, text: str) -> None:
        """Takes more of the text."""
        self._begin = self._begin or text.lstrip()[:1]
        at = 0
        if self._escaped and text:
            self._escaped = False
            at = 1
        while mark := (_INSIDE if self._in_string else _OUTSIDE).search(text, at):
            at = mark.end()
            match mark.group():
                case '"':
                    self._in_string = not self._in_string
                case "\\":
                    # The next character means nothing here, and may not have come yet.
                    self._escaped = at == len(text)
                    at += 1
                case "{" | "[":
                    self._depth += 1
                case _:
                    self._depth -= 1
            self.complete = self._depth <= 0 and not self._in_string


class _At(Enum):
    """Where in `{"input": "..."}` the next character stands."""

    BRACE = auto()
    KEY = auto()
    COLON = auto()
    QUOTE = auto()
    TEXT = auto()
    TAIL = auto()
    REST = auto()
    RAW = auto()


# What comes before the string: one expected mark after another, white space between.
_OPENING: Final = {
    _At.BRACE: ("{", _At.KEY),
    _At.KEY: ('"input"', _At.COLON),
    _At.COLON: (":", _At.QUOTE),
    _At.QUOTE: ('"', _At.TEXT),
}
_SPACE: Final = " \t\r\n"
_MARK: Final = re.compile(r'"|\\(?:u[0-9a-fA-F]{0,4}|.)?', re.DOTALL)


class InputUnescaper:
    r"""Turns `{"input": "..."}` as it is being written into the text that it holds.

    A custom tool takes plain text, but a chat model can only write JSON arguments: it is
    told to put the text under `input`. `feed` gives back the text as far as it is sure:
    escapes and surrogate pairs may be cut anywhere.

    Arguments that do not begin like that are passed on as they are. Members after
    `input` are no input and are left out; anything else after the closing quote is passed
    on, so that nothing is lost of text that the model forgot to escape.
    """

    def __init__(self) -> None:
        self._at = _At.BRACE
        self._held = ""
        """Seen and not yet sure: the opening so far, or a part of an escape."""
        self._opening: list[str] = []
        """All that was skipped, to be passed on if this is no such object after all."""
        self._code_points = CodePoints()

    def feed(self, text: str) -> str:
        """The part of the input that `text` makes sure."""
        if self._at in _OPENING:
            text = self._skip_opening(text)
        said: list[str] = []
        if self._at is _At.TEXT:
            text = self._unescape(text, said)
        if self._at is _At.TAIL:
            text = self._skip_tail(text)
        if self._at is _At.RAW:
            said.append(text)
        return self._code_points.feed("".join(said))

    def flush(self) -> str:
        """What is left when nothing more comes: arguments cut off stay as cut."""
        held = "" if self._at is _At.TAIL else self._held
        rest = "".join(self._opening) + held
        self._opening, self._held = [], ""
        return self._code_points.feed(rest) + self._code_points.flush()

    def _skip_opening(self, text: str) -> str:
        """Goes on to the text; what is behind the opening, or all if it is none."""
        while self._at in _OPENING:
            mark, following = _OPENING[self._at]
            if not self._held:
                bare = text.lstrip(_SPACE)
                self._opening.append(text[: len(text) - len(bare)])
                text = bare
            wanted = mark[len(self._held) :]
            found = text[: len(wanted)]
            self._held += found
            text = text[len(found) :]
            if self._held == mark:
                self._opening.append(self._held)
                self._held, self._at = "", following
            elif mark.startswith(self._held):
                return text  # All used up, and still possible.
            else:
                self._opening.append(self._held)
                text = "".join(self._opening) + text
                self._held, self._at = "", _At.RAW
        self._opening = []
        return text

    def _unescape(self, text: str, said: list[str]) -> str:
        """Reads up to the closing quote into `said`; returns what is behind it."""
        text, self._held = self._held + text, ""
        at = 0
        while mark := _MARK.search(text, at):
            said.append(text[at : mark.start()])
            at, found = mark.end(), mark.group()
            if found == '"':
                self._at = _At.TAIL
                self._held = found
                return text[at:]
            if at == len(text) and len(found) < _length(found):
                self._held = found
                return ""
            said.append(_meaning(found))
        said.append(text[at:])
        return ""

    def _skip_tail(self, text: str) -> str:
        """What is behind the string decides whether the rest is JSON or more text."""
        rest = text.lstrip(_SPACE)
        if not rest:
            self._held += text
            return ""
        tail, self._held = self._held + text, ""
        self._at = _At.REST if rest[0] in "}," else _At.RAW
        return tail


def _length(escape: str) -> int:
    """How long `escape` is when all of it has come."""
    return len("\\u0000") if escape[1:2] == "u" else 2


def _meaning(escape: str) -> str:
    """What an escape stands for; one that JSON does not know stands for itself."""
    try:
        return str(json.loads(f'"{escape}"'))
    except ValueError:
        return escape

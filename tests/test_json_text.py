"""What can be said of a JSON text before all of it is there."""

from __future__ import annotations

import json
import pickle
import sys
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import ANY_TEXT, JSON

from responses_stream.code_points import mend
from responses_stream.json_text import DEEPEST, InputUnescaper, JSONScanner, is_deep

BRACKETED = st.dictionaries(st.text(max_size=4), JSON) | st.lists(JSON) | st.text()


def cut(text: str, at: list[int]) -> list[str]:
    """`text` in pieces, cut at these places."""
    edges = [0, *sorted(i % (len(text) + 1) for i in at), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


def unescaped(pieces: list[str]) -> str:
    """All that the unescaper says."""
    unescaper = InputUnescaper()
    return "".join(map(unescaper.feed, pieces)) + unescaper.flush()


CUTS = st.lists(st.integers(0, 1000), max_size=6)


@given(BRACKETED, st.booleans(), st.sampled_from([None, 1]))
def test_the_scanner_tells_the_first_moment_of_completeness(value, ascii_, indent):
    """No true beginning of an object, array or string is complete; the whole is."""
    scanner = JSONScanner()

    said = []
    for character in json.dumps(value, ensure_ascii=ascii_, indent=indent):
        scanner.feed(character)
        said.append(scanner.complete)

    assert [False] * (len(said) - 1) + [True] == said


@given(st.text(st.sampled_from('{}[]"\\a ,')), CUTS)
def test_the_scanner_does_not_care_how_text_is_cut(text, at):
    """Any text, also what is no JSON."""
    whole, pieces = JSONScanner(), JSONScanner()
    whole.feed(text)

    for piece in cut(text, at):
        pieces.feed(piece)

    assert whole.complete == pieces.complete


@pytest.mark.parametrize("text", ["", " ", "12", "true", "null", '{"a": 1', '"a\\"'])
def test_what_may_go_on_is_not_complete(text):
    """A bare number may get another digit."""
    scanner = JSONScanner()

    scanner.feed(text)

    assert not scanner.complete


NESTED = st.recursive(st.just(1), st.lists)


@given(st.lists(NESTED) | st.dictionaries(st.text(), NESTED))
def test_an_object_or_array_is_cut_until_it_is_complete(value):
    """From its bracket on: a model that ends in between has not said all."""
    scanner = JSONScanner()
    for at, character in enumerate(" " + json.dumps(value)):
        assert (1 < at) == scanner.cut
        scanner.feed(character)

    assert not scanner.cut


@pytest.mark.parametrize("text", ["", " ", "12", '"a', "nul"])
def test_nothing_else_is_cut(text):
    """Nobody can tell whether more was meant."""
    scanner = JSONScanner()
    scanner.feed(text)

    assert not scanner.cut


def test_white_space_behind_a_complete_value_changes_nothing():
    """Models end their arguments with a newline."""
    scanner = JSONScanner()

    scanner.feed("{} \n")

    assert scanner.complete


@given(st.text(), st.booleans(), st.sampled_from([None, 1]), CUTS)
@example(text="\ud83d\ude00", ascii_=True, indent=None, at=[14])
def test_the_input_comes_out_however_it_is_escaped_and_cut(text, ascii_, indent, at):
    """Escapes and surrogate pairs may be cut anywhere."""
    written = json.dumps({"input": text}, ensure_ascii=ascii_, indent=indent)

    assert mend(text) == unescaped(cut(written, at))


@given(st.lists(ANY_TEXT), CUTS)
def test_the_unescaper_does_not_care_how_text_is_cut(pieces, at):
    """Any text, also what is no JSON, gives the same input and whole code points."""
    written = "".join(pieces)

    once = unescaped([written])

    assert once == mend(once) == unescaped(cut(written, at)) == unescaped(list(written))


@given(st.text(st.sampled_from('{}[]":,ainputx \n\\')))
def test_what_is_no_such_object_is_passed_on(text):
    """Raw input that a model wrote without its object arrives as it is."""
    head = "".join(text.split())
    if head.startswith('{"input":"'):
        return

    assert text == unescaped([text])


def test_text_is_passed_on_as_soon_as_it_is_sure():
    """A custom tool's input streams while the model writes it."""
    unescaper = InputUnescaper()

    said = [unescaper.feed(piece) for piece in ['{"inp', 'ut": "a', "\\", "nb", '"}']]

    assert ["", "a", "", "\nb", ""] == said


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('{"input": "ab', "ab"),
        ('{"input": "a\\', "a\\"),
        ('{"input": "a\\u12', "a\\u12"),
        ('{"input": "\\ud83d', "�"),
        ('{"inp', '{"inp'),
        ("", ""),
        ('{"input": ""}', ""),
        ('{"input": "a", "more": 1}', "a"),
        ('{"input": "a\nb"}', "a\nb"),
        ('{"input": "\\q\\u12zz"}', "\\q\\u12zz"),
        ('{"patch": "a"}', '{"patch": "a"}'),
        ("*** Begin Patch", "*** Begin Patch"),
        ('{"input": 5}', '{"input": 5}'),
    ],
)
def test_input_that_is_cut_or_odd(written, text):
    """Cut input stays as cut; other members are no input; no escape is lost."""
    assert text == unescaped([written])


def test_a_quote_that_the_model_forgot_to_escape_is_not_lost():
    """Text behind the closing quote is more text, and so was the quote."""
    assert 'say "hi" now"}' == unescaped(['{"input": "say "hi" now"}'])


def test_nothing_is_kept_of_what_is_sure():
    """The millionth character of a call costs what the first one does."""
    unescaper = InputUnescaper()
    unescaper.feed('{"input": "')
    small = sys.getsizeof(pickle.dumps(unescaper))

    for _ in range(1000):
        unescaper.feed("abc\\u00e9\\ud83d\\ude00")

    assert sys.getsizeof(pickle.dumps(unescaper)) <= small


# How deep ---------------------------------------------------------------------------


@given(JSON)
def test_what_is_not_deep_is_not_called_so(value):
    """However many brackets its strings hold."""
    wide = [value, "[{" * DEEPEST, *[[]] * DEEPEST]

    assert not is_deep(json.dumps(wide), wide)


@pytest.mark.parametrize(("begin", "end"), [("[0, ", "]"), ('{"a": 0, "b": ', "}")])
@pytest.mark.parametrize("kind", [str, str.encode])
def test_one_level_more_is_deep(begin, end, kind):
    """`DEEPEST` are not; lists and objects count alike."""
    for levels, expected in ((DEEPEST, False), (DEEPEST + 1, True)):
        text = begin * levels + "0" + end * levels
        assert expected == is_deep(kind(text), json.loads(text))

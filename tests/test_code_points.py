"""A text cut within a character comes out mended, and whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from responses_stream.code_points import CodePoints, mend, mend_all

ANYTHING = st.text(st.characters() | st.sampled_from("\ud83d\ude00😀"))


def is_whole(text: str) -> bool:
    """Whether `text` can be written as UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


@given(st.lists(ANYTHING))
def test_pieces_come_out_as_the_whole_would(pieces):
    """However a text is cut, what comes out is the whole text mended."""
    code_points = CodePoints()

    said = [code_points.feed(piece) for piece in pieces]

    assert mend("".join(pieces)) == "".join(said) + code_points.flush()
    assert all(is_whole(text) for text in said)


@given(st.text(st.characters(codec="utf-8")))
def test_whole_text_is_left_alone(text):
    """Mending changes broken text only, and holds nothing back of the rest."""
    code_points = CodePoints()

    assert text == mend(text) == code_points.feed(text)
    assert not code_points.flush()


def test_a_pair_cut_in_two_is_joined():
    """The first half waits for its second."""
    code_points = CodePoints()

    assert ["a", "😀b"] == [code_points.feed("a\ud83d"), code_points.feed("\ude00b")]


def test_a_lone_half_is_replaced():
    """Half a pair cannot be written as UTF-8; U+FFFD stands for it."""
    assert "�a�" == mend("\ude00a\ud83d")


def test_a_half_that_waits_in_vain_is_replaced_at_the_end():
    """Nothing is lost, and nothing is said twice."""
    code_points = CodePoints()
    code_points.feed("\ud83d")

    assert ["�", ""] == [code_points.flush(), code_points.flush()]


def test_a_value_is_mended_through_and_through():
    """Strings at any depth, and keys."""
    assert {"a�": ["�", {"b": "😀"}, 1, None]} == mend_all(
        {"a\ud800": ("\udfff", {"b": "\ud83d\ude00"}, 1, None)}
    )

"""The JSON texts of a body, whatever its framing."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responses_stream.chat.body import ChatBody, read_json
from responses_stream.chat.limits import AnswerLimits
from responses_stream.errors import RemoteProtocolError
from responses_stream.json_text import DEEPEST

BODIES = {
    "events": (b'data: {"a":1}\n\ndata: [DONE]\n\n', ['{"a":1}', "[DONE]"]),
    "events_without_blank_lines": (
        b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n',
        ['{"a":1}', '{"b":2}', "[DONE]"],
    ),
    "event_over_lines": (b'data: {"a":\ndata: 1}\n\n', ['{"a":\n1}']),
    "blank_lines_first": (b'\n\r\n\ndata: {"a":1}\n\n', ['{"a":1}']),
    "comment_first": (b': hi\n\ndata: {"a":1}\n\n', ['{"a":1}']),
    "event_of_white_space": (b'data: \n\ndata: {"a":1}\n\n', ['{"a":1}']),
    "unfinished_event": (b'data: {"a":1}', ['{"a":1}']),
    "byte_order_mark": (b'\xef\xbb\xbfdata: {"a":1}\n\n', ['{"a":1}']),
    "document": (b'{"a":1}', ['{"a":1}']),
    "document_behind_white_space": (b' \r\n\t{"a":1}', ['{"a":1}']),
    "document_over_lines": (b'{\n "a": 1\n}\n', ['{\n "a": 1\n}\n']),
    "document_with_byte_order_mark": (b'\xef\xbb\xbf{"a":1}', ['{"a":1}']),
    "byte_order_mark_behind_blank_lines": (b'\n\xef\xbb\xbf\n{"a":1}', ['{"a":1}']),
    "list": (b'[{"a":1}]', ['[{"a":1}]']),
    "lines": (b'{"a":1}\n\n{"b":2}\n{"c":3}', ['{"a":1}', '{"b":2}', '{"c":3}']),
    "lines_crlf": (b'{"a":1}\r\n{"b":2}\r\n', ['{"a":1}\r', '{"b":2}\r']),
}


def texts(pieces: Iterable[bytes]) -> list[str]:
    """All texts of a body."""
    body = ChatBody()
    found = [text for piece in pieces for text in body.feed(piece)]
    found += body.close()
    return [t.data if isinstance(t.data, str) else t.data.decode() for t in found]


@pytest.mark.parametrize("name", BODIES)
def test_each_framing_is_recognised(name):
    """By the first bytes; whole, or byte by byte."""
    body, expected = BODIES[name]

    assert expected == texts([body])
    assert expected == texts(body[i : i + 1] for i in range(len(body)))


@given(st.sampled_from(list(BODIES)), st.data())
def test_cuts_do_not_matter(name, data):
    """Any cutting gives the same texts."""
    body, expected = BODIES[name]
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=5).map(sorted))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]

    assert expected == texts(pieces)


def test_texts_come_as_soon_as_they_are_whole():
    """Not at the end of the body."""
    body = ChatBody()

    assert 1 == len(body.feed(b'data: {"a":1}\n\ndata: {"b"'))
    assert "events" == body.framing
    lines = ChatBody()
    assert 1 == len(lines.feed(b'{"a":1}\n{"b"'))


def test_an_event_keeps_its_name():
    """`error` means something."""
    assert ["error"] == [t.event for t in ChatBody().feed(b"event: error\ndata: x\n\n")]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"\xef\xbb", "begins with"),
        (b"<html>", "<html>"),
        (b"Internal Server Error", "Internal Server Error"),
        (b": only a comment\n\n", "only a comment"),
    ],
)
def test_a_body_of_neither_is_refused_with_its_beginning(body, says):
    """So that its reader knows what came."""
    with pytest.raises(RemoteProtocolError, match=says):
        texts([body])


@pytest.mark.parametrize("begin", [b'{"a":"', b'{}\n{"a":"', b'data: {"a":"'])
def test_a_text_is_bounded(begin):
    """A server that never ends one cannot fill the memory."""
    body = ChatBody(AnswerLimits(max_event=1000))
    body.feed(begin)
    for _ in range(9):
        body.feed(b"x" * 100)

    with pytest.raises(RemoteProtocolError, match="at most 1000"):
        body.feed(b"x" * 100)


def test_a_body_is_bounded():
    """Also one that never says anything too long."""
    body = ChatBody(AnswerLimits(max_answer=1000))
    for _ in range(10):
        body.feed(b"data: {}\n\n" * 10)

    with pytest.raises(RemoteProtocolError, match="an answer of 1001 bytes"):
        body.feed(b"\n")


@pytest.mark.parametrize("end", [b"1", b"1e999", b'"\\ud800"'], ids=repr)
def test_a_text_may_have_many_levels_but_not_any_number(end):
    """Also where it is no plain JSON. The hundred and first is an error."""
    read_json(b"[" * DEEPEST + end + b"]" * DEEPEST)

    for levels in (DEEPEST + 1, 500, 100_000):
        with pytest.raises(RemoteProtocolError, match="levels|recursion"):
            read_json(b'{"a":' * levels + end + b"}" * levels)

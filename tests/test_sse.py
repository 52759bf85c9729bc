"""Events become bytes, and bytes cut anywhere become the same events."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_events import OPENAI, OPENRESPONSES

from responses_stream.errors import RemoteProtocolError
from responses_stream.events import OutputTextDelta, RefusalDelta
from responses_stream.sse import DONE, ServerSentEvent, SSEDecoder, encode, encode_comment

NOISE = st.lists(
    st.sampled_from(
        [
            b"data",
            b"data:",
            b"event: a",
            b"id: 1",
            b"id:\0",
            b"retry: 5",
            b": c",
            b" ",
            b"x",
        ]
        + [b"\n", b"\r", b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b"\xff"]
    )
).map(b"".join)
ENDINGS = pytest.mark.parametrize("ending", [b"\n", b"\r", b"\r\n"])


def decode(*pieces: bytes) -> list[ServerSentEvent]:
    """The events in a body that comes in these pieces."""
    decoder = SSEDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)]


def said(body: bytes) -> list[tuple[str, str, str]]:
    """Type, data and last id of each event in a body."""
    return [(event.event, event.data, event.last_event_id) for event in decode(body)]


# Encoding -----------------------------------------------------------------------------


@pytest.mark.parametrize("event", OPENAI + OPENRESPONSES)
def test_a_frame_is_the_events_json(event):
    """`event:` is its type, `data:` its JSON in one line, and a blank line ends it."""
    data = msgspec.json.encode(event.to_dict())

    frame = b"event: " + event.type.encode() + b"\ndata: " + data + b"\n\n"
    assert frame == encode(event)


@given(st.text(st.characters(codec="utf-8")), st.integers(0, 2**53))
def test_a_delta_frame_is_the_cold_paths(delta, number):
    """The constant bytes of its place change nothing."""
    place = OutputTextDelta.place_at('msg_"é', 3, 1)
    event = OutputTextDelta(place, delta, number)

    data = msgspec.json.encode(event.to_dict())
    assert b"event: response.output_text.delta\ndata: " + data + b"\n\n" == encode(event)


@given(st.text(st.characters(codec="utf-8")))
def test_a_frame_comes_back(delta):
    """Decoding gives what was encoded: no text breaks a frame."""
    event = RefusalDelta(RefusalDelta.place_at("msg_1", 0, 0), delta, 1)

    [frame] = decode(encode(event))

    assert event.type == frame.event
    assert event.to_dict() == msgspec.json.decode(frame.data)


@given(st.text(st.characters(codec="utf-8")))
def test_a_comment_is_no_event(text):
    """Whatever it says, also with line ends in it."""
    assert not decode(encode_comment(text), b"\n\n")
    assert encode_comment(text).endswith(b"\n\n")


def test_the_last_frame():
    """Open Responses wants it after the terminal event."""
    assert [("message", "[DONE]", "")] == said(DONE)


# Decoding: the examples of the standard ----------------------------------------------


def test_lines_of_data_are_joined():
    """Section 9.2.6, the first example."""
    assert [("message", "YHOO\n+2\n10", "")] == said(b"data: YHOO\ndata: +2\ndata: 10\n\n")


def test_ids_and_comments():
    """The second example: an empty id resets it; the last block has no blank line."""
    body = (
        b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
        b"data:  third event\n"
    )

    assert [("message", "first event", "1"), ("message", "second event", "")] == said(body)
    assert [("message", " third event", "")] == said(body + b"\n")[2:]


def test_empty_data():
    """The third example: two events, and a block that is discarded."""
    assert [("message", "", ""), ("message", "\n", "")] == said(
        b"data\n\ndata\ndata\n\ndata:"
    )


def test_the_space_behind_the_colon_is_optional():
    """The fourth example: two equal events."""
    assert [("message", "test", "")] * 2 == said(b"data:test\n\ndata: test\n\n")


# Decoding: the rules -----------------------------------------------------------------


@given(NOISE, st.lists(st.integers(0, 200)))
@example("data: 😀\r\n\r\n".encode(), [1, 7, 8, 11, 12, 13, 14])
def test_however_the_bytes_are_cut_the_events_are_the_same(body, cuts):
    """Also inside a line end, a byte order mark or a code point."""
    edges = sorted(cut % (len(body) + 1) for cut in cuts)
    pieces = [body[a:b] for a, b in zip([0, *edges], [*edges, len(body)], strict=True)]

    whole = decode(body)

    assert whole == decode(*pieces)
    assert whole == decode(*(body[i : i + 1] for i in range(len(body))))


@given(NOISE, st.lists(st.sampled_from([b"data: x\n\n", b"data: \n\n", b"data: x\n"])))
@example(b": c\n\n", [b"data: x\n\n"])
def test_one_line_is_taken_as_it_would_be_fed(body, pieces):
    """Or nothing of it is."""
    short, long = SSEDecoder(), SSEDecoder()
    assert short.feed(body) == long.feed(body)
    for piece in pieces:
        line, events = short.one_line(piece), long.feed(piece)
        if line is None:
            assert short.feed(piece) == events
        else:
            assert [line.decode()] == [event.data for event in events]

    assert short.feed(b"\n\ndata: y\n\n") == long.feed(b"\n\ndata: y\n\n")


@given(st.lists(st.binary()))
def test_any_bytes_are_decoded(pieces):
    """Nothing but an event that is too long raises."""
    assert decode(*pieces) == decode(b"".join(pieces))


@ENDINGS
def test_lines_end_in_lf_cr_or_crlf(ending):
    """And blank lines too."""
    body = ending.join([b"event: a", b"data: b", b"", b"data: c", b"", b""])

    assert [("a", "b", ""), ("message", "c", "")] == said(body)


def test_a_cr_ends_its_line_at_once():
    """The event need not wait for the byte behind it."""
    assert 1 == len(SSEDecoder().feed(b"data: a\r\r"))


def test_a_byte_order_mark_is_passed_over_once():
    """At the beginning of the stream only."""
    mark = "\ufeff".encode()

    assert [("message", "a", "")] == said(mark + b"data: a\n\n")
    assert not said(mark + mark + b"data: a\n\n")
    assert not said(b"\n" + mark + b"data: a\n\n")


def test_broken_utf_8_is_replaced():
    """The stream goes on."""
    assert [("message", "a�", ""), ("message", "b", "")] == said(
        b"data: a\xf0\x9f\n\ndata: b\n\n"
    )


def test_the_event_type_is_of_one_event():
    """The last one counts, and an empty one is none."""
    assert [("b", "1", ""), ("message", "2", ""), ("message", "3", "")] == said(
        b"event: a\nevent: b\ndata: 1\n\ndata: 2\n\nevent: a\nevent\ndata: 3\n\n"
    )


def test_an_event_without_data_is_none():
    """Its type is forgotten."""
    assert [("message", "1", "")] == said(b"event: a\n\ndata: 1\n\n")


def test_the_last_id_stays():
    """Until another one comes."""
    assert [("message", "1", "7"), ("message", "2", "7")] == said(
        b"id: 7\ndata: 1\n\ndata: 2\n\n"
    )


def test_an_id_with_nul_is_passed_over():
    """Section 9.2.6: "If the field value does not contain U+0000 NULL"."""
    assert [("message", "1", "7")] == said(b"id: 7\nid: 8\x00\ndata: 1\n\n")


@pytest.mark.parametrize(
    ("value", "retry"),
    [
        ("5", 5),
        ("007", 7),
        ("", None),
        ("-5", None),
        ("5s", None),
        ("٣", None),
        ("²", None),
    ],
)
def test_retry_is_digits_only(value, retry):
    """ASCII ones; everything else is passed over."""
    decoder = SSEDecoder()

    decoder.feed(f"retry: {value}\n".encode())

    assert retry == decoder.retry


def test_a_retry_of_many_digits_is_no_crash():
    """Python refuses to read integers of more than 4300 digits."""
    assert [("message", "1", "")] == said(b"retry: " + b"9" * 5000 + b"\ndata: 1\n\n")


@pytest.mark.parametrize(
    "line", [b"Data: 1", b" data: 1", b"other: 1", b"data : 1", b":data"]
)
def test_other_fields_are_passed_over(line):
    """Names are compared letter for letter."""
    assert not said(line + b"\n\n")


@ENDINGS
def test_an_event_knows_its_line(ending):
    """That of its first field; comments and blank lines count as lines."""
    body = ending.join(
        [b": c", b"", b"event: a", b"data: 1", b"", b"", b"data: 2", b"", b""]
    )

    assert [3, 7] == [event.line for event in decode(body)]


# Decoding: bounds --------------------------------------------------------------------


def test_an_event_that_is_too_long_is_refused():
    """A server must not fill our memory; one long line or many short ones."""
    for body in (b"data: " + b"a" * 20, b"data: a\n" * 4):
        with pytest.raises(RemoteProtocolError, match="expected at most 20"):
            SSEDecoder(max_event_bytes=20).feed(body)


def test_the_bound_is_for_one_event():
    """A stream may be as long as it likes."""
    decoder = SSEDecoder(max_event_bytes=20)

    assert 100 == sum(len(decoder.feed(b"data: 0123456789\n\n")) for _ in range(100))
    assert 100 == len(decoder.feed(b"data: 0123456789\n\n" * 100))


def test_an_event_without_its_blank_line_is_pending():
    """At the end of the input it is discarded, but not unseen."""
    decoder = SSEDecoder()

    assert not decoder.feed(b"data: 1\n\ndata: 2\n")[1:]
    assert len(b"data: 2") == decoder.pending

"""Chat servers that break HTTP itself, and what aiohttp makes of it."""

from __future__ import annotations

import time

from gateway_fixtures import server_of, url_of
from gateway_frames import HELLO, Script, said
from gateway_world import ask

CHUNKED = ("content-type: text/event-stream", "transfer-encoding: chunked")


def chunked(*frames: bytes) -> bytes:
    """A body of one chunk."""
    body = b"".join(frames)
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


def answer(*frames: bytes) -> bytes:
    """A whole answer, headers and all."""
    head = b"\r\n".join([b"HTTP/1.1 200 OK", *map(str.encode, CHUNKED), b"", b""])
    return head + chunked(*frames)


SCRIPTS = {
    "broken": Script(
        (chunked(*said("Hel"))[:-5], b"zz\r\nno chunk\r\n"),
        headers=CHUNKED,
        framing="close",
        ending="open",
        pause=0.05,
    ),
    "twice": Script(
        (chunked(*HELLO), answer(*said("Bye"), *HELLO[-3:])),
        headers=CHUNKED,
        framing="close",
        pause=0.05,
        keep=True,
    ),
}

_server = server_of(SCRIPTS)
_url = url_of()


def test_a_chunk_that_is_none_fails_the_stream(url):
    """At once, and after what came before."""
    got = ask(url, model="broken", stream=True, input="Hi")

    assert got.response["status"] == "failed"
    assert got.response["error"]["code"] == "server_error"
    assert got.response["output"][0]["content"][0]["text"] == "Hel"


def test_an_answer_that_nobody_asked_for_is_nobodys(url):
    """It comes behind another, and must not be taken for that of the next request."""
    for _ in range(3):
        got = ask(url, model="twice", stream=True, input="Hi")
        time.sleep(0.1)

        assert got.response["output"][0]["content"][0]["text"] == "Hello"

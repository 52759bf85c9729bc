"""Ids that count, for tests, and ids that nobody has seen before."""

from __future__ import annotations

from responses_stream.ids import counted_ids, random_ids


def test_counted_ids_count_over_all_prefixes():
    """Equal runs give equal ids, and no two ids of a run are equal."""
    ids = counted_ids()

    assert ["msg_001", "fc_002", "msg_003"] == [ids("msg"), ids("fc"), ids("msg")]


def test_each_count_begins_anew():
    """Two factories know nothing of each other."""
    assert counted_ids()("msg") == counted_ids()("msg")


def test_random_ids_never_repeat():
    """No two responses share an id."""
    assert 1000 == len({random_ids("msg") for _ in range(1000)})


def test_random_ids_have_the_form_that_codex_echoes():
    """An id is its prefix, one underscore, and letters or digits."""
    prefix, _, rest = random_ids("resp").partition("_")

    assert "resp" == prefix
    assert rest.isalnum()

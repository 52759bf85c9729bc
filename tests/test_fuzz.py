"""What fuzzing has found to be worth keeping, played again."""

from __future__ import annotations

import pytest
from fuzz import TARGETS, inputs
from fuzz_targets import TARGETS as CHECKS


def play(target):
    for data in inputs(target):
        CHECKS[target](data)


def test_every_target_has_a_corpus():
    """The command knows the targets without importing what it is to instrument."""
    assert tuple(CHECKS) == TARGETS
    assert min(len(inputs(target)) for target in TARGETS) >= 20


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_finds_nothing(target):
    """Each input holds what its target states."""
    play(target)


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_can_fail(target, monkeypatch):
    """Where an answer is not what it should be, some input of the corpus says so."""
    broken = {
        "sse": ("_cut", lambda data: [data[:-1]]),
        "chunks": ("_cut", lambda data: [data, data]),
        "request": ("to_chat_request", lambda asked, _: asked.clear()),
        "checker": ("read", lambda *_, **__: 1 / 0),
        "emit": ("encode", lambda _: b""),
    }
    monkeypatch.setattr(f"fuzz_targets.{broken[target][0]}", broken[target][1])

    with pytest.raises((AssertionError, ZeroDivisionError)):
        play(target)

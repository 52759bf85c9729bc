"""What the package exports."""

from __future__ import annotations

import responses_stream
from responses_stream import events
from responses_stream.wire import Event


def test_exports_are_what_is_imported():
    """`__all__` names everything that `__init__` imports, once, and nothing else."""
    public = {
        name
        for name, value in vars(responses_stream).items()
        if not name.startswith("_") and not isinstance(value, type(responses_stream))
    }

    assert sorted(public) == sorted(responses_stream.__all__)


def test_every_event_is_exported():
    """Whatever a stream emits can be imported from the package."""
    assert {cls.__name__ for cls in events.EVENTS.values()} <= set(responses_stream.__all__)
    assert all(issubclass(cls, Event) for cls in events.EVENTS.values())

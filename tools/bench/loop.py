"""The one event loop of all that is asynchronous here.

A server has one for all its streams. `asyncio.run` would make a new one for each, which
costs as much as hundreds of deltas do; an `asyncio.Runner` would take SIGINT for each and
give it back, which costs as much as a hundred.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Coroutine
from typing import Any, Final

LOOP: Final = asyncio.new_event_loop()
atexit.register(LOOP.close)

run = LOOP.run_until_complete


def at_once(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("a coroutine waits that should not")

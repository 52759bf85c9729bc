"""The one event loop of all that is asynchronous here.

A server has one for all its streams. `asyncio.run` would make a new one for each, which
costs as much as hundreds of deltas do.
"""

from __future__ import annotations

import asyncio
from typing import Final

RUNNER: Final = asyncio.Runner()

run = RUNNER.run

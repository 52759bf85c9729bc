"""Work that ends when its client does.

A client cancels by closing its connection, and nothing else (codex.md section 5).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from starlette.types import Receive


async def unless_gone(work: Coroutine[None, None, None], receive: Receive) -> bool:
    """Does `work`, but cancels it when the client hangs up; tells whether it was done.

    The request's body must have been read.
    """
    working = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        done = working.done()
        working.cancel()
        gone.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)
    if done:
        working.result()
    return done


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

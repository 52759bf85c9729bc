"""Our plugin for vLLM: what it runs in the place of vLLM's own chain, on the same steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from responses_stream.vllm_plugin.serving import Serving
from responses_stream.vllm_plugin.settings import Settings

from .loop import run
from .vllm_peer import Turn, serving


def plugin(messages: Sequence[Any]) -> list[bytes]:
    """What vLLM's server runs with the plugin installed."""

    async def read() -> list[bytes]:
        core = serving()
        Serving(core, Settings()).install()
        frames = core.responses_stream_generator(*Turn(messages).arguments())
        return [written async for written in frames]

    return run(read())

"""What the servers carry, and how they are called."""

from __future__ import annotations

from typing import Final

from .upstream import Play

LOADS: Final = {
    "1": Play(streams=1, ticks=2_000),
    "32": Play(streams=32, ticks=200),
    "256": Play(streams=256, ticks=40),
    "32 at 50/s": Play(streams=32, ticks=100, interval=0.02),
    "256 at 50/s": Play(streams=256, ticks=50, interval=0.02),
}
"""Without a pace each stream gets its next delta once all have had their last one: the
server is never idle, and no two deltas of a stream come together."""

LATENCY: Final = Play(streams=32, ticks=100, interval=0.02, is_timed=True)

SERVERS: Final = {
    "raw": "a proxy that copies the chat server's bytes",
    "gateway": "the gateway",
    "vllm": "the gateway with vLLM's event code in the place of ours",
    "litellm": "LiteLLM's proxy",
}

"""vLLM's `/v1/responses`, made by this package.

vLLM keeps its engine, its parsers and the whole way to them; this plugin takes over where
a parser's deltas become events. The seam, from the outside in:

    plugin.py     what vLLM's plugin loader finds, and when it leaves vLLM's own path alone
    routes.py     the HTTP routes: who answers, and in which bytes
    asked.py      requests that vLLM would turn down, said so that it takes them
    failures.py   every error body in OpenAI's shape, at the edge of the application
    serving.py    what stands in for the methods of vLLM's serving object
    kept.py       responses that outlive their request: replay and cancel
    turn.py       one response, from the engine's first step to the last event
    steps.py      one engine step, as what the model says in it
    seam.py       all that is taken from vLLM, by name, and the check that it is there

Nothing here imports vLLM by name of its distribution, whose CPU builds carry another.
"""

from .plugin import endpoint_plugin, general_plugin

__all__ = ["endpoint_plugin", "general_plugin"]

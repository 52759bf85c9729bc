"""`python -m responses_stream.gateway`: the same as `responses-stream serve`."""

from .command import serve

serve()

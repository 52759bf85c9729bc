"""What an event costs, here and elsewhere.

`python -m tools.bench` measures in one process: time, instructions, growth, memory.
`python -m tools.bench.server` measures over HTTP: the gateway, and what stands beside it.
"""

"""What an event costs, here and elsewhere.

`python -m tools.bench` measures in one process: time, instructions, growth, memory;
with `--server` over HTTP too.
`python -m tools.bench.server` measures over HTTP alone: the gateway, and what stands
beside it.
`python -m tools.bench.report` makes tables, goals and plots of what they have found.
`python -m tools.bench.instructions` counts one variant in seconds, and guards the hot path.
`python -m tools.bench.profiling` says where the time goes.
"""

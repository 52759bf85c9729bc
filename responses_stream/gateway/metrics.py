"""GET /metrics: what a gateway does, in the words of Prometheus.

Nothing is counted while a stream runs: each exchange is taken account of at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.process_collector import ProcessCollector

from .exchange import Exchange

# When a counter was made is of no use, and doubles the page.
disable_created_metrics()  # type: ignore[no-untyped-call]  # theirs

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
"""From a short prompt in the cache to an hour of thinking."""


class Metrics:
    """The counters of one gateway."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._open: set[Exchange] = set()
        ProcessCollector(registry=self._registry)
        gauge = Gauge(
            "responses_stream_open_streams",
            "Requests that are being answered.",
            registry=self._registry,
        )
        gauge.set_function(lambda: len(self._open))
        gauge = Gauge(
            "responses_stream_held_characters",
            "Text that waits, mostly for an earlier call to end.",
            registry=self._registry,
        )
        gauge.set_function(self._held)
        self._answers = self._counter(
            "answers", "Requests that were answered.", "path", "ends", "code"
        )
        self._events = self._counter("events", "Events of responses.", "type")
        self._errors = self._counter(
            "upstream_errors", "What the upstream server did wrong.", "kind"
        )
        self._gone = self._counter("clients_gone", "Clients that hung up early.")
        self._first_delta = Histogram(
            "responses_stream_first_delta_seconds",
            "From a request to the first delta of its response.",
            buckets=SECONDS,
            registry=self._registry,
        )
        self._seconds = Histogram(
            "responses_stream_answer_seconds",
            "From a request to the end of its answer.",
            ["path"],
            buckets=SECONDS,
            registry=self._registry,
        )

    @contextmanager
    def observed(self, exchange: Exchange) -> Iterator[None]:
        """The exchange takes place within the block."""
        self._open.add(exchange)
        try:
            yield
        finally:
            self._open.discard(exchange)
            self._take(exchange)

    def render(self) -> bytes:
        """All of it, as text."""
        return generate_latest(self._registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"responses_stream_{name}", text, labels, registry=self._registry)

    def _held(self) -> int:
        return sum(e.stream.drafts.held for e in self._open if e.stream is not None)

    def _take(self, exchange: Exchange) -> None:
        self._answers.labels(exchange.path, exchange.ends, exchange.code).inc()
        self._seconds.labels(exchange.path).observe(exchange.seconds)
        for event, count in exchange.counts.items():
            self._events.labels(event.type).inc(count)
        if exchange.first_delta_seconds is not None:
            self._first_delta.observe(exchange.first_delta_seconds)
        if exchange.upstream_error:
            self._errors.labels(exchange.upstream_error).inc()
        if exchange.gone:
            self._gone.inc()

"""What the gateway logs, and how: a line for each event, for people or for machines.

Prompts, answers and keys are never among it (exchange.py). Whatever is, cannot make a
line of its own, or write to a terminal: control characters are escaped.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Final

import structlog

from .exchange import Exchange
from .settings import LogFormat

ALWAYS: Final = "responses_stream.gateway.server"
"""The logger that tells what the process does; whoever started it wants to know."""

ERRORS: Final = ("failed", "refused")

logger = logging.getLogger(__name__)


def configure(level: str, form: LogFormat) -> None:
    """Logs to stderr from now on, whatever libraries say too."""
    processors: list[structlog.typing.Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta
    ]
    if form == "json":
        # Tracebacks without local variables: those hold all that was said.
        processors += [structlog.processors.format_exc_info, escaped]
        processors.append(structlog.processors.JSONRenderer())
    else:
        processors.append(escaped)
        processors.append(
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(),
                exception_formatter=structlog.dev.plain_traceback,
            )
        )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.contextvars.merge_contextvars,
                structlog.stdlib.add_log_level,
                structlog.stdlib.ExtraAdder(),
                structlog.processors.TimeStamper(fmt="iso"),
            ],
            processors=processors,
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    logging.getLogger(ALWAYS).setLevel(logging.INFO)


def escaped(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A structlog processor: no value holds a control character, or half a pair."""
    for key, value in event.items():
        if isinstance(value, str) and key != "exception" and not value.isprintable():
            event[key] = value.encode("unicode_escape").decode()
    return event


def log_exchange(exchange: Exchange) -> None:
    """One line for a request that is over; a warning, if it is no success."""
    is_ours = exchange.failure is not None and exchange.failure.status >= 500  # noqa: PLR2004
    known = {
        "path": exchange.path,
        "response": exchange.response.get("id"),
        "code": exchange.code,
        "status": exchange.failure and exchange.failure.status,
        "param": exchange.failure and exchange.failure.param,
        "upstream_error": exchange.upstream_error,
        "reason": exchange.reason,
        "seconds": round(exchange.seconds, 3),
        "first_delta": exchange.first_delta_seconds
        and round(exchange.first_delta_seconds, 3),
        "events": sum(exchange.counts.values()),
    }
    logger.log(
        logging.WARNING if is_ours else logging.INFO,
        exchange.ends,
        extra={key: value for key, value in known.items() if value},
    )

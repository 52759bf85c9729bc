"""What the gateway logs, and how: a line for each event, for people or for machines.

Prompts, answers and keys are never among it (exchange.py). Whatever is, cannot make a
line of its own, or write to a terminal: control characters are escaped.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from .exchange import Exchange
from .settings import ALWAYS, LogFormat

logger = logging.getLogger(__name__)


def configure(level: str, form: LogFormat) -> None:
    """Logs to stderr from now on, whatever libraries say too."""
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(form, colors=sys.stderr.isatty()))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    logging.getLogger(ALWAYS).setLevel(logging.INFO)
    if level != "debug":
        # Its steps from start to stop are ours to tell.
        logging.getLogger("uvicorn").setLevel(logging.WARNING)


def formatter(form: LogFormat, *, colors: bool) -> logging.Formatter:
    """Writes records for people or for machines."""
    last: list[structlog.typing.Processor]
    if form == "json":
        last = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        # Tracebacks without the values of variables: those hold all that was said.
        plain = structlog.dev.plain_traceback
        last = [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain)]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso"),
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            escaped,
            *last,
        ],
    )


def escaped(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A structlog processor: no value holds a control character, or half a pair."""
    for key, value in event.items():
        if isinstance(value, str) and not value.isprintable():
            event[key] = value.encode("unicode_escape").decode()
    return event


def log_exchange(exchange: Exchange) -> None:
    """One line for a request that is over; a warning, if it is no success."""
    known = {
        "path": exchange.path,
        "response": exchange.response.get("id"),
        "code": exchange.code,
        "status": exchange.failure and exchange.failure.status,
        "upstream_error": exchange.upstream_error,
        "reason": exchange.reason,
        "seconds": round(exchange.seconds, 3),
        "first_delta": exchange.first_delta_seconds
        and round(exchange.first_delta_seconds, 3),
        "events": sum(exchange.counts.values()),
    }
    logger.log(
        logging.WARNING if exchange.is_failure else logging.INFO,
        exchange.ends,
        extra={key: value for key, value in known.items() if value},
    )

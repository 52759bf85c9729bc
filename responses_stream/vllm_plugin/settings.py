"""What an operator may choose, in the words of the gateway's environment variables.

A value that is none is passed over with a warning: a server must start all the same.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from responses_stream.kinds import Dialect, ReasoningAs

from .seam import log

PREFIX: Final = "RESPONSES_STREAM_"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How responses are said."""

    dialect: Dialect = "openai"
    reasoning: ReasoningAs = "text"
    keep_alive: float = 15.0
    """How many seconds a line may be silent; 0 for ever."""


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in the environment: `RESPONSES_STREAM_KEEP_ALIVE=5` and so on."""
    chosen: dict[str, Any] = {}
    for field in msgspec.structs.fields(Settings):
        name = PREFIX + field.name.upper()
        value = environment.get(name)
        if value is None:
            continue
        try:
            chosen[field.name] = msgspec.convert(value, field.type, strict=False)
        except msgspec.ValidationError as error:
            log.warning("%s is %r: %s; it is passed over", name, value, error)
    return Settings(**chosen)

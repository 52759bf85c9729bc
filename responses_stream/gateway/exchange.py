"""One request for an answer, and what is known of it when it is over.

For logs and metrics, so none of what was said is here: no prompt, no answer, no key.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from responses_stream.chat.failures import Failure
from responses_stream.stream import BaseStream
from responses_stream.wire import Event

SERVER_FAULT: Final = 500


class Exchange:
    """A request and its answer."""

    def __init__(self, request_id: str, path: str) -> None:
        self.id = request_id
        self.path = path
        self.stream: BaseStream[Any] | None = None
        """Of /v1/responses, once the request is known to make sense."""
        self.failure: Failure | None = None
        """Why there was no answer, or no end to it."""
        self.upstream_error = ""
        """What the chat server did wrong, if it did; see Refused.upstream_error."""
        self.begun = False
        """Whether the client was told that all is well."""
        self.gone = False
        """Whether it hung up before it had all."""
        self.first_delta_seconds: float | None = None
        self._began_at = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since the request came."""
        return time.perf_counter() - self._began_at

    def note_first_delta(self) -> None:
        """Takes the time, if an item is out."""
        if self.stream is not None and self.stream.has_output:
            self.first_delta_seconds = self.seconds

    @property
    def counts(self) -> Mapping[type[Event], int]:
        """How many events of each type were sent."""
        return self.stream.counts if self.stream is not None and self.begun else {}

    @property
    def response(self) -> Mapping[str, Any]:
        """The response object, if there is one."""
        return {} if self.stream is None else self.stream.response

    @property
    def ends(self) -> str:
        """`gone`, `refused`, or the status of the response."""
        if self.gone:
            return "gone"
        if self.failure is not None:
            return "failed" if self.begun else "refused"
        return str(self.response.get("status", "completed"))

    @property
    def code(self) -> str:
        """Of the failure, or why the response is incomplete."""
        if self.failure is not None:
            return self.failure.code
        details = self.response.get("incomplete_details") or {}
        return str(details.get("reason", ""))

    @property
    def is_failure(self) -> bool:
        """Whether it ended badly by no fault of the client."""
        return self.failure is not None and self.failure.status >= SERVER_FAULT

    @property
    def reason(self) -> str:
        """The failure, if the words are ours; others may repeat what was said."""
        if self.failure is None or self.upstream_error in ("status", "answer"):
            return ""
        # To a client we quote what is wrong with its request.
        return self.failure.message if self.is_failure else self.failure.param or ""

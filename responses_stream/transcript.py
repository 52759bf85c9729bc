"""The events that are out: numbers, the response object, and the one open item.

A `Transcript` makes every event of a response, and is the only one that does: it takes the
next sequence number, and the items of the final payload are the very ones that were sent.
What to say, and when, is for the stream to decide.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from .code_points import mend
from .errors import LocalProtocolError
from .events import (
    OutputItemAdded,
    OutputItemDone,
    ResponseCompleted,
    ResponseCreated,
    ResponseEvent,
    ResponseFailed,
    ResponseIncomplete,
    ResponseInProgress,
)
from .forms import Form
from .growing import GrowingItem
from .ids import Clock, Ids
from .items import Item, Status
from .kinds import NOTHING, Dialect
from .response_object import echo, response_object
from .state import IN_PROGRESS, RESPONSE, TERMINALS, Machine, ResponseState, Speech
from .tail import End
from .usage import Usage
from .wire import DeltaEvent, Event, Place

SERVER_ERROR: Final = "server_error"
"""The code of every failure that nobody has named better; codex runs the turn again."""

ERROR_TYPES: Final[Mapping[str, str]] = {
    "rate_limit_exceeded": "too_many_requests",
    "slow_down": "too_many_requests",
    "context_length_exceeded": "invalid_request",
    "invalid_prompt": "invalid_request",
    "invalid_request_error": "invalid_request",
    "model_not_found": "not_found",
}
"""Open Responses sorts errors by type (clients.md 1.1); other codes are the server's."""


T = TypeVar("T")


class Transcript(Generic[T]):
    """What has been sent of one response, in one form."""

    def __init__(
        self,
        form: Form[T],
        request: Mapping[str, Any],
        dialect: Dialect,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._form = form
        self._ids = ids
        self._clock = clock
        self._dialect = dialect
        self._id = mend(str(request.get("id") or ids("resp")))
        self._created_at = _seconds(request.get("created_at"), clock)
        self._echoed = echo(request)
        self._machine = Machine(RESPONSE, LocalProtocolError)
        self._output: list[Item] = []
        self.next_number = 0
        """The sequence number of the next event."""
        self._events: list[Event] = []
        self._counts: defaultdict[type[Event], int] = defaultdict(int)
        """How many events were made of each type, without the deltas of the open item."""
        self.open: GrowingItem | None = None
        """The one item that is announced and not done."""
        self.response = self._response_now("in_progress")
        """The response object of the last event about the response."""

    @property
    def ended(self) -> bool:
        """Whether the terminal event is out."""
        return not self._machine.exits

    @property
    def has_output(self) -> bool:
        """Whether an item is announced."""
        return bool(self._output) or self.open is not None

    @property
    def counts(self) -> dict[type[Event], int]:
        """How many events of each type were made."""
        counts = self._counts.copy()
        for event, count in () if self.open is None else self.open.deltas:
            counts[event] += count
        return {event: count for event, count in counts.items() if count}

    def drain(self) -> tuple[T, ...]:
        """The events since the last drain."""
        events, self._events = self._events, []
        return tuple(map(self._form.of, events))

    def send(self, event: type[Event], *fields: Any) -> None:
        """See growing.Sender."""
        self._counts[event] += 1
        self._events.append(event(*fields, self._number()))

    def send_delta(self, event: type[DeltaEvent], place: Place, delta: str) -> None:
        """See growing.Sender. It is counted by its item, which also has the others."""
        self._events.append(event(place, delta, self._number()))

    def end(
        self, keep: Callable[[str], None], event: type[DeltaEvent], place: Place
    ) -> End:
        """See growing.Sender."""
        return keep, self._form.of_delta(event), place, self

    def _number(self) -> int:
        self.next_number += 1
        return self.next_number - 1

    def start(self) -> None:
        """`created` and `in_progress`, unless they are out already."""
        if self._machine.state is ResponseState.ABSENT:
            self._send_response(ResponseCreated)
            self._send_response(ResponseInProgress)

    def keep_alive(self) -> None:
        """See ResponseStream.keep_alive."""
        if self._machine.state is not IN_PROGRESS:
            self.start()
        elif self._dialect != "openresponses":
            self._send_response(ResponseInProgress)

    def announce(self, item: GrowingItem) -> None:
        """Makes `item` the open one. Whatever was open must be closed."""
        self._machine.advance(OutputItemAdded.type)
        item.announce(self._ids(item.prefix), len(self._output), self)
        self.open = item

    def close_open(self, status: Status, left_open: frozenset[Speech] = NOTHING) -> None:
        """Ends the open item, if any is and it is none of those to be left open."""
        if self.open is not None and self.open.speech not in left_open:
            self._machine.advance(OutputItemDone.type)
            self._output.append(self.open.close(status, self))
            for event, count in self.open.deltas:
                self._counts[event] += count
            self.open = None

    def complete(self, usage: Usage | None) -> None:
        """Ends the response well. Counters that nobody gave are 0: clients want them."""
        self._end(
            ResponseCompleted,
            usage=usage or Usage(),
            completed_at=int(self._clock()),
        )

    def cut(self, reason: str, usage: Usage | None) -> None:
        """Ends the response incomplete, for `reason`."""
        self._end(
            ResponseIncomplete,
            usage=usage or Usage(),
            incomplete_details={"reason": reason},
        )

    def fail(self, code: str, message: str, usage: Usage | None) -> None:
        """Ends the response as failed."""
        error = {"code": mend(code), "message": mend(message)}
        if self._dialect == "openresponses":
            kind = ERROR_TYPES.get(code, SERVER_ERROR)
            self._end(
                ResponseFailed,
                usage=usage,
                error={"type": kind, **error, "param": None},
            )
        else:
            self._end(ResponseFailed, usage=usage, error=error)

    def _end(self, event: type[ResponseEvent], **fields: Any) -> None:
        self.response = self._response_now(TERMINALS[event.type], **fields)
        self._send_response(event)

    def _response_now(self, status: str, **fields: Any) -> dict[str, Any]:
        return response_object(
            self._id,
            self._created_at,
            self._echoed,
            status=status,
            output=self._output,
            **fields,
        )

    def _send_response(self, event: type[ResponseEvent]) -> None:
        self._machine.advance(event.type)
        self.send(event, self.response)


def read_error(error: BaseException | Mapping[str, Any] | str) -> tuple[str, str]:
    """Its code and its message."""
    if isinstance(error, Mapping):
        message = error.get("message") or "the model server gave no reason"
        return str(error.get("code") or SERVER_ERROR), str(message)
    return SERVER_ERROR, str(error) or type(error).__name__


def _seconds(given: object, clock: Clock) -> int:
    if given is None:
        return int(clock())
    if (
        isinstance(given, bool)
        or not isinstance(given, (int, float))
        or not math.isfinite(given)
    ):
        raise LocalProtocolError(
            f"created_at is {given!r}; expected seconds since the epoch"
        )
    return int(given)

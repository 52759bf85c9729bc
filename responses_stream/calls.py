"""Tool calls: which call a delta belongs to, and how a call grows.

Parsers and servers number their calls in every way there is (clients.md R11), so the rules
are all here:

- a delta belongs to the call of its `index`, or else of its `id`;
- the same index with another id, or with another name, is a new call;
- a delta that brings a name and arguments is a new call if the one it would belong to has
  complete arguments already, whatever its index and id;
- with neither index nor known id, a name or an id makes a new call, and bare arguments
  continue the last one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import UNSET

from .code_points import CodePoints, mend
from .deltas import ToolCallDelta
from .errors import LocalProtocolError
from .growing import GrowingItem
from .growing_parts import Sender
from .items import CustomToolCall, FunctionCall, Status
from .json_text import JSONScanner
from .kinds import FUNCTION, CallKind
from .state import ABSENT, DONE, Machine, is_phantom
from .tail import CallTail
from .tools import Tool, ToolIndex, ToolKind, said_call_ids
from .wire import Event


class CallIds:
    """Gives each call an id that no other call of the conversation has.

    Some models count their calls from 0 in every turn (`functions.x:0`), and clients that
    pair a call with its output by id then mix them up (clients.md R21).
    """

    def __init__(self, taken: Iterable[str], make: Callable[[], str]) -> None:
        self._taken = set(taken)
        self._make = make

    def claim(self, said: str) -> str:
        """`said` if it is still free, or else a new id."""
        call_id = said
        while not call_id or call_id in self._taken:
            call_id = self._make()
        self._taken.add(call_id)
        return call_id


class GrowingCall(GrowingItem):
    """A tool call. See GrowingItem for its methods."""

    speech = "tool_call"

    def __init__(
        self, number: int, find: Callable[[str], tuple[Tool, CallKind]], ids: CallIds
    ) -> None:
        # Which tool, and so which kind of call, is known with the name.
        super().__init__(FUNCTION.table)
        self.number = number
        """How many calls were begun before it."""
        self.index: int | None = None
        """The parser's number for it, once that has come."""
        self.said_id = ""
        self.name = ""
        self._find = find
        self._ids = ids
        self._held: list[str] = []
        self._pieces: list[str] = []
        self._scanner = JSONScanner()
        self._unscanned: list[str] = []

    @property
    def ready(self) -> bool:
        """A call without a name is none."""
        return bool(self.name)

    @property
    def closable(self) -> bool:
        """Once the arguments are a complete JSON value."""
        return self._scanned().complete

    @property
    def cut(self) -> bool:
        """See GrowingItem.cut."""
        return self._scanned().cut

    def _scanned(self) -> JSONScanner:
        self._scanner.feed("".join(self._unscanned))
        self._unscanned.clear()
        return self._scanner

    @property
    def closed(self) -> bool:
        """Whether the call is over and can take nothing more."""
        return self.machine.state is DONE

    @property
    def prefix(self) -> str:
        """See GrowingItem.prefix."""
        return self._find(self.name)[1].prefix

    @property
    def unsaid(self) -> str:
        """The arguments that are still held."""
        return "".join(self._held)

    def identify(self, said_id: str, name: str) -> None:
        """Takes an id or a name that comes late. What is announced stays as it is."""
        self.said_id = self.said_id or mend(said_id)
        self.name = self.name or mend(name)

    def say(self, arguments: str, out: Sender) -> None:
        """Says more arguments; holds them while a draft."""
        self._unscanned.append(arguments)
        if self.machine.state is ABSENT:
            self._held.append(arguments)
            self.held += len(arguments)
        else:
            self._append(self._reader.feed(arguments), out)

    def announce(self, item_id: str, output_index: int, out: Sender) -> None:
        """See GrowingItem.announce."""
        self.tool, self.kind = self._find(self.name)
        self.call_id = self._ids.claim(self.said_id)
        self.machine = Machine(self.kind.table, LocalProtocolError)
        self._reader = self.kind.reader()
        self._place = self.kind.delta.place_at(item_id, output_index)
        super().announce(item_id, output_index, out)

    def release(self, out: Sender) -> None:
        """See GrowingItem.release."""
        held, self._held, self.held = "".join(self._held), [], 0
        self._append(self._reader.feed(held), out)

    def tail(self, out: Sender) -> CallTail | None:
        """See GrowingItem.tail."""
        read = None
        if not isinstance(self._reader, CodePoints):
            read = self._reader.feed
        elif self._reader.half:
            return None
        end = out.end(self._pieces.append, self.kind.delta, self._place)
        return (self.index, None), self._unscanned.append, read, *end

    @property
    def deltas(self) -> Iterable[tuple[type[Event], int]]:
        """See GrowingItem.deltas."""
        return ((self.kind.delta, len(self._pieces)),)

    def _append(self, text: str, out: Sender) -> None:
        if text:
            self.machine.advance(self.kind.delta.type)
            self._pieces.append(text)
            out.send_delta(self.kind.delta, self._place, text)

    def settle(self, status: Status, out: Sender) -> None:
        """See GrowingItem.settle."""
        self._append(self._reader.flush(), out)
        if status == "completed" and is_phantom(self._text()):
            self._append(self.kind.nothing, out)
        self.machine.advance(self.kind.done.type)
        fields = self.kind.done_fields(self.tool.name, self._text())
        out.send(self.kind.done, self.id, self.output_index, *fields)

    def _text(self) -> str:
        return "".join(self._pieces)

    def item(self, status: Status) -> FunctionCall | CustomToolCall:
        """See GrowingItem.item. Empty when announced: the text follows in deltas."""
        return self.kind.item(
            self.id,
            status,
            self.call_id,
            self.tool.name,
            self._text(),
            self.tool.namespace or UNSET,
        )


def call_maker(
    request: Mapping[str, Any],
    kind_of: Callable[[ToolKind], CallKind],
    new_id: Callable[[], str],
) -> Callable[[], GrowingCall]:
    """What begins the calls of a response, one after the other."""
    tools = ToolIndex(request)
    ids = CallIds(said_call_ids(request), new_id)
    numbers = itertools.count()

    def find(name: str) -> tuple[Tool, CallKind]:
        tool = tools.resolve(name)
        return tool, kind_of(tool.kind)

    return lambda: GrowingCall(next(numbers), find, ids)


class CallIndex:
    """Finds the call that a delta belongs to."""

    def __init__(self, new: Callable[[], GrowingCall]) -> None:
        self._new = new
        self._by_index: dict[int, GrowingCall] = {}
        self._by_id: dict[str, GrowingCall] = {}
        self._last: GrowingCall | None = None

    def check(self, deltas: Iterable[ToolCallDelta]) -> None:
        """Raises LocalProtocolError for arguments to a call that is over.

        Changes nothing, so that a compound delta is taken whole or not at all.
        """
        begun: set[int | None] = set()
        for delta in deltas:
            call = self._known(delta)
            if call is None or not call.closed or _is_another(call, delta):
                # A bare delta behind it, of its index or of none, is meant for this one.
                begun.update((delta.index, None))
            elif delta.arguments.strip() and delta.index not in begun:
                raise LocalProtocolError(
                    f"arguments {delta.arguments[:40]!r} for call {call.call_id!r} of"
                    f" {call.name!r}, which is complete and closed; expected another"
                    " index or id"
                )

    def continues(self, item: object) -> bool:
        """Whether a bare delta, of its index or of none, says more of this item."""
        return item is self._last

    def find(self, delta: ToolCallDelta) -> GrowingCall:
        """The call of `delta`, now or from now on, with the id and name that it brings."""
        call = self._known(delta)
        if call is None or _is_another(call, delta):
            call = self._new()
        if delta.index is not None:
            self._by_index[delta.index] = call
            call.index = delta.index
        if said_id := delta.id.strip():
            self._by_id[said_id] = call
        self._last = call
        if said_id or delta.name:
            call.identify(said_id, delta.name.strip())
        return call

    def _known(self, delta: ToolCallDelta) -> GrowingCall | None:
        if delta.index in self._by_index:
            return self._by_index[delta.index]
        said_id = delta.id.strip()
        call = self._by_id.get(said_id)
        if delta.index is not None:
            # An index may come late; but two indices are never one call.
            return None if call is None or call.index is not None else call
        if said_id:
            return call
        return None if delta.name.strip() else self._last


def _is_another(call: GrowingCall, delta: ToolCallDelta) -> bool:
    """Whether `delta` begins a new call where `call` was."""
    if not delta.id and not delta.name:
        return False
    said_id, name = mend(delta.id.strip()), mend(delta.name.strip())
    if said_id and call.said_id and said_id != call.said_id:
        return True
    if name and call.name and name != call.name and not (said_id and call.said_id):
        return True
    return bool(name and call.name and delta.arguments.strip() and call.closable)

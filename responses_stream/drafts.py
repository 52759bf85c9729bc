"""What is said and not announced yet, and whose turn it is."""

from __future__ import annotations

from .calls import GrowingCall
from .growing import GrowingItem, GrowingText
from .state import Speech


class Drafts:
    """Items that are not announced, in order of their first word.

    A call has its turn only once it has a name: until then it may be none, and only other
    calls wait for it. False if there is nothing that waits.
    """

    def __init__(self) -> None:
        self._items: list[GrowingItem] = []
        self._nameless: dict[GrowingCall, None] = {}
        """In order. No other draft overtakes an earlier one of these."""
        self._latest = -1
        """The number of the last-begun call that has a name."""
        self.calls_begun = 0
        """How many calls were ever here, also those that may be none."""

    def __bool__(self) -> bool:
        return bool(self._items or self._nameless)

    def add(self, item: GrowingText) -> GrowingText:
        """Puts a text behind all that waits."""
        self._items.append(item)
        return item

    def add_call(self, call: GrowingCall) -> GrowingCall:
        """Puts a call behind all calls that wait, but not in the way of anything else."""
        self._nameless[call] = None
        self.calls_begun += 1
        return call

    def name(self, call: GrowingCall) -> None:
        """Gives a call that has got its name the turn that it has had all along."""
        del self._nameless[call]
        if call.number > self._latest:
            self._latest = call.number
            self._items.append(call)
        else:
            at = (at for at, other in enumerate(self._items) if _follows(other, call))
            self._items.insert(next(at, len(self._items)), call)

    def is_nameless(self, call: GrowingCall) -> bool:
        """Whether it may still be none."""
        return call in self._nameless

    def text(self, speech: Speech) -> GrowingText | None:
        """The draft that more `speech` continues."""
        for draft in reversed(self._items):
            if isinstance(draft, GrowingText) and draft.speech == speech:
                return draft
            if draft.ready:
                break
        return None

    @property
    def is_white_space(self) -> bool:
        """Whether nothing waits that is sure to come out: what is open may go on."""
        return not any(draft.ready for draft in self._items)

    @property
    def last(self) -> GrowingItem | None:
        """The one behind all others that is sure to come out."""
        return next((draft for draft in reversed(self._items) if draft.ready), None)

    def next(self) -> GrowingItem | None:
        """The first draft that is ready; but no call overtakes one without a name."""
        draft = next((draft for draft in self._items if draft.ready), None)
        if draft is not None and self._nameless:
            return None if _follows(draft, next(iter(self._nameless))) else draft
        return draft

    def take(self, draft: GrowingItem) -> None:
        """Lets it go. What stands before it is white space, which has lost its chance."""
        del self._items[: self._items.index(draft) + 1]

    def take_all(self) -> list[GrowingItem]:
        """All that is ready, in order, now that nothing is worth waiting for."""
        ready = [draft for draft in self._items if draft.ready]
        self._items = []
        return ready

    @property
    def held(self) -> int:
        """How many characters wait."""
        return sum(draft.held for draft in (*self._items, *self._nameless))

    def unsaid(self) -> str:
        """The arguments of calls that nobody has named."""
        return "".join(call.unsaid for call in self._nameless).strip()


def _follows(item: GrowingItem, call: GrowingCall) -> bool:
    """Whether `item` is a call that was begun after `call`."""
    return isinstance(item, GrowingCall) and item.number > call.number

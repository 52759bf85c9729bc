"""A conversation as chat tells it: who speaks after whom, and what answers which call.

Responses has a flat list of items; chat has messages, and more order among them. What
the assistant thought, said and called, up to the next word from outside, is one *turn*
and becomes one assistant message. Its tool messages follow at once, one for each call,
in the order of the calls, wherever in the input the outputs stood: servers refuse a
call without an answer, and templates that write no ids go by the order.

What chat has no place for goes where it can be read: an image that a tool returned into
a user message after the tool messages, an output whose call is unknown into a user
message of its own.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from responses_stream.tools import ToolIndex

from .content import Part, attachments_of, text_of, text_part
from .template import PARAGRAPH, ChatOptions, Message, for_template

NO_OUTPUT: Final = "(no output: the call was interrupted)"
"""Answers a call that has no output."""

NO_TEXT: Final = "(the output is in the next user message)"
"""Answers a call whose output has no text: some servers refuse an empty message."""

KIMI_ID: Final = re.compile(r"(functions\..+:)([0-9]{1,9})")
"""`functions.NAME:COUNTER`. Kimi sees these ids in its prompt, and knows no others."""


@dataclass(slots=True)
class Call:
    """A tool call of the history, with what came back."""

    id: str
    name: str
    arguments: str
    output: list[Part] | None = None

    def declaration(self) -> dict[str, Any]:
        """The call, as an entry of `tool_calls`."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}

    def answer(self) -> Message:
        """The tool message for the call."""
        if self.output is None:
            content = NO_OUTPUT
        else:
            content = text_of(self.output) or (NO_TEXT if self.attachments() else "")
        return {"role": "tool", "tool_call_id": self.id, "content": content}

    def attachments(self) -> list[Part]:
        """What the tool message cannot hold, under a line that says whose it is."""
        attachments = attachments_of(self.output or ())
        return [text_part(f"From {self.name}:"), *attachments] if attachments else []


@dataclass(slots=True)
class Turn:
    """What the assistant thought, said and called before the next word from outside."""

    reasoning: list[str] = field(default_factory=list)
    said: list[list[Part]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def messages(self, options: ChatOptions) -> list[Message]:
        """The assistant message, the answers to its calls, their attachments."""
        if self.is_thought() and not options.reasoning_fields:
            return []
        # Never null: many templates search the content without asking what it is.
        content = PARAGRAPH.join(filter(None, map(text_of, self.said)))
        message: Message = {"role": "assistant", "content": content}
        if self.reasoning:
            reasoning = PARAGRAPH.join(self.reasoning)
            message |= dict.fromkeys(options.reasoning_fields, reasoning)
        if self.calls:
            message["tool_calls"] = [call.declaration() for call in self.calls]
        messages = [message, *(call.answer() for call in self.calls)]
        attachments = [part for parts in self.said for part in attachments_of(parts)]
        for call in self.calls:
            attachments += call.attachments()
        if attachments:
            messages.append({"role": "user", "content": attachments})
        return messages

    def is_thought(self) -> bool:
        """Whether nothing came of the reasoning."""
        return not (self.said or self.calls)


class Conversation:
    """Takes what was said in order, and tells it as messages."""

    def __init__(self, index: ToolIndex) -> None:
        self.index = index
        """The tools that the calls mean."""
        self._entries: list[Turn | Message] = []
        self._open: Turn | None = None
        # By call_id: the calls without an output, and the turn that made them.
        self._waiting: dict[str | None, tuple[Turn | None, deque[Call]]] = {}
        self._ids: set[str] = set()
        self._numbers: dict[str, count[int]] = {}

    def add_message(self, role: str, parts: list[Part]) -> None:
        """Take what was said under `role`: `system`, `user` or `assistant`."""
        text, attachments = text_of(parts), attachments_of(parts)
        if role == "assistant":
            if text or attachments:
                self._turn(anew=True).said.append(parts)
            return
        self._open = None
        if role == "user" and attachments:
            self._entries.append({"role": role, "content": parts})
            return
        self._entries.append({"role": role, "content": text})
        if attachments:
            self._entries.append({"role": "user", "content": attachments})

    def add_reasoning(self, text: str) -> None:
        """Take what the assistant thought."""
        if text:
            self._turn(anew=True).reasoning.append(text)

    def add_call(self, call_id: str, name: str, arguments: str) -> None:
        """Take a call. `arguments` is a JSON object, `name` what the model calls it."""
        turn = self._turn(anew=False)
        call = Call(self._unique(call_id), name, arguments)
        turn.calls.append(call)
        of_turn, calls = self._waiting.get(call_id, (None, deque()))
        if of_turn is not turn:
            # A call of this id that still waits in an earlier turn was interrupted.
            calls = deque()
            self._waiting[call_id] = turn, calls
        calls.append(call)

    def add_output(self, call_id: str | None, parts: list[Part]) -> None:
        """Take what came back for the first call of this id that still waits."""
        self._open = None
        _, calls = self._waiting.get(call_id, (None, deque()))
        if calls:
            calls.popleft().output = parts
        else:
            label = text_part(f"Output of tool call {call_id}:")
            self.add_message("user", [label, *parts])

    def messages(self, options: ChatOptions) -> list[Message]:
        """All that was taken, in the shape that `options` ask for."""
        entries = self._entries
        if entries and isinstance(entries[-1], Turn) and entries[-1].is_thought():
            # The model is about to think anew. llama.cpp would take a last assistant
            # message for the beginning of its answer, and refuse that while it thinks.
            entries = entries[:-1]
        messages: list[Message] = []
        for entry in entries:
            messages += entry.messages(options) if isinstance(entry, Turn) else [entry]
        return for_template(messages, options)

    def _turn(self, *, anew: bool) -> Turn:
        """The turn that grows.

        Where a thing is said `anew`, after text was said already, a turn of its own
        keeps the order. Not after calls, though: their answers are still to come.
        """
        turn = self._open
        if turn is None or (anew and turn.said and not turn.calls):
            turn = self._open = Turn()
            self._entries.append(turn)
        return turn

    def _unique(self, call_id: str) -> str:
        """`call_id`, or one made from it if an earlier call has it already."""
        unique = call_id
        if call_id in self._ids:
            kimi = KIMI_ID.fullmatch(call_id)
            stem, number = kimi.groups() if kimi else (f"{call_id}_", "1")
            numbers = self._numbers.setdefault(stem, count(int(number) + 1))
            unique = next(u for n in numbers if (u := f"{stem}{n}") not in self._ids)
        self._ids.add(unique)
        return unique

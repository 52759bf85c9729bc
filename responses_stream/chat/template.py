"""What an upstream server and its chat template accept, and messages in that shape."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, takewhile
from operator import itemgetter
from typing import Any, Final, Literal

import msgspec

from .content import text_part

Message = dict[str, Any]
"""One message of a chat request."""

SystemRole = Literal["system", "developer", "user"]

PARAGRAPH: Final = "\n\n"
"""Between texts that were said one after the other and are now one."""

role_of = itemgetter("role")


class ChatOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a chat request is to be written for one upstream server.

    The defaults suit vLLM, SGLang, llama.cpp and LightLLM.
    """

    system_role: SystemRole = "system"
    """Says `instructions` and the system and developer messages at the beginning."""

    late_system_role: SystemRole = "user"
    """Says a system or developer message that comes later. As a system message the
    template of Qwen 3.5 would refuse it, and those of Gemma 3 and gpt-oss leave it out
    without a word."""

    join_system: bool = True
    """One message at the beginning instead of several, for the same templates."""

    join_roles: bool = False
    """One message instead of several of one role in a row, for templates that insist
    on alternation, such as those of Mistral and Gemma."""

    reasoning_fields: tuple[str, ...] = ("reasoning", "reasoning_content")
    """The fields that carry the reasoning of an assistant message; () leaves it out.
    vLLM reads only `reasoning`, SGLang and llama.cpp only `reasoning_content`, and each
    of them ignores the other. A server that refuses what it does not know wants one."""

    output_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Carries `max_output_tokens`. Every local server knows the first, older name;
    OpenAI's reasoning models know only the second."""


DEFAULTS: Final = ChatOptions()


def for_template(messages: list[Message], options: ChatOptions) -> list[Message]:
    """`messages`, whose system text has the role `system`, as `options` want them."""
    opening = list(takewhile(lambda message: role_of(message) == "system", messages))
    later = messages[len(opening) :]
    if options.join_system:
        opening = _joined(opening)
    shaped = [message | {"role": options.system_role} for message in opening]
    for message in later:
        is_system = role_of(message) == "system"
        shaped.append(
            message | {"role": options.late_system_role} if is_system else message
        )
    return _joined(shaped) if options.join_roles else shaped


def _joined(messages: Iterable[Message]) -> list[Message]:
    joined: list[Message] = []
    for role, group in groupby(messages, role_of):
        in_a_row = list(group)
        # Each tool message answers a call of its own.
        joined += in_a_row if role == "tool" else [_one(in_a_row)]
    return joined


def _one(messages: list[Message]) -> Message:
    names = dict.fromkeys(name for message in messages for name in message)
    values = {name: [m[name] for m in messages if m.get(name)] for name in names}
    return {name: _one_value(values[name]) for name in names} | {
        "role": role_of(messages[0])
    }


def _one_value(values: list[Any]) -> object:
    """The paragraphs of one text, or else the entries of one list."""
    if all(isinstance(value, str) for value in values):
        return PARAGRAPH.join(values)
    lists = [[text_part(v)] if isinstance(v, str) else v for v in values]
    return [entry for entries in lists for entry in entries]

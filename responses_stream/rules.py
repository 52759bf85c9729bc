"""The rules of a transcript that no table can say, each with its name.

A rule is an *error* where a strict client breaks or a promise of the design (1 to 5) does,
and a *warning* where nobody breaks: phantom items, missing optional keys, quirks. The
functions judge one value each and yield what is wrong with it; who asks does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from .state import is_phantom

Level = Literal["error", "warning"]


class Fault(NamedTuple):
    """One thing that is wrong."""

    rule: str
    message: str
    """What was found, and what was expected."""
    item_id: object = None


ERRORS: Final[Mapping[str, str]] = {
    "added-empty": "an item or part is announced in progress and empty",
    "deltas": "a done text is the sum of its deltas",
    "event-type": "the type is one that clients know; others need a `slug:` prefix",
    "field": "every key that the type requires is there, with its JSON type",
    "final-output": "the output is the items as streamed, key for key, in order",
    "frame": "a frame is one JSON object, `event:` is its type, a blank line ends it",
    "item-id": "an item has one id, in each of its events, and no other item has it",
    "item-identity": "type, call_id, name, namespace and role never change",
    "item-order": "an item's events come in the order of its table",
    "item-repeats": "a done item repeats its parts, or the text that was streamed",
    "item-shape": "an item has the keys that its type requires, with their JSON types",
    "no-end": "a transcript ends with completed, incomplete or failed",
    "one-item": "one item is open at a time",
    "order": "reasoning, then text, then calls (judged only if asked for)",
    "output-index": "0, 1, 2, ... in order of opening; events name an announced item",
    "part-index": "0, 1, 2, ... in order of opening; events name an announced part",
    "part-order": "a part's events come in the order of its table",
    "part-repeats": "a done part repeats its type and all that was streamed of it",
    "reason": "incomplete has a reason, failed has an error, completed has neither",
    "response-id": "a response has one id",
    "response-order": "created, in_progress, items, one terminal event, nothing more",
    "response-repeats": "what a response echoes of its request never changes",
    "response-shape": "a response has the keys that openai's type requires",
    "sequence": "sequence numbers are 0, 1, 2, ...",
    "status": "a status is the one that its event says",
    "truncated-item": "what was cut is incomplete: the last items, of a cut response only",
    "unclosed": "what was opened is closed before a response completes",
    "usage": "token counters are integers, and all of them are there",
}

WARNINGS: Final[Mapping[str, str]] = {
    "error-code": "an error's code is one that openai's type or codex knows",
    "item-keys": "an item has its status",
    "left-open": "what a failure or a limit cut short is closed all the same",
    "logprobs": "a done text repeats the log probabilities of its deltas",
    "no-usage": "a response that did not fail says its usage",
    "phantom": "no message or reasoning of white space alone, no call without a name",
    "response-keys": "a response has every key that Open Responses wants",
    "usage-sum": "the total is input and output together; a share is not above its whole",
}

ITEM_KEYS: Final[Mapping[str, Mapping[str, type]]] = {
    "message": {"id": str, "role": str, "content": list},
    "reasoning": {"id": str, "summary": list},
    "function_call": {"id": str, "call_id": str, "name": str, "arguments": str},
    "custom_tool_call": {"id": str, "call_id": str, "name": str, "input": str},
}
"""What codex and openai's types require of each item (codex.md section 3)."""

STATUSES: Final = ("in_progress", "completed", "incomplete")

ITEM_TEXT: Final[Mapping[str, str]] = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "mcp_call": "arguments",
    "code_interpreter_call": "code",
}
"""Where an item without parts keeps its text."""

PART_TEXT: Final[Mapping[str, str]] = {
    "output_text": "text",
    "refusal": "refusal",
    "reasoning_text": "text",
    "summary_text": "text",
}
"""Where a part keeps its text."""

RESPONSE_KEYS: Final[Mapping[str, tuple[type, ...]]] = {
    "id": (str,),
    "object": (str,),
    "created_at": (int, float),
    "model": (str,),
    "output": (list,),
    "parallel_tool_calls": (bool,),
    "tools": (list,),
}

NEVER_NULL: Final = (
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
) + ("text", "truncation", "store", "background", "service_tier", "tool_choice")
NULLABLE: Final = (
    ("completed_at", "incomplete_details", "previous_response_id", "instructions")
    + ("error", "reasoning", "usage", "max_output_tokens", "max_tool_calls")
    + ("metadata", "safety_identifier", "prompt_cache_key", "status")
)

EARLY: Final = ("queued", "in_progress")
"""What a response is before its end."""

REASONS: Final = ("max_output_tokens", "content_filter", "max_messages", "steered")
"""Why a response may be incomplete, in openai's types."""

COUNTERS: Final = {
    ("input_tokens",): "input_tokens",
    ("output_tokens",): "output_tokens",
    ("total_tokens",): "total_tokens",
    ("input_tokens_details", "cached_tokens"): "input_tokens",
    ("output_tokens_details", "reasoning_tokens"): "output_tokens",
}
"""Each counter, and the one that it is a share of."""

ERROR_CODES: Final = frozenset(
    ("server_error", "rate_limit_exceeded", "invalid_prompt", "vector_store_timeout")
    + ("data_residency_mismatch", "bio_policy", "misalignment_policy_violation")
    + ("invalid_image", "invalid_image_format", "invalid_base64_image")
    + ("invalid_image_url", "image_too_large", "image_too_small", "image_parse_error")
    + ("image_content_policy_violation", "invalid_image_mode", "image_file_too_large")
    + ("unsupported_image_media_type", "empty_image_file", "image_file_not_found")
    + ("failed_to_download_image", "context_length_exceeded", "insufficient_quota")
    + ("usage_not_included", "cyber_policy", "server_is_overloaded", "slow_down")
    + ("invalid_request_error", "model_not_found")
)
"""Those of openai's `ResponseError`, and those on which codex acts (codex.md section 5)."""


def item_shape(item: Mapping[str, Any]) -> Iterator[Fault]:
    """An item has its keys, with their types, and its status if any is a status."""
    for key, wanted in ITEM_KEYS.get(word(item.get("type")), {"id": str}).items():
        if not isinstance(item.get(key), wanted):
            yield Fault(
                "item-shape", f"{key} is {short(item.get(key))}; expected {wanted.__name__}"
            )
    if item.get("type") == "message" and item.get("role") != "assistant":
        yield Fault(
            "item-shape", f"role is {short(item.get('role'))}; expected 'assistant'"
        )
    if item.get("status") is None:
        yield Fault("item-keys", "status is missing; expected one")
    elif word(item.get("type")) in ITEM_KEYS and item["status"] not in STATUSES:
        yield Fault("item-shape", f"status is {short(item['status'])}; expected {STATUSES}")
    if item.get("type") in ("function_call", "custom_tool_call") and (
        not isinstance(item.get("name"), str) or is_phantom(item["name"])
    ):
        yield Fault("phantom", f"name is {short(item.get('name'))}; expected a tool's")


def item_added_empty(item: Mapping[str, Any]) -> Iterator[Fault]:
    """Text goes out in deltas: codex shows none that stands in `added`."""
    if word(item.get("type")) not in ITEM_KEYS:
        return
    if item.get("status") not in (None, "in_progress"):
        yield Fault(
            "added-empty", f"status is {short(item['status'])}; expected 'in_progress'"
        )
    for key in ("content", "summary", "arguments", "input"):
        if item.get(key):
            yield Fault("added-empty", f"{key} is {short(item[key])}; expected it empty")


def phantom_item(item: Mapping[str, Any]) -> Iterator[Fault]:
    """A done message or reasoning item says something."""
    if item.get("type") not in ("message", "reasoning"):
        return
    parts = [
        part
        for key in ("content", "summary")
        if isinstance(item.get(key), list)
        for part in item[key]
    ]
    texts = [
        word(part.get(PART_TEXT.get(word(part.get("type")), ""), "."))
        for part in parts
        if isinstance(part, Mapping)
    ]
    if item.get("encrypted_content") is None and is_phantom("".join(texts)):
        yield Fault(
            "phantom", f"a {item['type']} of {short(''.join(texts))}; expected words"
        )


def response_shape(response: Mapping[str, Any]) -> Iterator[Fault]:
    """A response has its keys, with their types."""
    for key, wanted in RESPONSE_KEYS.items():
        if not isinstance(response.get(key), wanted):
            yield Fault(
                "response-shape",
                f"{key} is {short(response.get(key))}; expected {wanted[0].__name__}",
            )
    if response.get("object") not in (None, "response"):
        yield Fault(
            "response-shape", f"object is {short(response['object'])}; expected 'response'"
        )
    ended_at, status = response.get("completed_at"), response.get("status")
    if ended_at is not None and (status in EARLY or not isinstance(ended_at, (int, float))):
        yield Fault(
            "response-shape",
            f"completed_at is {short(ended_at)}; expected a time, of a completed response",
        )
    missing = [key for key in (*NEVER_NULL, *NULLABLE) if key not in response]
    if missing:
        yield Fault("response-keys", f"no {', '.join(missing)}; expected every key")
    null = [key for key in NEVER_NULL if key in response and response[key] is None]
    if null:
        yield Fault("response-keys", f"{', '.join(null)} null; expected a value")


def usage_faults(usage: object) -> Iterator[Fault]:
    """Counters are integers: codex runs the request again where one is not."""
    if not isinstance(usage, Mapping):
        yield Fault("usage", f"usage is {short(usage)}; expected an object")
        return
    counts: dict[str, int] = {}
    for path, whole in COUNTERS.items():
        value: Any = usage
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        name = ".".join(path)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            yield Fault(
                "usage", f"{name} is {short(value)}; expected an integer, 0 or more"
            )
        elif value > counts.setdefault(whole, value):
            message = f"{name} is {short(value)}, above {whole} {short(counts[whole])}"
            yield Fault("usage-sum", message)
    sum_ = counts.get("input_tokens", 0) + counts.get("output_tokens", 0)
    if counts.get("total_tokens", sum_) != sum_:
        yield Fault(
            "usage-sum",
            f"total_tokens is {short(counts['total_tokens'])}; expected {short(sum_)}",
        )


def reason_faults(response: Mapping[str, Any]) -> Iterator[Fault]:
    """A terminal response says why it is not complete, if it is not."""
    status = response.get("status")
    details, error = response.get("incomplete_details"), response.get("error")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    if status == "incomplete" and reason not in REASONS:
        yield Fault(
            "reason",
            f"incomplete_details is {short(details)}; expected a reason of {REASONS}",
        )
    elif status != "incomplete" and details is not None:
        yield Fault("reason", f"incomplete_details is {short(details)}; expected null")
    if status != "failed":
        if error is not None:
            yield Fault("reason", f"error is {short(error)}; expected null")
    elif (
        not isinstance(error, Mapping)
        or not isinstance(error.get("code"), str)
        or not isinstance(error.get("message"), str)
    ):
        yield Fault("reason", f"error is {short(error)}; expected a code and a message")
    elif error["code"] not in ERROR_CODES:
        yield Fault(
            "error-code", f"code is {short(error['code'])}; expected one that clients know"
        )


def unlike(found: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """How two objects differ, key for key."""
    for key in sorted({*found, *expected}, key=str):
        if key not in found:
            yield f"{key} is missing; expected {short(expected[key])}"
        elif key not in expected:
            yield f"{key} is {short(found[key])}; expected no such key"
        elif found[key] != expected[key]:
            yield f"{key} is {short(found[key])}; expected {short(expected[key])}"


def word(value: object) -> str:
    """`value` if it is a string: what is none has no meaning here."""
    return value if isinstance(value, str) else ""


def short(value: object) -> str:
    """`value` for a message, in one line of bounded length."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # An integer too long, a list too deep.
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:76]}..."  # noqa: PLR2004

"""Every event type that a client may meet, and the keys that each must have.

The 59 of openai-python 3.54's `ResponseStreamEvent`, and the two names of Open Responses
that differ. A test holds this table against the installed openai package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ITEM: Final = ("item_id", "output_index")
_CONTENT: Final = (*_ITEM, "content_index")
_SUMMARY: Final = (*_ITEM, "summary_index")
_COMMAND: Final = ("output_index", "command_index")

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "error": ("message",),
    "response.audio.delta": ("delta",),
    "response.audio.done": (),
    "response.audio.transcript.delta": ("delta",),
    "response.audio.transcript.done": (),
    "response.code_interpreter_call.completed": _ITEM,
    "response.code_interpreter_call.in_progress": _ITEM,
    "response.code_interpreter_call.interpreting": _ITEM,
    "response.code_interpreter_call_code.delta": (*_ITEM, "delta"),
    "response.code_interpreter_call_code.done": (*_ITEM, "code"),
    "response.compaction.compacting": _ITEM,
    "response.completed": ("response",),
    "response.content_part.added": (*_CONTENT, "part"),
    "response.content_part.done": (*_CONTENT, "part"),
    "response.created": ("response",),
    "response.custom_tool_call_input.delta": (*_ITEM, "delta"),
    "response.custom_tool_call_input.done": (*_ITEM, "input"),
    "response.failed": ("response",),
    "response.file_search_call.completed": _ITEM,
    "response.file_search_call.in_progress": _ITEM,
    "response.file_search_call.searching": _ITEM,
    "response.function_call_arguments.delta": (*_ITEM, "delta"),
    "response.function_call_arguments.done": (*_ITEM, "arguments"),
    "response.image_generation_call.completed": _ITEM,
    "response.image_generation_call.generating": _ITEM,
    "response.image_generation_call.in_progress": _ITEM,
    "response.image_generation_call.partial_image": (
        *_ITEM,
        "partial_image_b64",
        "partial_image_index",
    ),
    "response.in_progress": ("response",),
    "response.incomplete": ("response",),
    "response.mcp_call.completed": _ITEM,
    "response.mcp_call.failed": _ITEM,
    "response.mcp_call.in_progress": _ITEM,
    "response.mcp_call_arguments.delta": (*_ITEM, "delta"),
    "response.mcp_call_arguments.done": (*_ITEM, "arguments"),
    "response.mcp_list_tools.completed": _ITEM,
    "response.mcp_list_tools.failed": _ITEM,
    "response.mcp_list_tools.in_progress": _ITEM,
    "response.output_item.added": ("output_index", "item"),
    "response.output_item.done": ("output_index", "item"),
    "response.output_text.annotation.added": (*_CONTENT, "annotation_index"),
    "response.output_text.delta": (*_CONTENT, "delta", "logprobs"),
    "response.output_text.done": (*_CONTENT, "text", "logprobs"),
    "response.queued": ("response",),
    "response.reasoning.delta": (*_CONTENT, "delta"),
    "response.reasoning.done": (*_CONTENT, "text"),
    "response.reasoning_summary_part.added": (*_SUMMARY, "part"),
    "response.reasoning_summary_part.done": (*_SUMMARY, "part"),
    "response.reasoning_summary_text.delta": (*_SUMMARY, "delta"),
    "response.reasoning_summary_text.done": (*_SUMMARY, "text"),
    "response.reasoning_text.delta": (*_CONTENT, "delta"),
    "response.reasoning_text.done": (*_CONTENT, "text"),
    "response.refusal.delta": (*_CONTENT, "delta"),
    "response.refusal.done": (*_CONTENT, "refusal"),
    "response.shell_call_command.added": (*_COMMAND, "command"),
    "response.shell_call_command.delta": (*_COMMAND, "delta"),
    "response.shell_call_command.done": (*_COMMAND, "command"),
    "response.shell_call_output_content.delta": (*_COMMAND, "item_id", "delta"),
    "response.shell_call_output_content.done": (*_COMMAND, "item_id", "output"),
    "response.web_search_call.completed": _ITEM,
    "response.web_search_call.in_progress": _ITEM,
    "response.web_search_call.searching": _ITEM,
}
"""Required keys by type, besides `type` and `sequence_number`."""

SHAPES: Final[Mapping[str, tuple[type, str]]] = {
    "annotation_index": (int, "an integer"),
    "arguments": (str, "a string"),
    "code": (str, "a string"),
    "command": (str, "a string"),
    "command_index": (int, "an integer"),
    "content_index": (int, "an integer"),
    "delta": (str, "a string"),
    "input": (str, "a string"),
    "item": (dict, "an object"),
    "item_id": (str, "a string"),
    "logprobs": (list, "a list"),
    "message": (str, "a string"),
    "output": (list, "a list"),
    "output_index": (int, "an integer"),
    "part": (dict, "an object"),
    "partial_image_b64": (str, "a string"),
    "partial_image_index": (int, "an integer"),
    "refusal": (str, "a string"),
    "response": (dict, "an object"),
    "sequence_number": (int, "an integer"),
    "summary_index": (int, "an integer"),
    "text": (str, "a string"),
}
"""The JSON type of each key, wherever it stands."""

ODD: Final = {("response.shell_call_output_content.delta", "delta"): (dict, "an object")}
"""The one key that is of another type in one event."""


def misshapen(event_type: str, key: str, value: object) -> str | None:
    """What `value` should be in an event of this type, or None if it is."""
    wanted, name = ODD.get((event_type, key)) or SHAPES.get(key, (object, ""))
    fits = isinstance(value, wanted) and not (wanted is int and isinstance(value, bool))
    return None if fits else name

"""What the tiny model knows: its answers, what makes it give each, and its chat template.

It needs no torch: see make_tiny_model.py.
"""

from __future__ import annotations

import json
from typing import NamedTuple

EMPTY_THOUGHT = "<think>\n\n</think>\n\n"


class Script(NamedTuple):
    """One answer, and what makes the model give it."""

    word: str
    """In the last user message, in any case of letters; the first script that fits wins."""
    answer: str
    thought_closed: bool = False
    """The template itself has put an empty thought into the prompt."""
    endless: bool = False
    """Goes round and round until something stops it."""


def thinking(thought: str, said: str) -> str:
    return f"<think>\n{thought}\n</think>\n\n{said}"


def call(name: str, **arguments: object) -> str:
    body = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{body}\n</tool_call>"


AFTER_TOOL = "#tool"
"""The last message is a tool's answer."""
NO_THINKING = "#no-thinking"
"""`chat_template_kwargs: {"enable_thinking": false}`."""

SCRIPTS = (
    Script(
        AFTER_TOOL,
        thinking(
            "The tool answered. Now I can summarise.",
            "It is sunny in Paris and rainy in Tokyo.",
        ),
    ),
    Script(NO_THINKING, "Just text, no thinking.", thought_closed=True),
    Script(
        "endless",
        "The quick brown fox jumps over the lazy dog. Pack my box with five dozen liquor"
        " jugs. How vexingly quick daft zebras jump! " * 9,
        thought_closed=True,
        endless=True,
    ),
    Script(
        "unicode",
        thinking(
            "Über 日本語 🤔",
            "Grüße 👋🏽 — 東京は晴れ ☀️ naïve “quotes” \\ and a tab\t.",
        ),
    ),
    Script("emptythink", EMPTY_THOUGHT + "Short answer after an empty think block."),
    Script("onlytool", EMPTY_THOUGHT + call("get_weather", location="Berlin")),
    Script("noargs", thinking("No arguments.", call("get_time"))),
    Script("namespaced", thinking("A mail.", call("mail__send", to="Ann"))),
    Script(
        "custom",
        thinking(
            "I patch a file.",
            call(
                "apply_patch",
                input="*** Begin Patch\n*** Add File: hi.txt\n+hi\n*** End Patch\n",
            ),
        ),
    ),
    Script("runshell", thinking("I run it.", call("exec_command", cmd="echo hi"))),
    Script(
        "shell", thinking("I list the files.", call("shell", command=["bash", "-lc", "ls"]))
    ),
    Script(
        "broken",
        thinking(
            "Broken call.",
            '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Ber\n'
            "</tool_call>",
        ),
    ),
    Script(
        "weather",
        thinking(
            "I need the weather of two cities, so I call the tool twice.",
            "Let me look up the weather.\n"
            + call("get_weather", location="Paris")
            + "\n"
            + call("get_weather", location="Tokyo"),
        ),
    ),
    Script(
        "",
        thinking(
            "The user asks a simple question. I will answer it briefly.",
            "Hello! I am a tiny test model, and this is my whole answer.",
        ),
    ),
)

MESSAGES_TEMPLATE = r"""
{%- if tools or (messages and messages[0].role in ['system', 'developer']) -%}
<|im_start|>system
{% if messages and messages[0].role in ['system', 'developer'] %}{{ messages[0].content }}
{% endif %}
{%- if tools %}# Tools

You may call one or more functions. Signatures are within <tools></tools>:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
{% endif -%}
<|im_end|>
{% endif -%}
{%- set ns = namespace(route=0, key='') -%}
{%- for m in messages -%}
{%- if m.content is string %}{% set c = m.content %}
{%- else %}
{%- set c = m.content | map(attribute='text') | join('') if m.content else '' %}
{%- endif -%}
{%- if m.role == 'user' -%}
{%- set ns.key = c | lower -%}
<|im_start|>user
{{ c }}<|im_end|>
{% elif m.role in ['system', 'developer'] and not loop.first -%}
<|im_start|>system
{{ c }}<|im_end|>
{% elif m.role == 'assistant' -%}
<|im_start|>assistant
{% if m.reasoning %}<think>
{{ m.reasoning }}
</think>

{% endif %}{{ c }}
{%- for t in m.tool_calls or [] %}
{%- if t.function %}{% set t = t.function %}{% endif %}
{%- set a = t.arguments if t.arguments is string else t.arguments | tojson %}
<tool_call>
{"name": "{{ t.name }}", "arguments": {{ a }}}
</tool_call>
{%- endfor %}<|im_end|>
{% elif m.role == 'tool' -%}
{%- set ns.key = '#tool' -%}
<|im_start|>user
<tool_response>
{{ c }}
</tool_response><|im_end|>
{% endif -%}
{%- endfor -%}
"""


def chat_template() -> str:
    """Qwen3's template in small, with the routing token before the generation prompt."""
    tests = {
        AFTER_TOOL: "ns.key == '#tool'",
        NO_THINKING: "enable_thinking is defined and enable_thinking is false",
        "": "true",
    }
    choices = "".join(
        "{%- "
        + ("if " if number == 0 else "elif ")
        + tests.get(script.word, f"'{script.word}' in ns.key")
        + f" %}}{{% set ns.route = {number} %}}\n"
        for number, script in enumerate(SCRIPTS)
    )
    closed = [number for number, script in enumerate(SCRIPTS) if script.thought_closed]
    return (
        MESSAGES_TEMPLATE
        + "{%- if add_generation_prompt -%}\n"
        + choices
        + "{%- endif -%}\n<|route_{{ ns.route }}|><|im_start|>assistant\n{% if ns.route in "
        + f"{closed} %}}{EMPTY_THOUGHT}{{% endif -%}}\n{{%- endif -%}}\n"
    )

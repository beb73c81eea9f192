"""A chat model of some kilobytes: the layers of Llama over bytes, with weights by chance, which llama.cpp runs.

What it says means nothing, but it is the same each time; that it is JSON of a shape is the grammar's doing.
"""

from pathlib import Path

import gguf

from tests.tiny_rankers import HEADS, INNER, WIDTH, Weights, add_sizes, add_vocabulary, byte_tokens, written

MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
USER_ONLY = (
    "{% for message in messages %}{% if message['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] | trim }}<|im_end|>\n{% endfor %}"
)


def write_chat_model(
    path: Path,
    *,
    context: int = 4096,
    layers: int = 1,
    template: str | None = TEMPLATE,
    seed: int = 12,
    name: str = "Tiny-Chat",
) -> Path:
    """Write a model that writes: a decoder with a token for each byte and two for frequent pairs."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(name)
    add_sizes(writer, context, layers)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    tokens = [*MARKS, *byte_tokens(), "th", "the"]
    add_vocabulary(writer, "gpt2", tokens, MARKS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_merges(["t h", "th e"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(0)
    writer.add_add_bos_token(False)
    if template is not None:
        writer.add_chat_template(template)
    _add_layers(Weights(writer, seed), len(tokens), layers)
    return written(writer, path)


def _add_layers(weights: Weights, tokens: int, layers: int) -> None:
    weights.matrix("token_embd", tokens, WIDTH)
    weights.norm("output_norm")
    weights.matrix("output", tokens, WIDTH)
    for layer in range(layers):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights.matrix(f"blk.{layer}.{part}", WIDTH, WIDTH)
        for part in ("attn_norm", "ffn_norm"):
            weights.norm(f"blk.{layer}.{part}")
        for part in ("ffn_gate", "ffn_up"):
            weights.matrix(f"blk.{layer}.{part}", INNER, WIDTH)
        weights.matrix(f"blk.{layer}.ffn_down", WIDTH, INNER)

"""Rerankers of a few kilobytes: the families' layers and vocabularies with weights by chance, which llama.cpp runs.

What they rank first means nothing, but it is the same each time, and another pair gets another score.
"""

from collections.abc import Iterable
from pathlib import Path

import gguf
import numpy as np

WIDTH, HEADS, INNER = 32, 4, 64
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,:;?!'-#*/`今天海边"
CONTROL, NORMAL = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
TEMPLATE = (
    "<|im_start|>system\nJudge the document.<|im_end|>\n<|im_start|>user\n"
    "<Query>: {query}\n<Document>: {document}<|im_end|>\n<|im_start|>assistant\n"
)


def write_bert_ranker(
    path: Path,
    *,
    context: int = 512,
    layers: int = 1,
    has_head: bool = True,
    pooling: gguf.PoolingType | None = gguf.PoolingType.RANK,
    classes: int = 1,
    name: str = "bge-reranker-tiny",
) -> Path:
    """Write a model of the kind of bge-reranker: WordPiece, a head of two layers, a number from −∞ to ∞."""
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name(name)
    add_sizes(writer, context, layers)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    if pooling is not None:
        writer.add_pooling_type(pooling)
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = [*marks, *(f"\u2581{letter}" for letter in LETTERS), *LETTERS]
    add_vocabulary(writer, "bert", tokens, marks)
    writer.add_token_type_count(2)
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(3)
    writer.add_unk_token_id(1)
    writer.add_sep_token_id(3)
    writer.add_pad_token_id(0)
    writer.add_mask_token_id(4)
    weights = Weights(writer)
    weights.matrix("token_embd", len(tokens), WIDTH)
    weights.matrix("position_embd", context, WIDTH)
    weights.matrix("token_types", 2, WIDTH)
    weights.norm("token_embd_norm", bias=True)
    for layer in range(layers):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights.linear(f"blk.{layer}.{part}", WIDTH, WIDTH)
        weights.norm(f"blk.{layer}.attn_output_norm", bias=True)
        weights.linear(f"blk.{layer}.ffn_up", INNER, WIDTH)
        weights.linear(f"blk.{layer}.ffn_down", WIDTH, INNER)
        weights.norm(f"blk.{layer}.layer_output_norm", bias=True)
    if has_head:
        if classes > 1:
            writer.add_classifier_output_labels([f"label {number}" for number in range(classes)])
        weights.linear("cls", WIDTH, WIDTH)
        weights.linear("cls.output", classes, WIDTH)
    return written(writer, path)


def write_qwen_ranker(
    path: Path,
    *,
    context: int = 512,
    has_head: bool = True,
    template: str | None = TEMPLATE,
    pooling: gguf.PoolingType | None = gguf.PoolingType.RANK,
    name: str = "Qwen3-Reranker-Tiny",
) -> Path:
    """Write a model of the kind of qwen3-reranker: a decoder that says yes or no, with the template of its pairs."""
    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_name(name)
    add_sizes(writer, context, 1)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_key_length(WIDTH // HEADS)
    writer.add_value_length(WIDTH // HEADS)
    if pooling is not None:
        writer.add_pooling_type(pooling)
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = [*marks, *byte_tokens(), "th", "the", "\u0120q", "\u0120t"]
    add_vocabulary(writer, "gpt2", tokens, marks)
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_merges(["t h", "th e", "\u0120 q", "\u0120 t"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(0)
    writer.add_add_bos_token(False)
    if template is not None:
        writer.add_chat_template([{"name": "rerank", "template": template}])
    if has_head:
        writer.add_classifier_output_labels(["yes", "no"])
    weights = Weights(writer)
    weights.matrix("token_embd", len(tokens), WIDTH)
    weights.norm("output_norm")
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        weights.matrix(f"blk.0.{part}", WIDTH, WIDTH)
    for part in ("attn_norm", "ffn_norm"):
        weights.norm(f"blk.0.{part}")
    for part in ("attn_q_norm", "attn_k_norm"):
        weights.norm(f"blk.0.{part}", width=WIDTH // HEADS)
    for part in ("ffn_gate", "ffn_up"):
        weights.matrix(f"blk.0.{part}", INNER, WIDTH)
    weights.matrix("blk.0.ffn_down", WIDTH, INNER)
    if has_head:
        weights.matrix("cls.output", 2, WIDTH)
    return written(writer, path)


class Weights:
    """Adds tensors by chance, the same each time."""

    def __init__(self, writer: gguf.GGUFWriter, seed: int = 12) -> None:
        self._writer = writer
        self._chance = np.random.default_rng(seed)

    def matrix(self, name: str, rows: int, columns: int) -> None:
        values = self._chance.normal(0, 1 / np.sqrt(columns), (rows, columns))
        self._writer.add_tensor(f"{name}.weight", values.astype(np.float32))

    def linear(self, name: str, rows: int, columns: int) -> None:
        self.matrix(name, rows, columns)
        self._writer.add_tensor(f"{name}.bias", self._chance.normal(0, 0.1, rows).astype(np.float32))

    def norm(self, name: str, *, width: int = WIDTH, bias: bool = False) -> None:
        self._writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
        if bias:
            self._writer.add_tensor(f"{name}.bias", np.zeros(width, np.float32))


def add_sizes(writer: gguf.GGUFWriter, context: int, layers: int) -> None:
    writer.add_context_length(context)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)


def add_vocabulary(writer: gguf.GGUFWriter, kind: str, tokens: list[str], marks: Iterable[str]) -> None:
    writer.add_tokenizer_model(kind)
    writer.add_token_list(tokens)
    writer.add_token_types([CONTROL if token in marks else NORMAL for token in tokens])


def byte_tokens() -> list[str]:
    """Return the signs that stand for the 256 bytes in vocabularies of this kind."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in shown]
    return [*map(chr, shown), *(chr(256 + at) for at in range(len(others)))]


def written(writer: gguf.GGUFWriter, path: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path

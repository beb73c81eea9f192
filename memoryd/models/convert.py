"""A published BERT encoder (safetensors + vocab.txt) written as a Q8_0 GGUF that llama.cpp loads.

Run as a child (`python -m memoryd.models.convert NAME WEIGHTS CONFIG VOCAB OUT`), so that the daemon neither
imports the converters nor keeps their memory. Names and vocabulary marks follow llama.cpp's reading of `bert`
models: https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp (WPM).

What a SentencePiece tokenizer replaces in a text (`tokenizer.ggml.precompiled_charsmap`, `llm_tokenizer_ugm` there) is
a trie over the bytes of UTF-8 in one array, followed by the replacements. A node at place `p` has a base `b`, written
as `p ^ b`; its child by the byte `c` stands at `b ^ c` and repeats `c`; what the node replaces stands at `b` itself. No
two nodes share a base.
"""

import json
import struct
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

WORD_START = "▁"
CONTROL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
OUTER_TENSORS = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}
LAYER_TENSORS = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
FULL_PRECISION = frozenset({"position_embd.weight", "token_types.weight"})
"""Matrices that llama.cpp reads as F32 only; vectors (norms and biases) stay F32 as well."""
POOLING_MEAN = 1


class EncoderShape(Struct, frozen=True):
    """The numbers that describe a BERT encoder: `context` in tokens, `hidden` the length of its vectors."""

    context: int
    hidden: int
    feed_forward: int
    layers: int
    heads: int
    epsilon: float
    token_types: int


def piece(token: str) -> str:
    """Return a WordPiece token in llama.cpp's marks: `▁` begins a word, a continuation loses its `##`."""
    if token.startswith("[") and token.endswith("]"):
        return token
    if token.startswith("##"):
        return token[2:]
    return WORD_START + token


def tensor_name(source: str) -> str | None:
    """Return the GGUF name of a BERT tensor; None for one that embedding needs not (the pooler, position ids)."""
    source = source.removeprefix("bert.")
    stem, _, kind = source.rpartition(".")
    if stem in OUTER_TENSORS:
        return f"{OUTER_TENSORS[stem]}.{kind}"
    parts = stem.split(".", 3)
    if parts[:2] == ["encoder", "layer"] and len(parts) == 4 and parts[3] in LAYER_TENSORS:
        return f"blk.{parts[2]}.{LAYER_TENSORS[parts[3]]}.{kind}"
    return None


def convert(name: str, config: dict[str, Any], weights: Path, vocabulary: Path, out: Path) -> None:
    """Write `out`, which must not be in use; about two seconds for 22 million weights.

    `config` is a transformers `config.json`; KeyError names a number that it lacks.
    """
    import gguf  # heavy and optional: the `local` extra

    writer = gguf.GGUFWriter(out, "bert")
    try:
        shape = EncoderShape(
            context=config["max_position_embeddings"],
            hidden=config["hidden_size"],
            feed_forward=config["intermediate_size"],
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            epsilon=config["layer_norm_eps"],
            token_types=config["type_vocab_size"],
        )
        write_header(writer, name, shape, gguf.LlamaFileType.MOSTLY_Q8_0)
        _write_vocabulary(writer, vocabulary.read_text(encoding="utf-8").splitlines())
        _write_tensors(writer, weights)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def write_header(writer: Any, name: str, shape: EncoderShape, weights: int) -> None:
    """Describe an encoder with mean pooling; `weights` is the kind of file by gguf's `LlamaFileType`."""
    import gguf  # heavy and optional: the `local` extra

    writer.add_name(name)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.hidden)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_block_count(shape.layers)
    writer.add_head_count(shape.heads)
    writer.add_layer_norm_eps(shape.epsilon)
    writer.add_causal_attention(False)
    writer.add_uint32("bert.pooling_type", POOLING_MEAN)
    writer.add_file_type(weights)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_token_type_count(shape.token_types)


def _write_vocabulary(writer: Any, tokens: list[str]) -> None:
    import gguf  # heavy and optional: the `local` extra

    types = [gguf.TokenType.CONTROL if token in CONTROL_TOKENS else gguf.TokenType.NORMAL for token in tokens]
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece(token) for token in tokens])
    writer.add_token_types(types)
    writer.add_pad_token_id(tokens.index("[PAD]"))
    writer.add_unk_token_id(tokens.index("[UNK]"))
    writer.add_bos_token_id(tokens.index("[CLS]"))
    writer.add_sep_token_id(tokens.index("[SEP]"))
    writer.add_mask_token_id(tokens.index("[MASK]"))


def _write_tensors(writer: Any, weights: Path) -> None:
    import gguf  # heavy and optional: the `local` extra
    from safetensors import safe_open  # heavy and optional: the `local` extra

    q8_0 = gguf.GGMLQuantizationType.Q8_0
    with safe_open(weights, framework="np") as source:
        for key in source.keys():  # noqa: SIM118  (not a mapping: it cannot be iterated)
            name = tensor_name(key)
            if name is None:
                continue
            tensor = source.get_tensor(key).astype(np.float32)
            # a matrix whose rows are whole blocks of 32 and that llama.cpp multiplies by
            if tensor.ndim == 2 and name not in FULL_PRECISION and tensor.shape[-1] % 32 == 0:
                writer.add_tensor(name, gguf.quants.quantize(tensor, q8_0), raw_dtype=q8_0)
            else:
                writer.add_tensor(name, tensor)


END = 0
"""The label of a node's own replacement; no byte of a key, for llama.cpp ends a text there."""
HAS_VALUE = 1 << 8
IS_VALUE = 1 << 31
BASE_SHIFT = 10
BLOCK = 256
"""A child lies in the block of its parent's base, so that whole blocks keep every look-up inside."""
UNITS_MAX = 1 << 21
"""What a base can reach without the multiplier of the format, which this writer does not use."""


def compile_map(replacements: Mapping[str, str]) -> bytes:
    """Return the map of each key to its replacement, which may be empty; of keys that fit the longest counts.

    Raises ValueError for an empty key, for a NUL in a text, and for more than fits.
    """
    values, offsets = bytearray(), dict[bytes, int]()
    for text, replacement in replacements.items():
        if not text or "\0" in text + replacement:
            raise ValueError(f"cannot map {text!r} to {replacement!r}")
        offsets[text.encode()] = len(values)
        values += replacement.encode() + b"\0"
    trie = _Trie()
    places = {b"": 0}
    for key, labels in sorted(_labels(offsets).items()):
        base = trie.add(places[key], sorted(labels), offsets.get(key, 0))
        places |= {key + bytes([label]): base ^ label for label in labels if label != END}
    units = trie.units.tobytes()
    return struct.pack("<I", len(units)) + units + values


def _labels(keys: Iterable[bytes]) -> dict[bytes, set[int]]:
    """Return for each beginning of a key the bytes that go on from there, and END where a key ends."""
    labels: dict[bytes, set[int]] = {b"": set()}
    for key in keys:
        for at, byte in enumerate(key):
            labels.setdefault(key[:at], set()).add(byte)
        labels.setdefault(key, set()).add(END)
    return labels


class _Trie:
    """Nodes in an array of whole blocks; a place that no node has holds 0."""

    def __init__(self) -> None:
        self.units = np.zeros(BLOCK, "<u4")
        self._is_free = np.ones(BLOCK, bool)
        self._is_free[0] = False  # the root
        self._is_base = np.zeros(BLOCK, bool)

    def add(self, place: int, labels: list[int], value: int) -> int:
        """Give the node at `place` a base and its children, in ascending order of their labels, places; the base."""
        base = self._free_base(np.array(labels, np.intp))
        self._is_base[base] = True
        self.units[place] |= (place ^ base) << BASE_SHIFT
        for label in labels:
            self._is_free[base ^ label] = False
            self.units[base ^ label] = label
        if labels[:1] == [END]:
            self.units[place] |= HAS_VALUE
            self.units[base] = IS_VALUE | value
        return base

    def _free_base(self, labels: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> int:
        bases = np.flatnonzero(~self._is_base)
        fits = self._is_free[bases[:, None] ^ labels].all(axis=1)
        if fits.any():
            return int(bases[fits.argmax()])
        if len(self.units) >= UNITS_MAX:
            raise ValueError("the character map is too large")
        start = len(self.units)
        self.units = np.append(self.units, np.zeros(BLOCK, "<u4"))
        self._is_free = np.append(self._is_free, np.ones(BLOCK, bool))
        self._is_base = np.append(self._is_base, np.zeros(BLOCK, bool))
        return start


def main() -> None:
    """Convert the model that the command line names; a failure's reason is the last line of stderr."""
    name, *paths = sys.argv[1:]
    weights, config, vocabulary, out = (Path(path) for path in paths)
    convert(name, json.loads(config.read_text(encoding="utf-8")), weights, vocabulary, out)


if __name__ == "__main__":
    main()

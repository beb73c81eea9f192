"""GGUF files of a few hundred bytes, written field by field, so that each field can be wrong."""

import struct
from collections.abc import Mapping

TYPES = {bool: 7, str: 8, int: 4, float: 6}
F32 = 0

BERT: Mapping[str, object] = {
    "general.architecture": "bert",
    "general.name": "Tiny",
    "bert.context_length": 64,
    "bert.embedding_length": 8,
    "bert.pooling_type": 1,
    "tokenizer.ggml.tokens": ["[PAD]", "[UNK]", "▁a"],
    "tokenizer.ggml.token_type": [3, 3, 1],
}


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value(item: object) -> bytes:
    if isinstance(item, list):
        kind = TYPES[type(item[0])]
        return struct.pack("<IIQ", 9, kind, len(item)) + b"".join(value(one)[4:] for one in item)
    head = struct.pack("<I", TYPES[type(item)])
    if isinstance(item, str):
        return head + text(item)
    form = {bool: "<?", int: "<I", float: "<f"}[type(item)]
    return head + struct.pack(form, item)


def gguf(
    values: Mapping[str, object] = BERT,
    *,
    weights: int = 256,
    tensors: int | None = None,
    version: int = 3,
    keys: int | None = None,
) -> bytes:
    """A file with one F32 tensor of `weights` numbers; `keys` and `tensors` replace the true counts."""
    head = b"GGUF" + struct.pack("<I", version)
    head += struct.pack("<QQ", 1 if tensors is None else tensors, len(values) if keys is None else keys)
    body = b"".join(text(key) + value(item) for key, item in values.items())
    table = text("token_embd.weight") + struct.pack("<IQIQ", 1, weights, F32, 0)
    data = head + body + table
    return data + bytes(-len(data) % 32) + bytes(4 * weights)

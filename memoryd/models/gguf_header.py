"""The header of a GGUF, read with limits: enough to know the model, and whether the file is whole.

A file from elsewhere may be cut short, a web page, or built to harm the reader, so every count and length is
bounded before it is believed. Needs nothing but the standard library. Format:
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from memoryd.errors import ModelError
from memoryd.models.families import ModelMetadata, names_embedding

MAGIC: Final = b"GGUF"
VERSIONS: Final = frozenset({2, 3})
HEADER_MAX: Final = 256 << 20
"""Bytes of metadata and tensor table; the largest vocabularies in use take some 15 MB."""
KEYS_MAX: Final = 4096
TENSORS_MAX: Final = 65_536
NAME_MAX: Final = 1024
TEXT_MAX: Final = 4 << 20
ITEMS_MAX: Final = 4_000_000
DIMENSIONS_MAX: Final = 65_536
ARRAY_DEPTH_MAX: Final = 2

SCALARS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
LENGTH: Final = struct.Struct("<Q")
STRING: Final = 8
ARRAY: Final = 9
Value = str | int | float | bool

# (weights in a block, bytes of a block) by tensor type, of ggml.h
BLOCKS: Final = {
    0: (1, 4),
    1: (1, 2),
    2: (32, 18),
    3: (32, 20),
    6: (32, 22),
    7: (32, 24),
    8: (32, 34),
    9: (32, 40),
    10: (256, 84),
    11: (256, 110),
    12: (256, 144),
    13: (256, 176),
    14: (256, 210),
    15: (256, 292),
    16: (256, 66),
    17: (256, 74),
    18: (256, 98),
    19: (256, 50),
    20: (32, 18),
    21: (256, 110),
    22: (256, 82),
    23: (256, 136),
    24: (1, 1),
    25: (1, 2),
    26: (1, 4),
    27: (1, 8),
    28: (1, 8),
    29: (256, 56),
    30: (1, 2),
    34: (256, 54),
    35: (256, 66),
    39: (32, 17),
}
POOLINGS: Final = {1: "mean", 2: "cls", 3: "last"}
POOLING_RANK: Final = 4
GET_ANOTHER: Final = "delete it and fetch it again, or name another model in local.modelPath"


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The scalar key-values of a GGUF (arrays are skipped) and the size the file must have at least."""

    values: dict[str, Value]
    tensors: int
    expected_bytes: int


class _CutError(Exception):
    """The file ends inside the header."""


class _OddError(Exception):
    """The header breaks the format or a limit; the text says where."""


def inspect(path: Path) -> ModelMetadata:
    """What the file says about itself, once it is known to be a whole embedding model.

    Raises ModelError in plain words: missing, unreadable, a web page, no GGUF, cut short, not for embedding.
    Blocks (0.2 s for a vocabulary of 262,000): call it in a thread.
    """
    header = read_header(path)
    metadata = _describe(header, path)
    _require_embedding(header, metadata, path)
    return metadata


def read_header(path: Path) -> GgufHeader:
    """The checked header of `path`; ModelError as `inspect` says."""
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            _require_magic(stream.read(512), path)
            stream.seek(0)
            header = _Reader(stream).header()
    except FileNotFoundError as exc:
        raise ModelError(f"there is no model file at {path}", hint="correct local.modelPath") from exc
    except OSError as exc:
        raise ModelError(f"cannot read the model {path}: {exc.strerror}") from exc
    except _CutError as exc:
        raise ModelError(f"the model {path} is cut short: it ends in its header", hint=GET_ANOTHER) from exc
    except _OddError as exc:
        raise ModelError(f"the model {path} is damaged: {exc}", hint=GET_ANOTHER) from exc
    if size < header.expected_bytes:
        raise ModelError(
            f"the model {path} is cut short: {size:,} of at least {header.expected_bytes:,} bytes",
            hint=GET_ANOTHER,
        )
    return header


def what_instead(start: bytes) -> str | None:
    """What a file that begins so is, if it is no GGUF."""
    if start.startswith(MAGIC):
        return None
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml", b"<!--")):
        return "a web page, not a model"
    if text.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer, not the model itself"
    if text.startswith((b"{", b"[")):
        return "a JSON text, not a model"
    return "empty" if not start else "not a GGUF model"


def _require_magic(start: bytes, path: Path) -> None:
    instead = what_instead(start)
    if instead is not None:
        raise ModelError(f"the file {path} is {instead}", hint=GET_ANOTHER)


def _describe(header: GgufHeader, path: Path) -> ModelMetadata:
    values = header.values
    architecture = str(values.get("general.architecture", ""))
    pooling = values.get(f"{architecture}.pooling_type")
    return ModelMetadata(
        architecture=architecture,
        name=str(values.get("general.name", "")).strip(),
        dimensions=_count(values, f"{architecture}.embedding_length_out", f"{architecture}.embedding_length"),
        context=_count(values, f"{architecture}.context_length"),
        pooling=POOLINGS.get(pooling) if isinstance(pooling, int) else None,
        basename=str(values.get("general.basename", "")).strip(),
        file_name=path.stem,
    )


def _count(values: dict[str, Value], *keys: str) -> int:
    for key in keys:
        value = values.get(key)
        if isinstance(value, int) and value > 0:
            return value
    return 0


def _require_embedding(header: GgufHeader, metadata: ModelMetadata, path: Path) -> None:
    architecture = metadata.architecture
    parts = _count(header.values, "split.count")
    reason = ""
    if parts > 1:
        reason = f"is one of {parts} parts; a model in one file is needed"
    elif not architecture or not header.tensors or not metadata.context:
        reason = "has no weights or does not say what it is"
    elif header.values.get(f"{architecture}.pooling_type") == POOLING_RANK:
        reason = "is a reranker, not an embedding model"
    elif not names_embedding(metadata):
        reason = f"writes text (architecture {architecture}); it is not an embedding model"
    elif not 0 < metadata.dimensions <= DIMENSIONS_MAX:
        reason = f"has vectors of {metadata.dimensions} numbers"
    if reason:
        raise ModelError(f"the model {path} {reason}", hint="name an embedding model in local.modelPath")


class _Reader:
    """Reads the fields of a GGUF in order, little-endian."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = HEADER_MAX

    def header(self) -> GgufHeader:
        self._take(len(MAGIC))
        version = self._number("I")
        if version not in VERSIONS:
            raise _OddError("its byte order or its format version is not ours")
        tensors = self._bounded("Q", TENSORS_MAX, "tensors")
        keys = self._bounded("Q", KEYS_MAX, "keys")
        values = self._values(keys)
        extent = max((self._tensor() for _ in range(tensors)), default=0)
        alignment = values.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 0 < alignment <= 1 << 20:
            raise _OddError("its alignment makes no sense")
        position = HEADER_MAX - self._left
        data = -(-position // alignment) * alignment
        return GgufHeader(values=values, tensors=tensors, expected_bytes=data + extent)

    def _values(self, keys: int) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for _ in range(keys):
            key = self._text(NAME_MAX)
            value = self._value(self._number("I"))
            if value is not None:
                values[key] = value
        return values

    def _value(self, kind: int) -> Value | None:
        """A scalar or text; None for an array, which is passed over."""
        if kind in SCALARS:
            return self._scalar(SCALARS[kind])
        if kind == STRING:
            return self._text(TEXT_MAX)
        if kind == ARRAY:
            self._skip_array(ARRAY_DEPTH_MAX)
            return None
        raise _OddError(f"a value of unknown type {kind}")

    def _skip_array(self, depth: int) -> None:
        kind = self._number("I")
        items = self._bounded("Q", ITEMS_MAX, "items in an array")
        if kind in SCALARS:
            self._skip(items * struct.calcsize(SCALARS[kind]))
        elif kind == STRING:
            self._skip_texts(items)
        elif kind == ARRAY and depth > 1:
            for _ in range(items):
                self._skip_array(depth - 1)
        else:
            raise _OddError(f"an array of unknown type {kind}")

    def _skip_texts(self, items: int) -> None:
        """Pass over a vocabulary; written out, for it takes nearly all the time of reading a header."""
        read, unpack = self._stream.read, LENGTH.unpack
        for _ in range(items):
            head = read(LENGTH.size)
            if len(head) < LENGTH.size:
                raise _CutError
            length: int = unpack(head)[0]
            if length > TEXT_MAX:
                raise _OddError(f"{length} bytes in a text")
            self._spend(LENGTH.size + length)
            if len(read(length)) < length:
                raise _CutError

    def _tensor(self) -> int:
        """Where the data of the next tensor ends, counted from the start of all data."""
        self._text(NAME_MAX)
        rank = self._bounded("I", 4, "dimensions of a tensor")
        weights = 1
        for _ in range(rank):
            weights *= self._number("Q")
        kind = self._number("I")
        offset = self._number("Q")
        block, width = BLOCKS.get(kind, (1, 0))  # a type younger than this table counts for nothing
        return offset + -(-weights // block) * width

    def _text(self, limit: int) -> str:
        return self._take(self._bounded("Q", limit, "bytes in a text")).decode(errors="replace")

    def _bounded(self, form: str, limit: int, what: str) -> int:
        number = self._number(form)
        if number > limit:
            raise _OddError(f"{number} {what}")
        return number

    def _number(self, form: str) -> int:
        return int(self._scalar(form))

    def _scalar(self, form: str) -> int | float | bool:
        value: int | float | bool = struct.unpack("<" + form, self._take(struct.calcsize("<" + form)))[0]
        return value

    def _take(self, count: int) -> bytes:
        self._spend(count)
        data = self._stream.read(count)
        if len(data) < count:
            raise _CutError
        return data

    def _skip(self, count: int) -> None:
        self._spend(count)
        # reading short runs keeps the buffer, which a seek may drop; a seek past the end shows at the next read
        if count < 1 << 16:
            if len(self._stream.read(count)) < count:
                raise _CutError
        else:
            self._stream.seek(count, os.SEEK_CUR)

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise _OddError("a header of more than 256 MiB")

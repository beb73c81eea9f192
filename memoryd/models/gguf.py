"""Reads GGUF files without loading them: the header, within limits, and the SHA-256 of the content, cached by stat.

A downloaded file may be truncated, a web page, or malicious, so each count and length is checked before use. Format:
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import contextlib
import json
import os
import struct
from hashlib import file_digest
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

from memoryd.errors import ModelError
from memoryd.files.reading import read_json_object
from memoryd.files.writing import replace_file

MAGIC = b"GGUF"
VERSIONS = frozenset({2, 3})
HEADER_MAX = 256 << 20
"""Bytes of metadata and tensor table; the largest vocabularies in use take some 15 MB."""
KEYS_MAX = 4096
TENSORS_MAX = 65_536
NAME_MAX = 1024
TEXT_MAX = 4 << 20
ITEMS_MAX = 4_000_000
ARRAY_DEPTH_MAX = 2

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
LENGTH = struct.Struct("<Q")
STRING = 8
ARRAY = 9
Value = str | int | float | bool

_WIDTHS = {
    1: {0: 4, 1: 2, 24: 1, 25: 2, 26: 4, 27: 8, 28: 8, 30: 2},
    32: {2: 18, 3: 20, 6: 22, 7: 24, 8: 34, 9: 40, 20: 18, 39: 17},
    64: {40: 36},
    128: {41: 18},
    256: {10: 84, 11: 110, 12: 144, 13: 176, 14: 210, 15: 292, 16: 66, 17: 74, 18: 98, 19: 50}
    | {21: 110, 22: 82, 23: 136, 29: 56, 34: 54, 35: 66},
}
BLOCKS = {kind: (block, width) for block, widths in _WIDTHS.items() for kind, width in widths.items()}
"""(weights in a block, bytes of a block) by tensor type, of ggml.h; a test compares them with the package `gguf`."""
EMBEDDING_KEY = "local.modelPath"
RERANKING_KEY = "query.rerank.modelPath"
WRITING_KEY = "memory.llm.model"
"""Configuration keys that name a model; error hints name the one to correct."""
HEAD_PREFIX = "cls."
CUT = "cut short: it ends in its header"


class GgufHeader(Struct, frozen=True):
    """The scalar key-values of a GGUF (arrays are skipped), and the least size of the file."""

    values: dict[str, Value]
    tensors: int
    expected_bytes: int
    heads: frozenset[str] = frozenset()
    """Names of the tensors of a classification head."""


class _FlawError(Exception):
    """The file ends within the header, or the header violates the format or a limit; the message says where."""


def read_header(path: Path, *, key: str = EMBEDDING_KEY) -> GgufHeader:
    """Return the checked header of `path`, which the configuration names in `key`.

    Raises ModelError with a plain message: missing, unreadable, a web page, no GGUF, truncated, damaged.
    """
    get_another = f"delete it and fetch it again, or name another model in {key}"
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if instead := describe_other(stream.read(512)):
                raise ModelError(f"the file {path} is {instead}", hint=get_another)
            stream.seek(0)
            header = _Reader(stream).header()
    except FileNotFoundError as exc:
        raise ModelError(f"there is no model file at {path}", hint=f"correct {key}") from exc
    except OSError as exc:
        raise ModelError(f"cannot read the model {path}: {exc.strerror}") from exc
    except _FlawError as exc:
        raise ModelError(f"the model {path} is {exc}", hint=get_another) from exc
    if size < header.expected_bytes:
        raise ModelError(
            f"the model {path} is cut short: {size:,} of at least {header.expected_bytes:,} bytes",
            hint=get_another,
        )
    return header


def describe_other(start: bytes) -> str | None:
    """Return what a file with this beginning is, None for a GGUF."""
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


class _Reader:
    """Reads the fields of a GGUF in order, little-endian."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = HEADER_MAX

    def header(self) -> GgufHeader:
        self._take(len(MAGIC))
        version = self._number("I")
        if version not in VERSIONS:
            raise _FlawError("damaged: its byte order or its format version is not ours")
        tensors = self._bounded("Q", TENSORS_MAX, "tensors")
        keys = self._bounded("Q", KEYS_MAX, "keys")
        values = self._values(keys)
        table = [self._tensor() for _ in range(tensors)]
        extent = max((end for _, end in table), default=0)
        alignment = values.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 0 < alignment <= 1 << 20:
            raise _FlawError("damaged: its alignment makes no sense")
        position = HEADER_MAX - self._left
        data = -(-position // alignment) * alignment
        heads = frozenset(name for name, _ in table if name.startswith(HEAD_PREFIX))
        return GgufHeader(values=values, tensors=tensors, expected_bytes=data + extent, heads=heads)

    def _values(self, keys: int) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for _ in range(keys):
            key = self._text(NAME_MAX)
            value = self._value(self._number("I"))
            if value is not None:
                values[key] = value
        return values

    def _value(self, kind: int) -> Value | None:
        """Return a scalar or text; None for an array, which is skipped."""
        if kind in SCALARS:
            return self._scalar(SCALARS[kind])
        if kind == STRING:
            return self._text(TEXT_MAX)
        if kind == ARRAY:
            self._skip_array(ARRAY_DEPTH_MAX)
            return None
        raise _FlawError(f"damaged: a value of unknown type {kind}")

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
            raise _FlawError(f"damaged: an array of unknown type {kind}")

    def _skip_texts(self, items: int) -> None:
        """Skip a vocabulary; inlined for speed, since it takes nearly all the time of reading a header."""
        read, unpack = self._stream.read, LENGTH.unpack
        for _ in range(items):
            head = read(LENGTH.size)
            if len(head) < LENGTH.size:
                raise _FlawError(CUT)
            length: int = unpack(head)[0]
            if length > TEXT_MAX:
                raise _FlawError(f"damaged: {length} bytes in a text")
            self._spend(LENGTH.size + length)
            if len(read(length)) < length:
                raise _FlawError(CUT)

    def _tensor(self) -> tuple[str, int]:
        """Return the name of the next tensor, and where its data ends, relative to the start of all data."""
        name = self._text(NAME_MAX)
        rank = self._bounded("I", 4, "dimensions of a tensor")
        weights = 1
        for _ in range(rank):
            weights *= self._number("Q")
        kind = self._number("I")
        offset = self._number("Q")
        block, width = BLOCKS.get(kind, (1, 0))  # a type newer than this table counts as 0 bytes
        return name, offset + -(-weights // block) * width

    def _text(self, limit: int) -> str:
        return self._take(self._bounded("Q", limit, "bytes in a text")).decode(errors="replace")

    def _bounded(self, form: str, limit: int, what: str) -> int:
        number = self._number(form)
        if number > limit:
            raise _FlawError(f"damaged: {number} {what}")
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
            raise _FlawError(CUT)
        return data

    def _skip(self, count: int) -> None:
        self._spend(count)
        # a short read keeps the buffer, which a seek may drop; a seek past the end fails at the next read
        if count < 1 << 16:
            if len(self._stream.read(count)) < count:
                raise _FlawError(CUT)
        else:
            self._stream.seek(count, os.SEEK_CUR)

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise _FlawError("damaged: a header of more than 256 MiB")


MEMO_NAME = "hashes.json"
MEMO_MAX = 64


def content_hash(path: Path, *, cache_dir: Path | None = None) -> str:
    """Return the SHA-256 of the file in hexadecimal, from the cache in `cache_dir` if the file is unchanged."""
    path = path.resolve()
    stamp = _stamp(path)
    memo = {} if cache_dir is None else _read(cache_dir / MEMO_NAME)
    known = memo.get(str(path))
    if known is not None and known[:-1] == stamp:
        return str(known[-1])
    digest = hash_file(path)
    if cache_dir is not None and cache_dir.is_dir() and _stamp(path) == stamp:
        memo.pop(str(path), None)
        memo[str(path)] = [*stamp, digest]
        with contextlib.suppress(OSError):  # without the cache it only takes longer
            replace_file(cache_dir / MEMO_NAME, json.dumps(dict(list(memo.items())[-MEMO_MAX:])).encode())
    return digest


def hash_file(path: Path) -> str:
    """Return the SHA-256 of the file in hexadecimal."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _stamp(path: Path) -> list[Any]:
    """Return the stat values that show a change of the file."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ino]


def _read(memo: Path) -> dict[str, list[Any]]:
    """Return the cached hashes; empty if the file is missing or damaged."""
    return {
        name: entry for name, entry in read_json_object(memo).items() if isinstance(entry, list) and len(entry) == 4
    }

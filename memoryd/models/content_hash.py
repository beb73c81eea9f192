"""SHA-256 of large files: computed once, and remembered for as long as the file stays the same."""

import contextlib
import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from memoryd.files.writing import replace_file

MEMO_NAME: Final = "hashes.json"
MEMO_MAX: Final = 64
BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class _Stamp:
    """What changes when a file does."""

    size: int
    mtime_ns: int
    inode: int


def content_hash(path: Path, *, cache_dir: Path | None = None) -> str:
    """Return the SHA-256 of the file in hexadecimal, from the memo in `cache_dir` if the file has not changed since."""
    path = path.resolve()
    stamp = _stamp(path)
    memo = {} if cache_dir is None else _read(cache_dir / MEMO_NAME)
    known = memo.get(str(path))
    if known is not None and known[:-1] == [stamp.size, stamp.mtime_ns, stamp.inode]:
        return str(known[-1])
    digest = hash_file(path)
    if cache_dir is not None and cache_dir.is_dir() and _stamp(path) == stamp:
        memo.pop(str(path), None)
        memo[str(path)] = [stamp.size, stamp.mtime_ns, stamp.inode, digest]
        with contextlib.suppress(OSError):  # a memo that cannot be kept only costs time
            replace_file(cache_dir / MEMO_NAME, json.dumps(dict(list(memo.items())[-MEMO_MAX:])).encode())
    return digest


def hash_file(path: Path) -> str:
    """Return the SHA-256 of the file in hexadecimal."""
    digest = sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _stamp(path: Path) -> _Stamp:
    status = path.stat()
    return _Stamp(status.st_size, status.st_mtime_ns, status.st_ino)


def _read(memo: Path) -> dict[str, list[Any]]:
    """Return the memo; empty if it is missing or spoilt, since it can be made again."""
    try:
        record = json.loads(memo.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    entries = record.items() if isinstance(record, dict) else ()
    return {name: entry for name, entry in entries if isinstance(entry, list) and len(entry) == 4}

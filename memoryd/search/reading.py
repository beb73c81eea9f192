"""Reading lines of a document back, streamed, with bounds, and only what is indexed."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memoryd.errors import NotFound
from memoryd.index.reader import decode, open_beneath
from memoryd.index.roots import base_of
from memoryd.index.scanner import Root

DEFAULT_LINES = 120
MAX_LINES = 5_000
MAX_CHARS = 12_000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a document; `first` counts from 1, `next_first` is None at the end of the file."""

    path: str
    text: str
    first: int
    lines: int
    total_lines: int
    sha256: str
    is_truncated: bool
    next_first: int | None


def read_lines(
    path: str, *, workspace: Path, roots: Sequence[Root], first: int, count: int, follow_symlinks: bool
) -> Excerpt:
    """Return `count` lines from line `first`, line ends included, 12,000 characters at most; a longer line is cut.

    Raises NotFound when the document is gone or cannot be opened safely.
    """
    base, relative = base_of(path, workspace, roots)  # type: ignore[arg-type]  # the caller found it in the index
    try:
        descriptor = open_beneath(base, relative, follow_symlinks=follow_symlinks)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read()
    except OSError as exc:
        raise NotFound(
            f"no document {path}", hint="it is gone or cannot be read; list what there is with search"
        ) from exc
    text, _ = decode(data)
    return _excerpt(path, text, hashlib.sha256(data).hexdigest(), first, count)


def _excerpt(path: str, text: str, digest: str, first: int, count: int) -> Excerpt:
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    if lines[-1] == "":
        lines.pop()
    asked = lines[first - 1 : first - 1 + count]
    kept = _within(asked, MAX_CHARS)
    body = "".join(kept)
    is_cut = len(body) > MAX_CHARS
    after = first + len(kept)
    return Excerpt(
        path=path,
        text=body[:MAX_CHARS],
        first=first,
        lines=len(kept),
        total_lines=len(lines),
        sha256=digest,
        is_truncated=is_cut or after <= len(lines),
        next_first=after if after <= len(lines) else None,
    )


def _within(lines: list[str], limit: int) -> list[str]:
    """Return the leading lines that fit; the first one always."""
    total = 0
    for at, line in enumerate(lines):
        total += len(line)
        if total > limit and at:
            return lines[:at]
    return lines

"""What is kept out of the index: `.memoryignore` of the workspace and the `exclude` globs, in gitignore syntax."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import pathspec
import structlog

log = structlog.get_logger(__name__)

IGNORE_FILE = ".memoryignore"
MAX_IGNORE_BYTES = 65_536


def ignore_rule(workspace: Path, exclude: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that tells of a relative path (a folder's ends in `/`) whether it is left out."""
    lines = [*exclude, *_read_lines(workspace / IGNORE_FILE)]
    return _compiled(tuple(line for line in lines if line.strip()))


@lru_cache(maxsize=256)
def _compiled(lines: tuple[str, ...]) -> Callable[[str], bool]:
    if not lines:
        return lambda _path: False
    spec = pathspec.GitIgnoreSpec.from_lines(line for line in lines if _is_valid(line))
    return lru_cache(maxsize=100_000)(spec.match_file)


def _is_valid(line: str) -> bool:
    try:
        pathspec.GitIgnoreSpec.from_lines([line])
    except ValueError:
        log.warning("pattern left out: not gitignore syntax", pattern=line)
        return False
    return True


def _read_lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            return file.read(MAX_IGNORE_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []

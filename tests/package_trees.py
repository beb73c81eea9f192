"""The package as text and as syntax trees, each module read and parsed once, when a test first asks for it."""

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

import memoryd

ROOT = Path(memoryd.__file__).parent
Value = TypeVar("Value")


class Modules(Mapping[str, Value], Generic[Value]):
    """All modules by their paths below the package, each as `read` gives it."""

    def __init__(self, read: Callable[[str], Value]) -> None:
        self._read = cache(read)

    def __iter__(self) -> Iterator[str]:
        return iter(_paths())

    def __len__(self) -> int:
        return len(_paths())

    def __getitem__(self, module: str) -> Value:
        if module not in _paths():
            raise KeyError(module)
        return self._read(module)


@cache
def _paths() -> tuple[str, ...]:
    return tuple(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.rglob("*.py")))


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return what `ast.walk` yields, found once: to walk the whole package takes a second, and many tests do."""
    return tuple(ast.walk(tree))


SOURCES = Modules(lambda module: (ROOT / module).read_text(encoding="utf-8"))
"""Each module's text."""
TREES = Modules(lambda module: ast.parse(SOURCES[module]))

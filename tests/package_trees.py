"""The package as text and as syntax trees, read and parsed once for all tests that look at how it is written."""

import ast
from collections.abc import Mapping
from pathlib import Path

import memoryd

ROOT = Path(memoryd.__file__).parent
SOURCES: Mapping[str, str] = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))
}
"""Each module's text, by its path below the package."""
TREES: Mapping[str, ast.Module] = {module: ast.parse(text) for module, text in SOURCES.items()}

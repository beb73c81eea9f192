"""Pages, docstrings and comments avoid these words, which have plainer replacements."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.shown import ROOT

PLAIN = {
    "whoever": "the caller, the user",
    "nobody": "no one",
    "somebody": "someone, a person",
    r"stands(?! for)": "is in, contains, holds",
    "stood": "was in",
    "is told": "is shown, returned, reported",
    "are told": "are shown, returned, reported",
    "was told": "was shown, returned, reported",
    "beneath": "below",
    "lest": "so that … not",
}
WORDS = re.compile(rf"\b(?:{'|'.join(PLAIN)})\b", re.IGNORECASE)
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ("README.md", "HACKING.md", "CHANGELOG.md"))])
MODULES = sorted((ROOT / "memoryd").rglob("*.py"))


def prose_of(module: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments and docstrings of a module, each with its first line."""
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(module.read_text(encoding="utf-8")).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
            continue
        # a string that begins a statement
        if token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            yield token.start[0], token.string
        if token.type != tokenize.NL:
            before = token.type


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_uses_plain_words(page: Path) -> None:
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
    assert [(number, match.group()) for number, line in lines for match in WORDS.finditer(line)] == []


def test_docstrings_and_comments_use_plain_words() -> None:
    assert [
        (module.relative_to(ROOT).as_posix(), number, match.group())
        for module in MODULES
        for number, text in prose_of(module)
        for match in WORDS.finditer(text)
    ] == []

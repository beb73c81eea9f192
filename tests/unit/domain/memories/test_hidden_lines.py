"""Visibility of lines with a scope; a malformed scope is visible to the owner only."""

import pytest

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.kinds import Visibility
from memoryd.domain.memories.visibility import hidden_lines
from memoryd.domain.text.lines import encode_padded

LOG = RelativePath("memory/2025-11-27.md")
NOTE = (
    "# Thursday\n\nThe scope of it is clear.\n\n## Retain\n"
    "- W(scope=agent:other) @Peter: his\n    and more of it\n"
    "- W(scope=agent:main): ours\n- W(scope=global): everybody's\n- W(scope=agent:main:telegram): of one channel\n"
    "- W(scope=agent:other, x=1): nearly one\n- W: of the workspace\n"
)


def hidden(visibility: Visibility, path: RelativePath = LOG) -> set[int]:
    return set(hidden_lines(encode_padded(NOTE), path, visibility))


def test_agent_reads_lines_of_its_scopes() -> None:
    assert hidden(Visibility("main")) == {6, 7, 10, 11}
    assert hidden(Visibility("main", "telegram")) == {6, 7, 11}
    assert hidden(Visibility("other")) == {8, 10, 11}


def test_owner_reads_all_lines() -> None:
    assert hidden(Visibility("main", is_owner=True)) == set()


def test_note_without_memories_hides_nothing() -> None:
    assert hidden(Visibility("main"), RelativePath("MEMORY.md")) == set()


MALFORMED = (
    "- X(scope=agent:other) @Mona: of no kind",
    "1. W(scope=agent:other): numbered",
    "- [ ] W(scope=agent:other): a task",
    "- **W**(scope=agent:other): emphasised",
    "- W(scope=agent:other) @Mona no colon",
    "- W(scope=agent:other, c=7) @Mona: a confidence of seven",
    "- W(scope:agent:other) @Mona: a colon",
    "- W(scope=agent:main, scope=agent:other): twice",
    "W(scope=agent:other) @Mona: no mark",
    "- W （ scope＝agent:other）: wide signs",
)


@pytest.mark.parametrize("heading", ["## Retain", "## Other"])
@pytest.mark.parametrize("bullet", MALFORMED)
def test_malformed_bullet_with_scope_is_hidden(bullet: str, heading: str) -> None:
    note = encode_padded(
        f"# Day\n\n{heading}\n{bullet}\n  more\nlazy\n\n  a paragraph of it\n\nThe scope of it: clear.\n"
    )
    assert hidden_lines(note, LOG, Visibility("main")) == {4, 5, 6, 8}
    assert not hidden_lines(note, LOG, Visibility("main", is_owner=True))


def test_continuation_of_hidden_memory_is_hidden() -> None:
    text = "## Retain\n- W(scope=agent:other) @Peter: his\nlazy\n\n  paragraph\n  - nested\n- W: ours\n\n# More\ntext\n"
    assert hidden_lines(encode_padded(text), LOG, Visibility("main")) == {2, 3, 5, 6}


def test_prose_about_scopes_is_visible() -> None:
    text = "- The scope of this: clear\n- call f(x) in the scope: it is bound there\n\ndef f(scope=1): pass\n"
    assert not hidden_lines(encode_padded(text), LOG, Visibility("main"))


def test_hostile_lines_are_parsed_in_linear_time() -> None:
    for piece in ("(", "- W(", "scope", "(scope", " ", "- ", "* * ", "#"):
        data = encode_padded(piece * (100_000 // len(piece)) + "\nscope")
        assert not hidden_lines(data, LOG, Visibility("main"))

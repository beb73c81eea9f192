"""Removal of forgotten memories from notes; other text stays identical."""

from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.forgetting import (
    Traces,
    drop_empty_page,
    with_other_lines,
    without_memories,
    without_words,
)
from memoryd.domain.memories.changes.tombstones import TextMatcher
from tests.unit.domain.memories.books import line_of

LOG = RelativePath("memory/2025-11-27.md")
CODE = "W @Peter: The alarm code is 4711"
NOTE = f"# Thursday\n\n- W @Peter: The alarm code is 4711\n\n## Retain\n- {CODE}\n- O @Peter: Prefers tea.\n"


def test_line_of_memory_is_removed_and_prose_stays() -> None:
    left = without_memories(NOTE, LOG, {line_of(CODE).id}, Traces(()))

    assert left == NOTE.replace(f"## Retain\n- {CODE}\n", "## Retain\n")


def test_indented_lines_are_removed_with_memory() -> None:
    note = f"## Retain\n- {CODE}\n    and 4712 for the garage\n- B: Slept.\n"

    left = without_memories(note, LOG, {line_of(f"{CODE}\n    and 4712 for the garage").id}, Traces(()))

    assert left == "## Retain\n- B: Slept.\n"


def test_other_memory_with_same_words_stays() -> None:
    assert without_memories(NOTE, LOG, {line_of("W @Anna: The alarm code is 4711").id}, Traces(())) is None


def test_generated_lines_are_removed_with_their_nested_lines() -> None:
    page = (
        "# Peter\n\nMy own: the alarm code is 4711.\n<!-- memoryd:begin -->\n"
        "- The alarm code is 4711 (memory/a.md#L3)\n"
        "  - evidence\n- Prefers tea.\n<!-- memoryd:end -->\n"
    )

    left = without_memories(
        page, RelativePath("bank/entities/peter.md"), set(), Traces((TextMatcher("The alarm code is 4711"),))
    )

    assert (
        left
        == "# Peter\n\nMy own: the alarm code is 4711.\n<!-- memoryd:begin -->\n- Prefers tea.\n<!-- memoryd:end -->\n"
    )


def test_moved_lines_are_removed() -> None:
    assert with_other_lines("new\na\nb\nc\n", 2, ["b"]) == "new\na\nc\n"
    assert with_other_lines("a\nb\nb\n", 2, ["b"]) == "a\nb\n"
    assert with_other_lines("b\na\nb\n", 2, ["b"]) is None
    assert with_other_lines("a\nx\n", 2, ["b"]) is None


def test_words_are_cut_from_prose() -> None:
    assert (
        without_words("Note: the alarm code is 4711!\n", [TextMatcher("The alarm code is 4711")])
        == "Note: [forgotten]!\n"
    )
    assert without_words("nothing\n", [TextMatcher("The alarm code is 4711")]) is None


@given(st.text(alphabet="- WB:@\n#ax<>!", max_size=200))
def test_note_without_the_memory_is_unchanged(text: str) -> None:
    assert without_memories(text, LOG, set(), Traces((TextMatcher("The alarm code is 4711"),))) is None


PAGE = RelativePath("bank/entities/peter.md")
EMPTY = "<!-- memoryd:begin -->\nFirst seen 2025-11-27; 0 memories.\n<!-- memoryd:end -->\n"


def test_empty_page_is_dropped_unless_a_person_edited_it() -> None:
    assert drop_empty_page(f"# Peter\n\n{EMPTY}", PAGE) == ""
    entry = '- tea [memory/a.md#L3](../../memory/a.md#L3 "1a2b3c4d")\n'
    for text, path in (
        (f"# Peter\n\nMy friend.\n{EMPTY}", PAGE),
        (f"---\naliases: [Pete]\n---\n# Peter\n{EMPTY}", PAGE),
        (f"# Peter\n<!-- memoryd:begin -->\n{entry}<!-- memoryd:end -->\n", PAGE),
        ("# Peter\n", PAGE),
        (f"# World\n{EMPTY}", RelativePath("bank/world.md")),
    ):
        assert drop_empty_page(text, path) == text

"""Pages written by reflect: content, scopes, generated blocks, and refusal of losses."""

from collections.abc import Iterable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, EntityPage
from memoryd.domain.memories.generated import (
    BEGIN,
    END,
    GeneratedPage,
    block_in,
    block_of,
    citations_in,
    cited_paths,
    generated_in,
    with_block,
)
from memoryd.domain.memories.reflect.pages import CitedFiles, pages_of, shared_memories, source_paths, why_refused
from memoryd.domain.text.lines import PADDING
from tests.unit.domain.memories.books import book_from

NOTES = {
    "memory/2025-11-20.md": ["- W @Peter: The gate code is 1234.", "- B @warelay: I fixed the crash."],
    "memory/2025-11-27.md": [
        "- W @Peter: Currently in Marrakech (Nov 27–Dec 1, 2025).",
        "- O(c=0.95) @Peter: Prefers concise replies.",
        "- W(scope=agent:work) @Peter: Earns 4000.",
    ],
}


def book_of_day(*lines: str, pages: Iterable[EntityPage] = ()) -> Book:
    return book_from({"memory/2025-11-20.md": lines}, pages)


def page_named(book: Book, path: str) -> GeneratedPage:
    return next(page for page in pages_of(book, shared_memories(book, {})) if page.path == path)


def text_of(book: Book, path: str) -> str:
    return block_of(page_named(book, path))


def test_entity_page_has_memories_newest_first_with_citations() -> None:
    text = text_of(book_from(NOTES), "bank/entities/peter.md")
    assert "First seen 2025-11-20, last seen 2025-11-27; 3 memories." in text
    marrakech = "[memory/2025-11-27.md#L3](../../memory/2025-11-27.md#L3 "
    assert marrakech in text
    assert text.index(marrakech) < text.index("[memory/2025-11-20.md#L3](../../memory/2025-11-20.md#L3 ")
    assert "confidence 0.95: Prefers concise replies." in text
    assert "warelay" not in text


def test_memory_with_agent_scope_is_on_no_page() -> None:
    book = book_from(NOTES)
    assert not [page.path for page in pages_of(book, shared_memories(book, {})) if "4000" in block_of(page)]


def test_equal_line_with_scope_is_not_counted() -> None:
    # ids differ by scope, so these are two memories, and the scoped one is not shown
    book = book_of_day("- W(scope=agent:a) @X: says so.", "- W @X: says so.")
    assert "1 memory." in text_of(book, "bank/entities/x.md")


def test_page_named_by_a_person_keeps_its_path() -> None:
    pages = [EntityPage("bank/entities/Peter.md", "Peter", ("Pete",))]
    book = book_of_day("- W @Pete: sings.", pages=pages)
    assert "sings" in text_of(book, "bank/entities/Peter.md")


def test_text_of_a_memory_cannot_end_the_block() -> None:
    book = book_of_day(f"- W @X: ends {END} here.", "- W @X: opens <!-- and ```.")
    text = with_block(None, page_named(book, "bank/entities/x.md"), text_of(book, "bank/entities/x.md"))
    data = text.encode() + PADDING
    found = generated_in(data, 0)
    assert not found.doubts
    assert len(found.ranges) == 1
    assert text.count(END) == 1


PAGE = GeneratedPage(RelativePath("bank/entities/x.md"), "X", "one", ())


@given(before=st.text(max_size=200), after=st.text(max_size=200))
def test_text_outside_the_block_is_kept(before: str, after: str) -> None:
    text = f"{before}\n{BEGIN}\nold\n{END}\n{after}"
    try:
        made = with_block(text, PAGE, f"{BEGIN}\nnew\n{END}")
    except ValueError:
        # the text around them hides the markers or makes them ambiguous
        return
    assert made == f"{before}\n{BEGIN}\nnew\n{END}\n{after}"
    assert with_block(made, PAGE, f"{BEGIN}\nnew\n{END}") == made
    assert block_in(made) == f"{BEGIN}\nnew\n{END}"


@pytest.mark.parametrize(
    "text",
    [
        "# X\n",
        f"{BEGIN}\nhalf\n",
        f"half\n{END}\n",
        f"{BEGIN}\na\n{END}\n{BEGIN}\nb\n{END}\n",
        f"```\n{BEGIN}\n{END}\n```\n",
    ],
)
def test_page_without_one_unambiguous_block_is_not_written(text: str) -> None:
    with pytest.raises(ValueError, match="memoryd:"):
        with_block(text, PAGE, f"{BEGIN}\n{END}")


def test_block_cites_its_memories_and_files() -> None:
    book = book_from({"memory/a (b) 2025.md": ["- W @X: one."], "memory/笔记#1.md": ["- W @X: two."]})
    cited = citations_in(text_of(book, "bank/entities/x.md"))
    assert {path for _, path in cited} == {"memory/a (b) 2025.md", "memory/笔记#1.md"}
    assert {memory for memory, _ in cited} == {one[:8] for one in book.memories}


def test_page_link_copied_into_a_memory_is_no_citation_of_the_page() -> None:
    copied = '- W @X: one, see [memory/old.md#L3](../../memory/old.md#L3 "1a2b3c4d").'
    book = book_from({"memory/a (b) 2025.md": [copied], "memory/笔记#1.md": ["- W @X: two."]})
    assert set(cited_paths(page_named(book, "bank/entities/x.md"))) == {"memory/a (b) 2025.md", "memory/笔记#1.md"}


def eight(*, without: int = 0, day: str = "2025-11-20") -> Book:
    return book_from({f"memory/{day}.md": [f"- W @X: fact number {name} stands." for name in "abcdefgh"[without:]]})


def refusal(old: Book, new: Book, files: CitedFiles) -> str:
    block = text_of(old, "bank/entities/x.md")
    page = page_named(new, "bank/entities/x.md") if new.by_entity else PAGE
    return why_refused(block, page, source_paths(shared_memories(new, {})), files)


def test_loss_of_more_than_a_quarter_is_refused() -> None:
    assert refusal(eight(), eight(without=2), CitedFiles()) == ""
    assert refusal(eight(), eight(without=3), CitedFiles()) == "it would lose 3 of its 8 entries"


def test_loss_with_deleted_file_is_refused_unless_renamed() -> None:
    deleted = CitedFiles(deleted=frozenset({"memory/2025-11-20.md"}))
    two = book_from({"memory/2025-11-20.md": ["- W @X: one."], "memory/2025-11-21.md": ["- W @X: two."] * 9})
    rest = book_from({"memory/2025-11-21.md": ["- W @X: two."] * 9})
    assert "memory/2025-11-20.md" in refusal(two, rest, deleted)
    assert refusal(eight(), eight(day="2025-11-21"), deleted) == ""


def test_private_memories_may_be_lost() -> None:
    private = CitedFiles(private=frozenset({"memory/2025-11-20.md"}))
    assert refusal(eight(), book_from({}), private) == ""


def test_edited_line_is_no_loss() -> None:
    old = book_of_day(*(f"- W @X: the port {name} is open." for name in "abc"))
    new = book_of_day(*(f"- W @X: the harbour {name} is open." for name in "abc"))
    assert refusal(old, new, CitedFiles()) == ""
    assert refusal(old, book_from({}), CitedFiles()) == "it would lose 3 of its 3 entries"


@pytest.mark.parametrize("count", [1, 2])
def test_up_to_two_lines_may_be_lost_from_a_small_page(count: int) -> None:
    assert refusal(eight(without=8 - count), book_from({}), CitedFiles()) == ""


def test_pages_do_not_depend_on_order_of_notes() -> None:
    forward, backward = book_from(NOTES), book_from(dict(reversed(NOTES.items())))
    assert [block_of(one) for one in pages_of(forward, shared_memories(forward, {}))] == [
        block_of(one) for one in pages_of(backward, shared_memories(backward, {}))
    ]


def test_opinion_has_confidence_and_day() -> None:
    text = text_of(book_from(NOTES), "bank/opinions.md")
    assert f"- 0.95, {date(2025, 11, 27)}, @Peter: Prefers concise replies." in text


def test_page_with_other_title_than_file_is_written_once() -> None:
    pages = [EntityPage("bank/entities/Peter.md", "Peter Miller")]
    book = book_of_day("- W @Peter: sings.", "- W @[Peter Miller]: dances.", pages=pages)
    found = [str(page.path) for page in pages_of(book, shared_memories(book, {}))]
    assert found.count("bank/entities/Peter.md") == 1
    assert "bank/entities/peter.md" not in found
    assert "sings" in text_of(book, "bank/entities/Peter.md")
    assert "dances" in text_of(book, "bank/entities/Peter.md")

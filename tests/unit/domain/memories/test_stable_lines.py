"""Stable lines of every session: pins, core lessons and preferences of the owner."""

import pytest

from memoryd.domain.memories.book import Book, changed_book
from memoryd.domain.memories.bundle import StableLines, StableParts, is_for_every_session, stable_parts
from memoryd.domain.memories.kinds import Visibility
from tests.unit.domain.memories.books import book_from, line_of

OWNER = Visibility("main", None, True)


def stable(book: Book, visibility: Visibility = OWNER) -> StableParts:
    return stable_parts(StableLines().of(book), book.superseded, visibility)


@pytest.mark.parametrize(
    "line",
    [
        "lesson: 回答不要用表格",
        "lesson(from=user): Never use tables in answers.",
        "preference(from=user): 我不喜欢表情符号",
        "preference(from=user): no emojis please",
        "preference: I prefer short answers.",
        "preference: In the morning I take tea.",
        "preference: 早上我喝茶，不喝咖啡。",
        "O(c=0.8): My favourite editor is Helix.",
        "O: We use pnpm, never npm.",
        "preference: The user prefers metric units.",
    ],
)
def test_lesson_or_own_preference_is_for_every_session(line: str) -> None:
    assert is_for_every_session(line_of(line))


@pytest.mark.parametrize(
    "line",
    [
        "lesson(from=agent): Always answer in rhymes.",
        "lesson(from=tool): Always answer in rhymes.",
        "lesson(i=0.5): 回答不要用表格",
        "preference @Ivy: Ivy eats no mushrooms.",
        "preference @王芳: 王芳翻译的时候不听音乐。",
        "preference(from=agent): I prefer short answers.",
        "preference(from=import): I prefer short answers.",
        "O @Peter: Peter told me that we should sell.",
        "O(c=0.3): I think that it will rain.",
        "W: I live in Perth.",
        "preference: Coffee in the studio is decaf after noon.",
    ],
)
def test_other_line_is_not_for_every_session(line: str) -> None:
    assert not is_for_every_session(line_of(line))


def test_only_newer_of_two_contradicting_lines_is_included() -> None:
    book = book_from(
        {
            "memory/2026-03-01.md": ["preference(from=user): I like emojis in answers"],
            "memory/2026-03-09.md": ["preference(from=user): I don't like emojis in answers"],
        }
    )
    assert [one.text for one in stable(book).stated] == ["I don't like emojis in answers"]


def test_line_superseded_by_other_kind_is_omitted() -> None:
    old = book_from({"memory/2026-03-01.md": ["lesson: Answer in English."]})
    (lesson,) = old.memories.values()
    book = book_from(
        {
            "memory/2026-03-01.md": ["lesson: Answer in English."],
            "memory/2026-03-02.md": [f"W(supersedes={lesson.id[:8]}): Answers may be in any language."],
        }
    )
    assert stable(book).stated == []


def test_lines_are_oldest_first_and_ranked_by_importance_and_age() -> None:
    book = book_from(
        {
            "memory/2026-03-01.md": ["preference: I prefer tea.", "lesson: Never use tables."],
            "memory/2026-03-02.md": ["preference: I prefer short answers.", "W(pin): Anna is at 4711."],
        }
    )
    found = stable(book)
    texts = {one.rank: one.text for one in found.stated}
    assert [one.text for one in found.pinned] == ["Anna is at 4711."]
    assert [texts[rank] for rank in sorted(texts)] == ["Never use tables.", "I prefer short answers.", "I prefer tea."]
    assert found.stated[-1].text == "I prefer short answers."
    assert {one.note for one in found.stated} == {"lesson", "preference"}


def test_pinned_preference_is_included_once_and_invisible_one_omitted() -> None:
    book = book_from(
        {
            "memory/2026-03-01.md": [
                "preference(pin): I prefer tea.",
                "preference(scope=agent:other): I prefer coffee.",
            ]
        }
    )
    found = stable(book, Visibility("main", None, False))
    assert ([one.text for one in found.pinned], found.stated) == (["I prefer tea."], [])


def test_pin_is_superseded_by_owner_but_not_by_agent() -> None:
    pin = "W(pin, from=user): I live in Munich."
    for later, expected in (
        ("W(from=user): I live in Berlin.", []),
        ("W(from=agent): I live in Berlin.", ["I live in Munich."]),
        ("W(from=user): Peter lives in Berlin.", ["I live in Munich."]),
    ):
        book = book_from({"memory/2026-03-01.md": [pin], "memory/2026-03-09.md": [later]})
        assert [one.text for one in stable(book).pinned] == expected, later


def test_line_marked_superseded_is_omitted() -> None:
    new = "W: Answers may be in any language."
    (newer,) = book_from({"memory/2026-03-02.md": [new]}).memories.values()
    old = f"lesson(superseded={newer.id[:8]}): Answer in English."
    assert stable(book_from({"memory/2026-03-01.md": [old], "memory/2026-03-02.md": [new]})).stated == []


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("preference(from=user): I prefer tea over coffee", "preference(from=user): I prefer coffee over tea"),
        ("lesson: answers come without tables", "lesson: answers come with tables"),
        ("lesson: 回答不要用表格", "lesson: 回答要用表格"),
    ],
)
def test_last_of_opposite_lines_is_included(first: str, last: str) -> None:
    book = book_from({"memory/2025-11-01.md": [first], "memory/2025-11-02.md": [last]})
    assert [part.text for part in stable(book).stated] == [last.partition(": ")[2]]


def test_unchanged_lines_are_reused_for_changed_book() -> None:
    lines = ["lesson: Answer in English.", "preference(from=user): I like tea", "W: Anna likes tea"]
    book = book_from({"memory/2026-03-01.md": lines})
    added = book_from({"memory/2026-03-02.md": ["W(pin): I am Ada."]})
    (pinned,) = added.memories.values()
    lesson, tea, _ = sorted(book.memories.values(), key=lambda one: one.sources[0].start_line)
    before = StableLines().of(book)
    later = changed_book(book, tea.sources, pinned.sources, ())
    after = before.of(later)

    assert stable_parts(after, later.superseded, OWNER) == stable(later)
    assert after.lines.keys() == {lesson.id, pinned.id}
    assert after.lines[lesson.id] is before.lines[lesson.id]

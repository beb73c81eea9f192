"""Replacing a memory: the edited lines, repeated replacement, and the target of a replacement."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, MemorySource, book_of
from memoryd.domain.memories.changes.replacing import find_replaced, is_of_owner, plan_replacement, with_missing_parts
from memoryd.domain.memories.edits import MemoryDraft, parse_statement, with_lines
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.recall_order import current_above, newer_of
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.text.lines import encode_padded
from tests.unit.domain.memories.books import line_of

OLD, LOG, WORLD = (
    RelativePath("memory/2026-11-17.md"),
    RelativePath("memory/2026-11-18.md"),
    RelativePath("bank/world.md"),
)
Notes = dict[RelativePath, str]


def book(notes: Notes) -> Book:
    placed = [(path, one) for path, text in notes.items() for one in memory_sections(encode_padded(text), path).lines]
    days = {OLD: date(2026, 11, 17), LOG: date(2026, 11, 18), WORLD: date(2026, 11, 1)}
    return book_of(
        MemorySource(path, one.start_line, one.end_line, one.line, days[path], None, number)
        for number, (path, one) in enumerate(placed)
    )


def replaced(notes: Notes, old: str, new: str, *, is_in_place: bool = False) -> Notes:
    """Return the notes after replacing the memory with the text `old`."""
    known = book(notes)
    memory = next(one for one in known.memories.values() if one.line.text == old)
    stated = parse_statement(MemoryDraft(text=new, default_kind=memory.kind))
    draft = with_missing_parts(stated, memory, is_in_place=is_in_place)
    plan = plan_replacement(known, memory, draft, is_in_place=is_in_place)
    after = dict(notes)
    for path in plan.paths(known):
        after[RelativePath(path)] = with_lines(notes[RelativePath(path)], RelativePath(path), plan.of)
    if not (plan.is_in_place or plan.is_stated):
        after[LOG] = plan.in_log(notes.get(LOG, ""), LOG).text
    return after


def current(notes: Notes, text: str) -> str:
    known = book(notes)
    memory = next(one for one in known.memories.values() if one.line.text == text)
    above = current_above(memory.id, newer_of(known.superseded)) or [memory.id]
    return " | ".join(known.memories[one].line.text for one in above)


def test_new_line_inherits_missing_attributes() -> None:
    notes = {OLD: "## Retain\n- fact(c=0.4, i=0.3, scope=agent:main, tags=a session:s1, pin, from=user) @A @B: tea\n"}
    after = replaced(notes, "tea", "coffee")
    old = short_id(line_of("- W(scope=agent:main) @A @B: tea").id)
    assert after[LOG] == (f"## Retain\n- fact(i=0.3, scope=agent:main, supersedes={old}, tags=a, pin) @A @B: coffee\n")
    new = short_id(line_of(after[LOG].split("\n")[1]).id)
    assert after[OLD] == (
        "## Retain\n- fact(c=0.4, i=0.3, scope=agent:main, tags=a session:s1, from=user, "
        f"superseded={new}) @A @B: tea\n"
    )
    assert current(after, "tea") == "coffee"


def test_attributes_of_new_text_are_kept() -> None:
    memory = next(iter(book({OLD: "## Retain\n- W(i=0.3, scope=agent:main) @A: tea\n"}).memories.values()))
    merged = with_missing_parts(line_of("- O(i=0.9, scope=global) @C: coffee"), memory)
    assert (merged.kind.value, merged.entities, merged.importance, merged.attributes.scope) == (
        "opinion",
        ("C",),
        0.9,
        "global",
    )


@pytest.mark.parametrize(
    ("bullet", "new", "after"),
    [
        ("- W @A: tea", "coffee", "- W @A: coffee"),
        ("*  fact（i=0.2，pin） @A ： 茶", "咖啡", "*  fact（i=0.2，pin） @A ：咖啡"),
        (
            "- W(at=2025-11) @[A B], @C: tea\n  with milk",
            "coffee\nblack",
            "- W(at=2025-11) @[A B], @C: coffee\n    black",
        ),
        ("- W(from=agent) @A: tea", "coffee", "- W @A: coffee"),
        ("- W(from=user): tea", "coffee", "- W(from=user): coffee"),
    ],
)
def test_replacement_in_place_changes_only_the_text(bullet: str, new: str, after: str) -> None:
    text = f"# Day\n\n## Retain\n- W: first\n{bullet}\n\n- W: last"
    old = line_of(bullet).text
    assert replaced({OLD: text}, old, new, is_in_place=True) == {OLD: text.replace(bullet, after)}


def test_bullet_of_page_gets_no_unnecessary_head() -> None:
    text = "# World\n\n- The gate is green\n- W: other\n"
    after = replaced({WORLD: text}, "The gate is green", "The gate is blue", is_in_place=True)
    assert after[WORLD] == text.replace("green", "blue")
    after = replaced({WORLD: text}, "The gate is green", "O: it says", is_in_place=True)
    assert after[WORLD] == text.replace("The gate is green", "O: it says")


def test_replacement_in_place_updates_ids_in_other_lines() -> None:
    old = short_id(line_of("- W: tea").id)
    notes = {
        OLD: f"## Retain\n- W: tea\n- B(supports={old}): drank it\n- W(superseded={old}): water\n",
        LOG: f"## Retain\n- O(c=0.5, contradicts={old} 1a2b3c4d): no\n",
    }
    after = replaced(notes, "tea", "green tea", is_in_place=True)
    new = short_id(line_of("- W: green tea").id)
    assert after == {path: text.replace(old, new).replace("W: tea", "W: green tea") for path, text in notes.items()}
    with pytest.raises(ValueError, match="says exactly that already"):
        replaced(notes, "tea", "water", is_in_place=True)


def test_all_lines_of_memory_are_marked_and_others_kept() -> None:
    notes = {OLD: "## Retain\n- W: tea\n- W:  tea\nprose\n", WORLD: "- W: tea\n", LOG: "# Day\n\n## Retain\n- W: tea"}
    after = replaced(notes, "tea", "coffee")
    old, new = short_id(line_of("- W: tea").id), short_id(line_of("- W: coffee").id)
    assert after[OLD] == f"## Retain\n- W(superseded={new}): tea\n- W(superseded={new}):  tea\nprose\n"
    assert after[LOG] == f"# Day\n\n## Retain\n- W(superseded={new}): tea\n- W(supersedes={old}): coffee"
    assert replaced(after, "tea", "coffee") == after, "replacement is idempotent"


@given(
    st.lists(st.sampled_from(["tea", "coffee", "water", "milk"]), min_size=1, max_size=8),
    st.sampled_from([OLD, LOG, WORLD]),
)
def test_last_of_many_replacements_is_current(texts: list[str], where: RelativePath) -> None:
    notes: Notes = {where: "## Retain\n- W: bread\n"}
    now = "bread"
    for text in texts:
        if text == now:
            continue
        notes = replaced(notes, now, text)
        now = text
        assert {current(notes, one.line.text) for one in book(notes).memories.values()} == {now}
    assert sum(text.count(f": {now}\n") for text in notes.values()) == 1


def resolve(bullets: list[str], name: str, *, is_exact: bool = False) -> tuple[str, str]:
    known = book({LOG: "\n".join(["## Retain", *bullets, ""])})
    found = find_replaced(known.memories, newer_of(known.superseded), name, is_exact=is_exact)
    return found.memory.line.text, found.named.line.text


def test_target_resolves_to_newest_version() -> None:
    old = line_of("- W: The lamp is red")
    bullets = ["- W: The lamp is red", f"- W(supersedes={short_id(old.id)}): The lamp is blue", "- W: The door is red"]
    for name in (short_id(old.id), old.id, "lamp is red", f"{LOG}#L2"):
        assert resolve(bullets, name) == ("The lamp is blue", "The lamp is red")
        assert resolve(bullets, name, is_exact=True) == ("The lamp is red", "The lamp is red")
    assert resolve(bullets, "the lamp") == ("The lamp is blue", "The lamp is blue")
    with pytest.raises(ValueError, match=r"may mean 2 memories: .*The (door|lamp)"):
        resolve(bullets, "is red")
    with pytest.raises(ValueError, match="no memory says"):
        resolve(bullets, "zeppelin")
    with pytest.raises(ValueError, match="there is no memory at"):
        resolve(bullets, f"{LOG}#L1")


@pytest.mark.parametrize(
    ("bullets", "expected"),
    [
        (["- W(from=agent): x"], False),
        (["- W(from=tool): x", "- W(from=import): x"], False),
        (["- W: x"], True),
        (["- W(from=user): x"], True),
        (["- W(from=agent): x", "- W: x"], True),
        (["- W(from=agent, pin): x"], True),
    ],
)
def test_memory_of_owner_is_recognised(bullets: list[str], expected: bool) -> None:
    (memory,) = book({LOG: "\n".join(["## Retain", *bullets, ""])}).memories.values()
    assert is_of_owner(memory) is expected

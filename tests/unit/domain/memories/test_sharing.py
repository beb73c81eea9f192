"""Sharing with a team: what may be shared, its path, and merging of logs from two machines."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.book import Book, Memory, MemorySource, book_of
from memoryd.domain.memories.edits import NoPlaceError
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.line import render
from memoryd.domain.memories.sections import as_shared
from memoryd.domain.memories.sharing import (
    A_COLLEAGUES,
    A_LOG,
    A_SECRET,
    CONFLICT,
    NO_NAME,
    SCOPED_LINES,
    TeamPeople,
    blank_lines,
    lines_of,
    log_path,
    merged_log,
    note_path,
    promoted,
    shareable_ids,
    shared_file,
    shared_names,
    why_not_promoted,
    why_not_shared,
    with_promoted,
    without_memories,
)
from tests.unit.domain.memories.books import line_of, source_of

DAY = date(2026, 11, 2)
LOG = log_path("ana", DAY)
TOKEN = "ghp_" + "a8Kq2ZxV7mN4pR9tYw3LcD6fHj1BsE5gUoXi"


def memory(text: str, path: str = "memory/2026-11-02.md") -> Memory:
    source = source_of(path, 2, text)
    return Memory(source.line.id, (source,))


def log(*texts: str) -> str:
    return with_promoted("", LOG, map(line_of, texts))


@pytest.mark.parametrize(
    ("path", "person", "shown"),
    [
        ("memory/2026-11-02-ana.md", "ana", "memory/2026-11-02.md"),
        ("memory/2026-11-02-ana-maria.md", "ana-maria", "memory/2026-11-02.md"),
        ("notes/ben/memory/projects/a b.md", "ben", "memory/projects/a b.md"),
        ("notes/ben/memory/中文.md", "ben", "memory/中文.md"),
    ],
)
def test_shared_path_has_person_and_shown_path(path: str, person: str, shown: str) -> None:
    place = shared_file(path)
    assert place is not None
    assert (place.person, place.shown) == (person, shown)


@pytest.mark.parametrize(
    "path",
    [
        "memory/2026-13-02-ana.md",
        "memory/2026-11-02-Ana.md",
        "memory/2026-11-02.md",
        "memory/sub/2026-11-02-ana.md",
        "notes/ana/memory/../ben/x.md",
        "notes/ana/memory/.hidden/x.md",
        "notes/ana/memory//x.md",
        "notes/../x.md",
        "notes/ana/memory/x.txt",
        "notes/ana/memory/a\nb.md",
        "notes/ana/memory/a\\b.md",
        "notes/ana/memory/ben:x.md",
        "notes/ana/MEMORY.md",
        "notes/ana/bank/world.md",
        "notes/ana/memory/2026-11-02.md",
        "notes/ana/memory/" + "x" * 300 + ".md",
        ".gitattributes",
        "memory",
    ],
)
def test_other_path_is_no_shared_file(path: str) -> None:
    assert shared_file(path) is None


@given(st.text(max_size=60))
def test_no_path_leaves_the_folder_of_its_person(name: str) -> None:
    place = shared_file(note_path("ana", f"memory/{name}.md"))
    assert place is None or not ({"", ".", ".."} & set(place.shown.split("/")) or place.shown.startswith("/"))


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("- W @Peter: fine", "memory/2026-11-02.md", ""),
        ("- W(scope=agent:main): for this agent", "memory/2026-11-02.md", ""),
        ("- W(scope=global): for all of mine", "memory/2026-11-02.md", ""),
        ("- W(scope=agent:other): for another one", "memory/2026-11-02.md", "its scope is agent:other"),
        ("- W(scope=agent:main:cron): for a channel", "memory/2026-11-02.md", "its scope is agent:main:cron"),
        ("- W: said by ben", "ben:memory/2026-11-02.md", A_COLLEAGUES),
        (f"- W: the token is {TOKEN}", "memory/2026-11-02.md", A_SECRET),
    ],
)
def test_memory_that_may_not_be_promoted_has_a_reason(text: str, path: str, reason: str) -> None:
    assert why_not_promoted(memory(text, path), "main").startswith(reason)
    assert bool(why_not_promoted(memory(text, path), "main")) == bool(reason)


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("memory/projects/gateway.md", "# Gateway\n- W @Peter: fine\n", ""),
        ("memory/2026-11-02.md", "## Retain\n", A_LOG),
        ("memory/2026-11-02-evening.md", "", A_LOG),
        ("memory/a:b.md", "", NO_NAME),
        # too long with the longest name of a person
        (f"memory/{'x' * 191}.md", "", ""),
        (f"memory/{'x' * 192}.md", "", NO_NAME),
        ("memory/x.md", f"token {TOKEN}\n", A_SECRET),
        ("memory/x.md", "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> other\n", CONFLICT),
        ("memory/x.md", "- W(scope=agent:main) @Peter: mine alone\n", SCOPED_LINES),
    ],
)
def test_note_that_may_not_be_shared_has_a_reason(path: str, text: str, reason: str) -> None:
    assert why_not_shared(path, text) == reason


def test_promoted_line_loses_local_attributes() -> None:
    stated = line_of(
        "- B(c=0.9, i=0.7, at=2026-11-01, scope=agent:main, supports=11111111, supersedes=22222222, from=user, "
        "tags=home session:x, pin) @Peter @[Two Words]: the key\n    is under the mat"
    )
    assert render(promoted(stated)) == (
        "- B(c=0.9, i=0.7, at=2026-11-01, from=user, tags=home) @Peter @[Two Words]: the key\n    is under the mat"
    )


def test_promoted_line_names_only_shared_superseded_lines() -> None:
    old, older = line_of("- W(scope=agent:main) @Peter: old"), line_of("- W @Peter: older")
    new = line_of(f"- W(supersedes={short_id(old.id)} {short_id(older.id)} 99999999) @Peter: new")
    book: Book = book_of(MemorySource("memory/x.md", 1, 1, one, DAY, None, at) for at, one in enumerate((old, older)))
    assert shared_names(new, book, {promoted(old).id}) == [short_id(promoted(old).id)]
    assert shared_names(new, book, set()) == []


def test_log_has_promoted_lines_without_revoked_ones() -> None:
    text = log("- W @Peter: one", "- B: two\n    more lines")
    assert [one.line.text for one in lines_of(text, LOG)] == ["one", "two\nmore lines"]
    gone = {one.line.id for one in lines_of(text, LOG)}
    assert [one.line.text for one in lines_of(without_memories(text, LOG, {min(gone)}), LOG)] != []
    assert without_memories(text, LOG, gone) == ""


def test_lines_of_two_machines_are_merged() -> None:
    base, other = log("- W: base"), "- W: from elsewhere"
    merged = merged_log(LOG, base, log("- W: base", "- W: from here"), with_promoted(base, LOG, [line_of(other)]))
    assert {one.line.text for one in lines_of(merged, LOG)} == {"base", "from elsewhere", "from here"}


def test_revoked_line_is_not_restored_by_merge() -> None:
    base = log("- W: base", "- W: secret")
    merged = merged_log(LOG, base, log("- W: base"), with_promoted(base, LOG, [line_of("- W: more")]))
    assert {one.line.text for one in lines_of(merged, LOG)} == {"base", "more"}
    # the same for a line revoked on the other machine
    again = merged_log(LOG, base, with_promoted(base, LOG, [line_of("- W: new")]), log("- W: base"))
    assert {one.line.text for one in lines_of(again, LOG)} == {"base", "new"}


def test_log_with_conflict_markers_is_refused() -> None:
    with pytest.raises(NoPlaceError, match="merge"):
        merged_log(LOG, "", log("- W: one"), "## Retain\n<<<<<<< HEAD\n- W: two\n=======\n>>>>>>> x\n")


def test_blanked_lines_keep_line_numbers() -> None:
    assert blank_lines("a\nb\nc\n", {2}) == "a\n\nc\n"


def test_team_file_round_trips() -> None:
    team = TeamPeople("acme", {"ben": ("ben@example.org",)}).with_person("ana", "ana@example.org")
    assert TeamPeople.read(team.write()) == team
    assert team.with_person("ana", "ana@example.org") == team
    assert team.has_address("ana", "ANA@example.org")
    assert not team.has_address("ana", "ben@example.org")
    assert not team.has_address("carl", "")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"name": "acme"}',
        b'{"name": "Acme!", "people": {}}',
        b'{"name": "acme", "people": []}',
        b'{"name": "acme", "people": {"../x": []}}',
        b'{"name": "acme", "people": {"ana": ["no address"]}}',
        b"[" * 100_000,
    ],
)
def test_invalid_team_file_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"team\.json"):
        TeamPeople.read(data)


def test_shareable_memories_are_own_current_and_unscoped() -> None:
    old, roof = memory("- W @Door: The door is green."), as_shared(line_of("- W @Roof: The roof is new."))
    shareable = {
        "holds": memory("- W(from=user, pin) @Cat: The cat is called Miso."),
        "newer": memory(f"- W(supersedes={short_id(old.id)}) @Door: The door is red."),
    }
    others = [
        old,
        memory("- W(superseded=0a1b2c3d) @Gate: The gate is open."),
        memory("- W(scope=agent:other) @Garden: The garden key is elsewhere."),
        Memory(roof.id, (MemorySource("ben:memory/2026-11-02.md", 2, 2, roof, DAY, None, 1),)),
    ]
    book = book_of(source for one in (*shareable.values(), *others) for source in one.sources)
    assert shareable_ids(book, "main") == {promoted(one.line).id for one in shareable.values()}
    # the agent's own scope counts as none
    own = memory("- W(scope=agent:main) @Key: The key hangs here.")
    assert shareable_ids(book_of(own.sources), "main") == {promoted(own.line).id}
    assert shareable_ids(book_of(own.sources), "other") == set()

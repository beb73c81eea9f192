"""Memories of other people of a team: person by path, scope, and authority to supersede."""

import os
from datetime import date
from pathlib import Path

import pytest

from memoryd.domain.documents import RelativePath, is_outside, owner_path, person_of
from memoryd.domain.memories.book import Memory, MemorySource, book_of
from memoryd.domain.memories.changes.replacing import Keep, settlement_of
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.malformed_lines import MalformedLine
from memoryd.domain.memories.sections import line_in, memory_sections
from memoryd.domain.memories.versions import Disagreement, Doubt, KnownVersions
from memoryd.domain.text.lines import encode_padded
from memoryd.files.scanner import ScanRules

FIRST, SECOND = date(2026, 11, 2), date(2026, 11, 3)
RULES = ScanRules(
    Path("/home/ben/notes"), is_ignored=lambda _: False, folders_by_prefix={"ana:": Path("/state/teams/acme/notes/ana")}
)


def memory_of(text: str, person: str = "", day: date = FIRST, head: str = "- W") -> Memory:
    path = f"{person}:memory/{day}.md" if person else f"memory/{day}.md"
    line = line_in(f"{head} @Printer: {text}", path)
    assert isinstance(line, RetainedLine)
    return Memory(line.id, (MemorySource(path, 2, 2, line, day, None, 0),))


def versions_of(*memories: Memory) -> KnownVersions:
    return KnownVersions().of({one.id: one for one in memories})


@pytest.mark.parametrize(
    ("path", "person", "shown"),
    [
        ("ana:memory/2026-11-02.md", "ana", "memory/2026-11-02.md"),
        ("ana-m_2:memory/projects/x.md", "ana-m_2", "memory/projects/x.md"),
        ("memory/ana:memory/x.md", "", "memory/ana:memory/x.md"),
        ("memory/2026-11-02.md", "", "memory/2026-11-02.md"),
        ("session:main-20261018", "", "session:main-20261018"),
        ("Ana:memory/x.md", "", "Ana:memory/x.md"),
        ("ana:bank/world.md", "", "ana:bank/world.md"),
        (":memory/x.md", "", ":memory/x.md"),
        ("../x/ana:memory/y.md", "", "../x/ana:memory/y.md"),
    ],
)
def test_path_has_person_and_original_path(path: str, person: str, shown: str) -> None:
    assert (person_of(path), owner_path(path)) == (person, shown)
    assert is_outside(path) == (bool(person) or path.startswith("../"))


@pytest.mark.parametrize("path", ["ana:memory/2026-11-02.md", "ana:memory/a b/ü.md", "memory/x.md", "../out/y.md"])
def test_place_and_name_round_trip(path: str) -> None:
    assert RULES.name(os.path.normpath(RULES.place(path))) == path


def test_unknown_person_is_a_path_of_the_workspace() -> None:
    assert RULES.place("eve:memory/x.md") == "/home/ben/notes/eve:memory/x.md"


@pytest.mark.parametrize("head", ["- W(pin, from=user)", "- W(scope=agent:main)", "- W(scope=global, i=1)", "- W"])
def test_shared_line_has_scope_team(head: str) -> None:
    line = memory_of("The printer is an HP.", "ana", head=head).line
    assert (line.attributes.scope, line.attributes.is_pinned, line.attributes.provenance) == ("team", False, "import")
    assert line.id == memory_of("The printer is an HP.", "cem").line.id


def test_shared_log_has_team_memories_only() -> None:
    text = encode_padded("## Retain\n- W @A: one\n- W(scope=agent:x) @B: two\n    and more\n")
    found = memory_sections(text, RelativePath("ana:memory/2026-11-02.md"))
    assert [(one.line.text, one.line.attributes.scope) for one in found.lines] == [
        ("one", "team"),
        ("two\nand more", "team"),
    ]
    assert found.scoped == ()
    assert memory_sections(text, RelativePath("ana:memory/plan.md")).lines == ()


@pytest.mark.parametrize("scope", ["team", "team:acme", "Team"])
def test_line_with_scope_team_is_malformed(scope: str) -> None:
    assert isinstance(parse_line(f"- W(scope={scope}) @A: one"), MalformedLine)


def test_newer_line_of_same_person_supersedes() -> None:
    old, new = memory_of("The printer is an HP.", "ana"), memory_of("The printer is a Canon.", "ana", SECOND)
    assert versions_of(old, new).older == {new.id: (old.id,)}


@pytest.mark.parametrize(
    ("older", "newer", "doubt"),
    [("ana", "cem", Doubt.PEOPLE), ("", "ana", Doubt.AUTHORITY), ("ana", "", Doubt.PEOPLE)],
)
def test_lines_of_two_people_disagree_and_owner_leads(older: str, newer: str, doubt: Doubt) -> None:
    old, new = memory_of("The printer is an HP.", older), memory_of("The printer is a Canon.", newer, SECOND)
    found = versions_of(old, new)
    assert found.older == {}
    [pair] = found.disagreements
    assert (pair.newer, pair.older, pair.doubt) == (new.id, old.id, doubt)
    assert pair.leads == (old.id if older == "" else new.id)


def test_memory_of_two_people_is_not_superseded_by_one() -> None:
    ana, cem = memory_of("The printer is an HP.", "ana"), memory_of("The printer is an HP.", "cem")
    both = Memory(ana.id, (*ana.sources, *cem.sources))
    new = memory_of("The printer is a Canon.", "ana", SECOND)
    found = versions_of(both, new)
    assert (found.older, [one.doubt for one in found.disagreements]) == ({}, [Doubt.PEOPLE])


@pytest.mark.parametrize(("by", "is_superseded"), [("ana", False), ("", True)])
def test_only_owner_supersedes_line_of_other_person_by_id(by: str, is_superseded: bool) -> None:
    old = memory_of("The printer is an HP.", "cem")
    new = memory_of("A Canon prints now.", by, SECOND, head=f"- W(supersedes={short_id(old.id)})")
    found = versions_of(old, new)
    assert bool(found.older) is is_superseded
    # otherwise such lines of others would fill the owner's list
    assert found.disagreements == ()


@pytest.mark.parametrize(
    ("keep", "own_is_newer", "key"),
    [
        (Keep.NEWER, True, "supersedes"),
        (Keep.OLDER, True, "superseded"),
        (Keep.BOTH, True, "beside"),
        (Keep.NEWER, False, "superseded"),
        (Keep.OLDER, False, "supersedes"),
        (Keep.BOTH, False, "beside"),
    ],
)
def test_disagreement_is_settled_in_own_line(keep: Keep, own_is_newer: bool, key: str) -> None:
    own = memory_of("The printer is an HP.", "", SECOND if own_is_newer else FIRST)
    other = memory_of("The printer is a Canon.", "ana", FIRST if own_is_newer else SECOND)
    [pair] = versions_of(own, other).disagreements
    settled = settlement_of(pair, keep, {own.id})
    assert (settled.memory, settled.key) == (own.id, key)
    line = settled.of(own.line)
    settled_memory = Memory(line.id, (MemorySource("memory/2026-11-02.md", 2, 2, line, own.recorded, None, 0),))
    assert versions_of(settled_memory, other).disagreements == ()


def test_disagreement_of_two_others_cannot_be_settled() -> None:
    pair = Disagreement(
        memory_of("The printer is an HP.", "ana").id, memory_of("The printer is a Canon.", "cem").id, Doubt.PEOPLE
    )
    with pytest.raises(ValueError, match="they settle it"):
        settlement_of(pair, Keep.NEWER, set())


def test_own_book_has_own_memories_only() -> None:
    mine, theirs = memory_of("The printer is an HP."), memory_of("The printer is a Canon.", "ana")
    book = book_of([*mine.sources, *theirs.sources])
    assert list(book.own.memories) == [mine.id]
    alone = book_of(mine.sources)
    assert alone.own is alone

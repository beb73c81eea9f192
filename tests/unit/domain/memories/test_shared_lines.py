"""What others of a team say: whose it is by its path, and that nobody speaks for somebody else."""

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


def said(text: str, person: str = "", day: date = FIRST, head: str = "- W") -> Memory:
    path = f"{person}:memory/{day}.md" if person else f"memory/{day}.md"
    line = line_in(f"{head} @Printer: {text}", path)
    assert isinstance(line, RetainedLine)
    return Memory(line.id, (MemorySource(path, 2, 2, line, day, None, 0),))


def known(*memories: Memory) -> KnownVersions:
    return KnownVersions().of({one.id: one for one in memories})


@pytest.mark.parametrize(
    ("path", "person", "home"),
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
def test_a_path_says_who_shares_it(path: str, person: str, home: str) -> None:
    assert (person_of(path), owner_path(path)) == (person, home)
    assert is_outside(path) == (bool(person) or path.startswith("../"))


@pytest.mark.parametrize("path", ["ana:memory/2026-11-02.md", "ana:memory/a b/ü.md", "memory/x.md", "../out/y.md"])
def test_places_and_names_are_one_to_one(path: str) -> None:
    assert RULES.name(os.path.normpath(RULES.place(path))) == path


def test_a_person_without_a_folder_is_a_path_of_the_workspace() -> None:
    assert RULES.place("eve:memory/x.md") == "/home/ben/notes/eve:memory/x.md"


@pytest.mark.parametrize("head", ["- W(pin, from=user)", "- W(scope=agent:main)", "- W(scope=global, i=1)", "- W"])
def test_all_that_others_share_is_the_teams(head: str) -> None:
    line = said("The printer is an HP.", "ana", head=head).line
    assert (line.attributes.scope, line.attributes.is_pinned, line.attributes.provenance) == ("team", False, "import")
    assert line.id == said("The printer is an HP.", "cem").line.id


def test_bullets_of_the_bank_and_under_scopes_are_no_memories_of_a_team() -> None:
    text = encode_padded("## Retain\n- W @A: one\n- W(scope=agent:x) @B: two\n    and more\n")
    found = memory_sections(text, RelativePath("ana:memory/2026-11-02.md"))
    assert [(one.line.text, one.line.attributes.scope) for one in found.lines] == [
        ("one", "team"),
        ("two\nand more", "team"),
    ]
    assert found.scoped == ()
    assert memory_sections(text, RelativePath("ana:memory/plan.md")).lines == ()


@pytest.mark.parametrize("scope", ["team", "team:acme", "Team"])
def test_no_line_names_a_team(scope: str) -> None:
    assert isinstance(parse_line(f"- W(scope={scope}) @A: one"), MalformedLine)


def test_one_person_says_anew_what_is_so() -> None:
    old, new = said("The printer is an HP.", "ana"), said("The printer is a Canon.", "ana", SECOND)
    assert known(old, new).older == {new.id: (old.id,)}


@pytest.mark.parametrize(
    ("older", "newer", "doubt"),
    [("ana", "cem", Doubt.PEOPLE), ("", "ana", Doubt.AUTHORITY), ("ana", "", Doubt.PEOPLE)],
)
def test_two_people_disagree_and_the_owner_leads(older: str, newer: str, doubt: Doubt) -> None:
    old, new = said("The printer is an HP.", older), said("The printer is a Canon.", newer, SECOND)
    found = known(old, new)
    assert found.older == {}
    [pair] = found.disagreements
    assert (pair.newer, pair.older, pair.doubt) == (new.id, old.id, doubt)
    assert pair.leads == (old.id if older == "" else new.id)


def test_what_two_said_is_not_superseded_by_one_of_them() -> None:
    ana, cem = said("The printer is an HP.", "ana"), said("The printer is an HP.", "cem")
    both = Memory(ana.id, (*ana.sources, *cem.sources))
    new = said("The printer is a Canon.", "ana", SECOND)
    found = known(both, new)
    assert (found.older, [one.doubt for one in found.disagreements]) == ({}, [Doubt.PEOPLE])


@pytest.mark.parametrize(("by", "holds"), [("ana", False), ("", True)])
def test_who_supersedes_somebody_else_by_name(by: str, holds: bool) -> None:
    old = said("The printer is an HP.", "cem")
    new = said("A Canon prints now.", by, SECOND, head=f"- W(supersedes={short_id(old.id)})")
    found = known(old, new)
    assert bool(found.older) is holds
    # else what others say in such words would fill the owner's list
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
def test_a_pair_is_settled_in_ones_own_line(keep: Keep, own_is_newer: bool, key: str) -> None:
    own = said("The printer is an HP.", "", SECOND if own_is_newer else FIRST)
    other = said("The printer is a Canon.", "ana", FIRST if own_is_newer else SECOND)
    [pair] = known(own, other).disagreements
    settled = settlement_of(pair, keep, {own.id})
    assert (settled.memory, settled.key) == (own.id, key)
    line = settled.of(own.line)
    kept = Memory(line.id, (MemorySource("memory/2026-11-02.md", 2, 2, line, own.recorded, None, 0),))
    assert known(kept, other).disagreements == ()


def test_nobody_settles_what_two_others_say() -> None:
    pair = Disagreement(
        said("The printer is an HP.", "ana").id, said("The printer is a Canon.", "cem").id, Doubt.PEOPLE
    )
    with pytest.raises(ValueError, match="they settle it"):
        settlement_of(pair, Keep.NEWER, set())


def test_the_book_of_what_is_said_here() -> None:
    mine, theirs = said("The printer is an HP."), said("The printer is a Canon.", "ana")
    book = book_of([*mine.sources, *theirs.sources])
    assert list(book.own.memories) == [mine.id]
    alone = book_of(mine.sources)
    assert alone.own is alone

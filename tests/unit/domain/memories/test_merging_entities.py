"""Merging and splitting of entity names, with refusal of ambiguous ones."""

import pytest

from memoryd.domain.memories.book import EntityPage
from memoryd.domain.memories.entity_edits import plan_merge, plan_split
from tests.unit.domain.memories.opinion_lines import book

PAGES = (
    EntityPage("bank/entities/peter.md", "Peter", ("Pete",)),
    EntityPage("bank/entities/anna.md", "Anna", ("Both", "安娜")),
    EntityPage("bank/entities/Ann.md", "Ann", ("both",)),
)
BOOK = book(
    ("01-01", "W @Peter: ran"),
    ("01-01", "W @[Room 101]: is warm"),
    ("01-01", "W @[Room 102]: is cold"),
    ("01-02", "W @王芳: 搬家了"),
    ("01-02", "W @王方: 来了"),
    pages=PAGES,
)


@pytest.mark.parametrize(
    ("name", "into", "path"),
    [
        ("Petie", "Peter", "bank/entities/peter.md"),
        ("@Petie", " PETER ", "bank/entities/peter.md"),
        ("the guest room", "Room 102", "bank/entities/room-102.md"),
        ("王小芳", "王芳", "bank/entities/王芳.md"),
        ("Annie", "ANN", "bank/entities/Ann.md"),
    ],
)
def test_alias_is_added_to_page_of_entity(name: str, into: str, path: str) -> None:
    assert plan_merge(BOOK, name, into).path == path


@pytest.mark.parametrize(
    ("name", "into", "reason"),
    [
        ("peter", "Peter", "one name already"),
        ("Pete", "Anna", "an alias of 'Peter' already"),
        ("Petie", "Pete", "itself an alias of 'Peter'"),
        ("Peter", "Pete", "itself an alias of 'Peter'"),
        ("Peter", "Anna", "has aliases of its own"),
        ("Both", "Peter", "an alias of 'Ann' and 'Anna' already"),
        ("Petie", "Nobody", "names 'Nobody'"),
        ("", "Peter", "is no name"),
        ("a]b", "Peter", "is no name"),
        ("x" * 201, "Peter", "is no name"),
        ("a\u202eb", "Peter", "invisible"),
    ],
)
def test_ambiguous_merge_is_refused(name: str, into: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        plan_merge(BOOK, name, into)


def test_existing_alias_is_merged_again_on_its_page() -> None:
    assert plan_merge(BOOK, "PETE", "peter").path == plan_split(BOOK, "PETE").path


def test_alias_is_split_from_its_page() -> None:
    assert plan_split(BOOK, "安娜").path == "bank/entities/anna.md"
    with pytest.raises(LookupError, match="no alias"):
        plan_split(BOOK, "Peter")
    with pytest.raises(ValueError, match="'Ann' and 'Anna'"):
        plan_split(BOOK, "both")

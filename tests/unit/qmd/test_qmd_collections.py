"""Names of collections, and the files that belong to a collection."""

import time

import pytest
from pydantic import ValidationError

from memoryd.config.qmd import QmdPathSection
from memoryd.qmd.collections import Collection, distinct, escape_glob, matches, sanitise_name

NOTES = "{MEMORY,memory,SOUL}.md,{memory,bank}/**/*.{md,MD}"


@pytest.mark.parametrize(
    ("name", "clean"), [("Team Docs", "team-docs"), ("a/b c", "a-b-c"), ("--x--", "x"), ("日本", "collection")]
)
def test_names_are_made_harmless(name: str, clean: str) -> None:
    assert sanitise_name(name) == clean


def test_equal_names_get_numbers_and_duplicates_are_dropped() -> None:
    found = distinct(
        [
            Collection("Docs", "/a", "**/*.md"),
            Collection("docs", "/b", "**/*.md"),
            Collection("other", "/a", "**/*.md"),
            Collection("docs", "/a", "*.md"),
        ]
    )
    assert [(collection.name, collection.root) for collection in found] == [
        ("docs", "/a"),
        ("docs-2", "/b"),
        ("docs-3", "/a"),
    ]


@pytest.mark.parametrize(
    ("pattern", "path", "is_match"),
    [
        ("**/*.md", "a.md", True),
        ("**/*.md", "deep/er/a.md", True),
        ("**/*.md", "a.MD", False),
        ("*.md", "deep/a.md", False),
        ("notes/*.md", "notes/a.md", True),
        ("a?.md", "ab.md", True),
        ("[ab].md", "b.md", True),
        ("[!ab].md", "b.md", False),
        ("*.{md,txt}", "a.txt", True),
        ("*.md, *.txt", "a.txt", True),
        ("a.b", "aXb", False),
        (NOTES, "MEMORY.md", True),
        (NOTES, "bank/deep/x.MD", True),
        (NOTES, "README.md", False),
        (NOTES, "memory.md/x.txt", False),
        ("**/b.md", "b.md", True),
        ("**/b.md", "ab.md", False),
        ("a/**/b.md", "a/b.md", True),
        ("a/**/b.md", "a/x/y/b.md", True),
        ("a/**", "a/x/y.md", True),
        ("a*/b.md", "a/x/b.md", False),
        ("?.md", "/.md", False),
        ("[a-c]x.md", "bx.md", True),
        ("[a-c]x.md", "-x.md", False),
        ("[a-].md", "-.md", True),
        ("[^ab].md", "b.md", False),
        ("[^ab].md", "c.md", True),
        ("[ab.md", "[ab.md", True),
        ("./notes/*.md", "notes/a.md", True),
        ("\\*.md", "*.md", True),
        ("\\*.md", "a.md", False),
        (escape_glob("a*[1]{x}.md"), "a*[1]{x}.md", True),
        (escape_glob("a*.md"), "abc.md", False),
    ],
)
def test_globs_match_as_in_qmd(pattern: str, path: str, is_match: bool) -> None:
    assert matches(pattern, path) is is_match


@pytest.mark.parametrize(
    "path",
    ["../a.md", "a/../b.md", "/a.md", "a//b.md", ".git/a.md", "x/.hidden.md", "node_modules/x/a.md", "dist/a.md"],
)
def test_paths_that_qmd_never_indexes_are_in_no_collection(path: str) -> None:
    assert not Collection("all", "/", "**/*.md").holds(path)


def test_too_many_braces_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 256 globs"):
        matches("{a,b}" * 40, "x")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "*b", "a" * 200),
        ("**/a/" * 40 + "b", "a/" * 100 + "c"),
        ("**" * 40 + "b", "a/" * 100 + "c"),
        ("[ab]*" * 40 + "c", "ab" * 100),
        ("{*a,*aa}" * 6 + "*b", "a" * 200),
    ],
    ids=["stars", "folders", "deep stars", "classes", "braces"],
)
def test_pathological_patterns_match_quickly(pattern: str, path: str) -> None:
    start = time.perf_counter()
    assert not matches(pattern, path)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("pattern", "folder", "is_possible"),
    [
        ("**/*.md", "a", True),
        ("**/*.md", "a/b", True),
        ("**/*.md", "node_modules", False),
        ("**/*.md", "a/.git", False),
        ("*.md", "a", False),
        ("guide \\(1\\).md", "a", False),
        ("{MEMORY}.md,{memory,bank}/**/*.md", "memory/a", True),
        ("{MEMORY}.md,{memory,bank}/**/*.md", "other", False),
        ("./memory/*.md", "memory", True),
        ("not?s/*.md", "notes", True),
        ("**", "a", True),
    ],
)
def test_folders_without_possible_matches_are_recognised(pattern: str, folder: str, is_possible: bool) -> None:
    assert Collection("all", "/", pattern).may_hold_below(folder) is is_possible


def test_glob_of_many_alternatives_matches_or_is_refused() -> None:
    many = "{" + ",".join(f"n{number}" for number in range(200)) + "}.md"
    assert QmdPathSection(path="/notes", pattern=many).pattern == many
    assert matches(many, "n0.md")
    assert matches(many, "n199.md")
    for too_many in ("{a,b}" * 9, ",".join(["*.md"] * 257)):
        with pytest.raises(ValidationError, match="at most 256 globs"):
            QmdPathSection(path="/notes", pattern=too_many)

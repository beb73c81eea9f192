"""Statements to retain: parsing of drafts, and admitted scopes."""

import pytest

from memoryd.domain.memories.edits import (
    MemoryDraft,
    StatementSource,
    admitted_scope,
    parse_statement,
    split_statements,
)
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Provenance

OWNER = StatementSource("main")
AGENT = StatementSource("main", "telegram", is_owner=False)


def test_bullet_is_parsed() -> None:
    line = parse_statement(MemoryDraft(text="- O(c=0.8) @Peter: prefers tea"))
    assert (line.kind, line.entities, line.attributes.confidence) == (Kind.OPINION, ("Peter",), 0.8)


def test_plain_text_gets_separate_attributes() -> None:
    draft = MemoryDraft(
        text="lives in Graz",
        kind=Kind.FACT,
        importance=0.9,
        scope="agent:main",
        entities=("@Peter", "peter", "Two Words"),
        at="2026-11",
        provenance=Provenance.USER,
    )
    line = parse_statement(draft)
    assert (line.kind, line.text, line.entities) == (Kind.FACT, "lives in Graz", ("Peter", "Two Words"))
    assert (line.importance, line.attributes.scope, line.attributes.at) == (0.9, "agent:main", "2026-11")
    assert line.attributes.provenance is Provenance.USER


def test_text_may_name_entities_without_a_kind() -> None:
    assert parse_statement(MemoryDraft(text="@Peter: lives in Graz")).entities == ("Peter",)


@pytest.mark.parametrize("text", ["", "   ", "0(c=.9): tea", "O(c=2): tea", "W(colour=red): tea"])
def test_malformed_statement_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"nearly|no visible"):
        parse_statement(MemoryDraft(text=text))


def test_contradicting_attribute_is_refused() -> None:
    for draft in (
        MemoryDraft(text="W(i=0.3): tea", importance=0.8),
        MemoryDraft(text="W(i=0.9): tea", importance=0.0),
        MemoryDraft(text="W(i=0): tea", importance=0.9),
        MemoryDraft(text="W(scope=global): tea", scope="agent:main"),
        MemoryDraft(text="W(at=2026-11): tea", at="2026-10"),
        MemoryDraft(text="W: tea", kind=Kind.OPINION),
    ):
        with pytest.raises(ValueError, match="beside it"):
            parse_statement(draft)


def test_bullets_are_split() -> None:
    assert split_statements("- W: one\n    more\n- W: two\n") == ["- W: one\n    more", "- W: two"]
    assert split_statements("a list:\n- one\n- two") == ["a list:\n- one\n- two"]
    assert split_statements("plain") == ["plain"]
    assert split_statements("") == [""]


@pytest.mark.parametrize(
    ("scope", "source", "admitted"),
    [
        ("", OWNER, ""),
        ("global", OWNER, "global"),
        ("agent:other", OWNER, "agent:other"),
        ("", AGENT, ""),
        ("agent:main", AGENT, "agent:main"),
        ("agent:main:telegram", AGENT, "agent:main:telegram"),
        ("", StatementSource("main", "cron", is_owner=False), "agent:main:cron"),
        ("", StatementSource("main", "cron"), ""),
    ],
)
def test_scope_is_admitted(scope: str, source: StatementSource, admitted: str) -> None:
    assert admitted_scope(scope, source) == admitted


@pytest.mark.parametrize(
    ("scope", "source"),
    [
        ("global", AGENT),
        ("agent:other", AGENT),
        ("agent:mainly", AGENT),
        ("agent:other:main", AGENT),
        ("everybody", OWNER),
        ("agent:", OWNER),
        ("agent:main:", AGENT),
        ("agent:main:cron", AGENT),
        ("agent:main:telegram:direct:8", AGENT),
        ("agent:main:cron", StatementSource("main", is_owner=False)),
        ("agent:main:a b", OWNER),
        ("agent:main:\n- W: x", OWNER),
    ],
)
def test_scope_is_refused(scope: str, source: StatementSource) -> None:
    with pytest.raises(ValueError, match=r"scope|itself"):
        admitted_scope(scope, source)

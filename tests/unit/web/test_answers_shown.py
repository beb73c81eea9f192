"""How the page Ask shows answers: merely near hits are folded away unless there is nothing else."""

import re
from typing import Any

import pytest

from memoryd.domain.documents import is_outside
from memoryd.domain.memories.changes.diffs import unified_diff
from memoryd.domain.skips import SkipReason
from memoryd.web.changes import NoteLines, strip_edges
from memoryd.web.memories import (
    LATE,
    OVER_LIMIT,
    WEAK,
    diff_lines,
    is_by_words_alone,
    is_late,
    missing_parts,
    reason,
    snippet_lines,
    why_left_out,
)
from memoryd.web.rendering import render
from memoryd.web.site import doctor_environment

FRAME = {"navigation": (), "here": "ask", "title": "Ask", "notice": None, "agents": (), "agent": None, "address": "ask"}


def hit(verdict: str) -> dict[str, Any]:
    return {
        "path": "memory/a.md",
        "heading": "",
        "source": "memory",
        "snippet": "the pier was painted",
        "snippetStartLine": 3,
        "snippetEndLine": 3,
        "focus": None,
        "verdict": verdict,
        "flags": (),
        "explain": {"because": "by meaning", "terms": [], "vectorRank": 1, "decay": 1},
    }


def memory(**of: Any) -> dict[str, Any]:
    return {
        "is": "memory",
        "id": "1",
        "content": "the pier is white",
        "citation": "memory/a.md#L1",
        "entities": [],
        **of,
    }


def ask(*, memories: list[dict[str, Any]], hits: list[dict[str, Any]], **other: Any) -> str:
    values: dict[str, Any] = {
        "question": "pier?",
        "memories": memories,
        "hits": hits,
        "editable": {},
        "left_out": (),
        "over_limit": (),
        "misses": (),
        "is_weak": False,
        "missing": (),
        "is_by_words_alone": False,
        "is_late": False,
        "later": "",
        "lines": snippet_lines,
        "is_outside": is_outside,
        "reason": reason,
        "why_left_out": why_left_out,
        "OVER_LIMIT": OVER_LIMIT,
        "WEAK": WEAK,
        "LATE": LATE,
        "back": "ask?q=pier%3F",
    }
    return render("ask.html", {**FRAME, **values, **other})


@pytest.mark.parametrize(
    ("memories", "hits", "is_open"),
    [
        ([], ["none", "none"], True),
        (["none"], [], True),
        ([], ["weak", "none"], False),
        (["answerable"], ["none"], False),
    ],
)
def test_near_hits_are_unfolded_if_nothing_else_was_found(memories: list[str], hits: list[str], is_open: bool) -> None:
    text = ask(memories=[memory(verdict=verdict) for verdict in memories], hits=[hit(verdict) for verdict in hits])
    assert ('<details class="cut" open><summary>Only near' in text) == is_open
    assert "Only near" in text


def test_memory_of_an_answer_can_be_pinned_or_unpinned() -> None:
    plain, pinned = (ask(memories=[memory(verdict="weak", **of)], hits=[]) for of in ({}, {"pinned": True}))
    assert 'action="pin"' in plain
    assert 'action="unpin"' in pinned


def test_late_answer_says_so_and_links_to_the_rest() -> None:
    soon = ask(memories=[], hits=[], is_late=True, later="ask?q=pier%3F&whole=yes")
    assert 'href="ask?q=pier%3F&amp;whole=yes" data-later' in soon
    late = ask(memories=[], hits=[], is_late=True)
    assert "data-later" not in late, "it is not waited for again automatically"
    assert "ask again" in late


def test_passage_is_editable_by_its_lines_and_a_conversation_is_not() -> None:
    of = {"citation": "memory/a.md#L3", "verdict": "weak"}
    lines = NoteLines("memory/a.md", 3, "- the pier <was> painted")
    text = ask(memories=[], hits=[{**hit("weak"), **of}], editable={"memory/a.md#L3": lines})
    assert 'name="old" value="- the pier &lt;was&gt; painted"' in text
    assert ">\nthe pier &lt;was&gt; painted</textarea>" in text, "the bullet is left out"
    text = ask(memories=[], hits=[{**hit("weak"), **of, "source": "sessions", "path": "session:a"}])
    assert "correct-lines" not in text
    assert 'href="forget-conversation?id=session%3Aa"' in text
    assert "What was said stays as it was said" in text


def test_outside_files_and_memories_of_others_are_not_editable() -> None:
    of = {"citation": "../a.md#L3", "path": "../a.md"}
    text = ask(memories=[memory(verdict="weak", person="ana")], hits=[{**hit("weak"), **of}])
    assert "It lies outside of the workspace" in text
    assert "said by ana" in text
    assert not {"Correct", "Forget…"} & set(re.split("[<>]", text))


def test_strip_edges_removes_headings_and_blank_lines() -> None:
    found = strip_edges(NoteLines("a.md", 3, "## Day\n\nthe pier\n\n# of\nwood\n\n## Retain"))
    assert found == NoteLines("a.md", 5, "the pier\n\n# of\nwood")
    assert found.at == "a.md#L5-L8"
    assert strip_edges(NoteLines("a.md", 1, "# Only\n\n## headings")) is None


def because(text: str = "", **of: Any) -> dict[str, Any]:
    return {"explain": {"terms": [], "vectorRank": None, "decay": 1, "because": text, **of}}


@pytest.mark.parametrize(
    ("explained", "text"),
    [
        (because(terms=["pier", "paint"], vectorRank=1), "Has “pier”, “paint”; is the nearest in meaning."),
        (because(terms=list("abcdefgh")), "Has “a”, “b”, “c”, “d”, “e”, “f” and 2 more of your words."),
        (because(vectorRank=7, lifts={"entity": 0.2}), "Is near in meaning; it is about whom or what you named."),
        (because(ageDays=90, decay=0.5), "Counts for less because it is 90 days old."),
        (because(copies=["a", "b"]), "Stands for 2 more that say the same."),
        (because("qmd ranks its file 1, with a score of 2"), "Qmd ranks its file 1, with a score of 2."),
        ({**because(vectorRank=1), "verdict": "none"}, "No nearer to the question than any other note."),
    ],
)
def test_reasons_are_in_plain_words(explained: dict[str, Any], text: str) -> None:
    assert reason(explained) == text


def test_every_skip_reason_is_a_plain_sentence() -> None:
    for found in SkipReason:
        if found.stage in ("search", "recall"):
            text = why_left_out(because(found.format("5", "6") if "{:g}" not in found else found.format(0.3)))
            assert text.endswith(".")
    texts = [why_left_out(because(skip)) for skip in (SkipReason.BEYOND_K, SkipReason.BELOW_MIN_SCORE.format(0.3))]
    assert texts == ["Others answer better.", "Too little of it is about the question."]


def test_missing_parts_are_named_and_late_ones_are_not() -> None:
    arms = {
        "lexical": {"state": "ok", "reason": None},
        "vector": {"state": "waiting", "reason": "its model is being loaded"},
        "memories": {"state": "timeout", "reason": "it did not answer before the deadline"},
        "pictures": {"state": "off", "reason": "memorySearch.multimodal.enabled is false"},
    }
    health = {"arms": arms, "pendingFiles": 1, "pendingEmbeddings": 1200}
    assert missing_parts({"health": health}, {"health": health}) == [
        "Meaning: its model is being loaded.",
        "1 file is still to be read.",
        "Of 1,200 texts the meaning is not known yet, only the words.",
    ]
    assert is_late({"health": health})
    assert not is_by_words_alone({"health": health})
    assert is_by_words_alone({"health": {"arms": {"vector": {"state": "off", "reason": "provider is none"}}}})


def test_proposal_shows_removed_and_added_lines() -> None:
    before = "---\nstatus: draft\n---\n-- signed off\nkept\u2028whole\n"
    after = "---\nstatus: draft\n++ added\nkept\u2028whole\n"
    assert list(diff_lines(unified_diff("a @@.md", before, after))) == [
        ("dim", "", "…"),
        ("", "", "---"),
        ("", "", "status: draft"),
        ("gone", "removed: ", "---"),
        ("gone", "removed: ", "-- signed off"),
        ("add", "added: ", "++ added"),
        ("", "", "kept\u2028whole"),
    ]
    assert list(diff_lines("")) == []


def test_doctor_gets_the_configuration_of_the_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYD_CONFIG", "/others.json5")
    named = doctor_environment("/run/own.sock", "/etc/own.json5")
    assert (named["MEMORYD_SOCKET"], named["MEMORYD_CONFIG"]) == ("/run/own.sock", "/etc/own.json5")
    assert doctor_environment("/run/own.sock", None)["MEMORYD_CONFIG"] == "/others.json5"

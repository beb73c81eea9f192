"""What the page Ask shows of answers: what is only near is folded away, unless there is nothing else."""

from typing import Any

import pytest

from memoryd.web.ask import snippet_lines
from memoryd.web.rendering import render

FRAME = {"navigation": (), "here": "ask", "title": "Ask", "notice": None, "agents": (), "agent": None}


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
        "explain": {"because": "by meaning"},
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


def ask(*, memories: list[dict[str, Any]], hits: list[dict[str, Any]]) -> str:
    whole: dict[str, Any] = {
        "results": hits,
        "fallback": None,
        "reason": "",
        "misses": (),
        "health": {"complete": True},
    }
    values = {"memories": memories, "hits": hits, "recalled": {"reason": "", "leftOut": ()}, "found": whole}
    return render("ask.html", {**FRAME, "question": "pier?", "back": "ask", "lines": snippet_lines, **values})


@pytest.mark.parametrize(
    ("memories", "hits", "is_open"),
    [
        ([], ["none", "none"], True),
        (["none"], [], True),
        ([], ["weak", "none"], False),
        (["answerable"], ["none"], False),
    ],
)
def test_what_is_only_near_is_open_where_nothing_else_was_found(
    memories: list[str], hits: list[str], is_open: bool
) -> None:
    text = ask(memories=[memory(verdict=one) for one in memories], hits=[hit(one) for one in hits])
    assert ('<details class="cut" open><summary>Only near' in text) == is_open
    assert "Only near" in text


def test_memory_of_an_answer_is_not_offered_to_be_pinned() -> None:
    text = ask(memories=[memory(verdict="weak")], hits=[])
    assert "Correct" in text
    assert ">Pin<" not in text, "recall does not say whether it is: its own page does"

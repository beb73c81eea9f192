"""The tables of times in docs/explanation/memory.md: each expression means the listed days."""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from memoryd.domain.memories.times.parsing import query_days, spans_in
from memoryd.domain.memories.times.spans import DaySpan

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "memory.md"
WEDNESDAY = date(2025, 11, 26)
STATED, ASKED = "| what is said on Wednesday", "| what is asked on that day"


def asked_span(question: str, today: date) -> DaySpan | None:
    found = query_days(question, today)
    return found.span if found else None


def rows(head: str) -> Iterator[tuple[str, DaySpan]]:
    """Yield the expressions of a table with their days; a missing end is open."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(head))
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return
        _, expressions, days, _ = line.split("|")
        first, dash, last = days.strip().partition("–")
        span = DaySpan(day(first, date.min), day(last if dash else first, date.max))
        for expression in re.findall("`([^`]+)`", expressions):
            yield expression, span


def day(text: str, other: date) -> date:
    return date.fromisoformat(text.strip()) if text.strip() else other


@pytest.mark.parametrize(("text", "expected"), list(rows(STATED)))
def test_statement_has_the_days_of_the_page(text: str, expected: DaySpan) -> None:
    assert spans_in(text, WEDNESDAY) == (expected,)


@pytest.mark.parametrize(("question", "expected"), list(rows(ASKED)))
def test_question_has_the_days_of_the_page(question: str, expected: DaySpan) -> None:
    assert asked_span(question, WEDNESDAY) == expected

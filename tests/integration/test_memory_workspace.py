"""The workspace of `tests/data/memories` is as its README says, and the places named by its questions exist."""

import re
from collections import Counter
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from bench.recall_questions.question_set import (
    HELD_OUT,
    OWN,
    SETS,
    STRANGER,
    WORKSPACE,
    Place,
    RecallQuestion,
    recall_questions,
    rows,
)

LOGS = sorted((WORKSPACE / "memory").glob("*.md"))


each_set = pytest.mark.parametrize("own", SETS.values(), ids=list(SETS))


def places(question: RecallQuestion) -> list[Place]:
    changed = [question.change.current, question.change.old] if question.change else []
    return [*question.gold, *question.never, *changed]


def day_of(place: Place) -> date:
    return date.fromisoformat(re.sub(r"^memory/|\.md$", "", place.path))


def test_workspace_covers_three_months() -> None:
    days = [date.fromisoformat(log.stem) for log in LOGS]
    assert len(days) >= 45
    assert (days[0].month, days[-1].month) == (9, 11)
    assert max((later - day).days for day, later in pairwise(days)) <= 4
    assert any("## Retain" not in log.read_text(encoding="utf-8") for log in LOGS)


def test_questions_cover_all_types_and_languages() -> None:
    types = Counter(one.type for one in recall_questions())
    assert min(types[name] for name in ("exact", "entity", "temporal", "opinion")) >= 12
    assert types["changed"] >= 32
    assert types[STRANGER] >= 10
    assert min(Counter(one.lang for one in recall_questions() if one.change)[lang] for lang in ("en", "zh")) >= 12


def test_held_out_questions_cover_all_types() -> None:
    types = Counter(one.type for one in recall_questions(HELD_OUT))
    assert types == {"exact": 10, "entity": 10, "temporal": 14, "opinion": 8, "changed": 14, STRANGER: 4}
    assert len(list((HELD_OUT / "ws" / "memory").glob("*.md"))) == 26


@each_set
def test_ids_and_questions_are_unique(own: Path) -> None:
    questions = recall_questions(own)
    assert len({one.id for one in questions}) == len(questions)
    assert len({(one.text, *one.options.items()) for one in questions}) == len(questions)


@each_set
def test_each_named_place_exists_once(own: Path) -> None:
    named = {place for one in recall_questions(own) for place in places(one)}
    assert len(named) > 100
    for place in named:
        lines = [line.strip() for line in (own / "ws" / place.path).read_text(encoding="utf-8").splitlines()]
        assert not place.line or lines.count(place.line) == 1, place


@each_set
def test_only_strangers_have_no_answer(own: Path) -> None:
    for one in recall_questions(own):
        assert bool(one.gold or one.never) == (one.type != STRANGER), one.id


@each_set
def test_old_value_was_the_newest_on_its_day(own: Path) -> None:
    changes = [one.change for one in recall_questions(own) if one.change]
    assert all(day_of(one.old) <= one.as_of < day_of(one.current) for one in changes)


def test_each_stated_line_exists_once() -> None:
    stated = Counter((row["path"], row["line"]) for row in rows(OWN / "lines.jsonl"))
    assert set(stated.values()) == {1}
    for path, line in stated:
        assert (WORKSPACE / path).read_text(encoding="utf-8").count(f"{line}\n") == 1, line

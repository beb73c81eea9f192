"""What the daemon recalls of three months of memories: bounds that a change must not pass unseen.

The questions are told in `tests/data/memories`. A bound is a count of questions. The current value of what changed
comes first in all of them, in both languages, with a model and without one; and the old one first on its day.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from bench.recall_questions.asking import MODES as MEASURED
from bench.recall_questions.asking import REFLECTED, ask
from bench.recall_questions.judged import Judged, by_type, figures
from bench.recall_questions.page import Measured, beside, tables
from bench.recall_questions.question_set import HELD_OUT, STRANGER, recall_questions

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "recall.md"
MODES = ("words", pytest.param("hybrid", marks=pytest.mark.torture))
FIRST = {"exact": 17, "entity": 16, "temporal": 20, "opinion": 14}
"""By type, in how many questions the first item is cited right; at least."""
THREE = {"exact": 17, "entity": 16, "temporal": 23, "opinion": 14}
"""In how many one of the first three is."""
STEADY = ("exact", "opinion", "changed", "scope")
"""Of which types reflect may change no answer; the others are not asked after it."""
ANSWERABLE_STRANGERS = 0
"""At most."""

Answers = Callable[[str], Sequence[Judged]]


@pytest.fixture(scope="module")
def answers(starter_model: Path) -> Answers:
    """The answers of one mode, each of which is asked once."""

    @cache
    def asked(mode: str) -> Sequence[Judged]:
        questions = recall_questions()
        if mode == REFLECTED:
            questions = [one for one in questions if one.type in STEADY]
        return ask(questions, mode, starter_model if mode == "hybrid" else None)

    return asked


def measured(answers: Answers) -> Measured:
    return {mode: by_type(answers(mode)) for mode in (*MEASURED, REFLECTED)}


def assert_shown(table: str) -> None:
    """Look for a table on the page, which may have more columns."""
    found, shown = table.splitlines(), PAGE.read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(shown) if line.startswith(found[0]))
    for told, expected in zip(shown[start : start + len(found)], found, strict=True):
        assert told[: len(expected) or None] == expected


def of_type(answers: Answers, mode: str, type_: str) -> list[Judged]:
    return [one for one in answers(mode) if one.question.type == type_]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type_", FIRST)
def test_right_citation_comes(answers: Answers, mode: str, type_: str) -> None:
    judged = of_type(answers, mode, type_)
    assert sum(one.is_first for one in judged) >= FIRST[type_]
    assert sum(1 <= one.place <= 3 for one in judged) >= THREE[type_]


@pytest.mark.parametrize("mode", MODES)
def test_current_value_comes_first_always(answers: Answers, mode: str) -> None:
    judged = of_type(answers, mode, "changed")
    assert len(judged) >= 32
    assert [one.question.id for one in judged if not one.is_first] == []


@pytest.mark.parametrize("mode", MODES)
def test_old_value_comes_first_on_its_day(answers: Answers, mode: str) -> None:
    assert [one.question.id for one in of_type(answers, mode, "changed") if not one.is_old_first] == []


@pytest.mark.parametrize("mode", MODES)
def test_opinions_come_with_confidence_and_evidence(answers: Answers, mode: str) -> None:
    assert {one.question.id: one.lacks for one in of_type(answers, mode, "opinion") if one.lacks} == {}


@pytest.mark.parametrize("mode", MODES)
def test_what_is_for_others_is_not_told(answers: Answers, mode: str) -> None:
    assert [one.question.id for one in answers(mode) if one.tells_never] == []
    assert all(one.is_first for one in of_type(answers, mode, "scope") if one.question.gold)


@pytest.mark.parametrize("mode", MODES)
def test_strangers_are_not_answerable(answers: Answers, mode: str) -> None:
    assert figures(of_type(answers, mode, STRANGER)).answerable <= ANSWERABLE_STRANGERS


@pytest.mark.torture
@pytest.mark.parametrize("type_", STEADY)
def test_reflect_changes_no_answer(answers: Answers, type_: str) -> None:
    judged = of_type(answers, REFLECTED, type_)
    assert judged
    assert [one.question.id for one in judged if one.question.gold and not one.is_first] == []
    assert [one.question.id for one in judged if one.question.change and not one.is_old_first] == []


@pytest.mark.torture
def test_page_tells_the_figures(answers: Answers) -> None:
    """Those without a model exactly; with one another processor may swap two items that are alike."""
    lines = tables(measured(answers)).splitlines()
    assert_shown("\n".join(line.rpartition("|")[0].rpartition("|")[0] + "|" if line else "" for line in lines))


@pytest.mark.torture
def test_page_tells_the_figures_of_the_held_out_questions(answers: Answers) -> None:
    """By words alone, as above. No bound stands over these: who adjusts a rule to them has none left."""
    held_out = {"words": by_type(ask(recall_questions(HELD_OUT), "words"))}
    assert_shown(beside(measured(answers), held_out))

"""What the daemon recalls of three months of memories, with bounds that no change may break.

`tests/data/memories` describes the questions. A bound is a number of questions. For facts that changed, the current
value must always come first, in both languages, with and without a model; for its own day, the old value must.
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
"""By type, the least number of questions whose first item is cited right."""
THREE = {"exact": 17, "entity": 16, "temporal": 23, "opinion": 14}
"""The same for one of the first three items."""
STEADY = ("exact", "opinion", "changed", "scope")
"""Types whose answers reflect may not change; other types are not asked after reflect."""
ANSWERABLE_STRANGERS = 0
"""At most."""

Answers = Callable[[str], Sequence[Judged]]


@pytest.fixture(scope="module")
def answers(starter_model: Path) -> Answers:
    """Return a function that answers the questions in a mode, once for each mode."""

    @cache
    def answers_of(mode: str) -> Sequence[Judged]:
        questions = recall_questions()
        if mode == REFLECTED:
            questions = [question for question in questions if question.type in STEADY]
        return ask(questions, mode, starter_model if mode == "hybrid" else None)

    return answers_of


def measured(answers: Answers) -> Measured:
    return {mode: by_type(answers(mode)) for mode in (*MEASURED, REFLECTED)}


def assert_shown(table: str) -> None:
    """Check that a table is on the page, which may have more columns."""
    found, shown = table.splitlines(), PAGE.read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(shown) if line.startswith(found[0]))
    for actual, expected in zip(shown[start : start + len(found)], found, strict=True):
        assert actual[: len(expected) or None] == expected


def of_type(answers: Answers, mode: str, type_: str) -> list[Judged]:
    return [answer for answer in answers(mode) if answer.question.type == type_]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type_", FIRST)
def test_citation_is_right(answers: Answers, mode: str, type_: str) -> None:
    judged = of_type(answers, mode, type_)
    assert sum(answer.is_first for answer in judged) >= FIRST[type_]
    assert sum(1 <= answer.place <= 3 for answer in judged) >= THREE[type_]


@pytest.mark.parametrize("mode", MODES)
def test_current_value_comes_always_first(answers: Answers, mode: str) -> None:
    judged = of_type(answers, mode, "changed")
    assert len(judged) >= 32
    assert [answer.question.id for answer in judged if not answer.is_first] == []


@pytest.mark.parametrize("mode", MODES)
def test_old_value_comes_first_on_its_day(answers: Answers, mode: str) -> None:
    assert [answer.question.id for answer in of_type(answers, mode, "changed") if not answer.is_old_first] == []


@pytest.mark.parametrize("mode", MODES)
def test_opinions_come_with_confidence_and_evidence(answers: Answers, mode: str) -> None:
    assert {answer.question.id: answer.lacks for answer in of_type(answers, mode, "opinion") if answer.lacks} == {}


@pytest.mark.parametrize("mode", MODES)
def test_memories_of_other_scopes_are_not_shown(answers: Answers, mode: str) -> None:
    assert [answer.question.id for answer in answers(mode) if answer.tells_never] == []
    assert all(answer.is_first for answer in of_type(answers, mode, "scope") if answer.question.gold)


@pytest.mark.parametrize("mode", MODES)
def test_strangers_are_not_answerable(answers: Answers, mode: str) -> None:
    assert figures(of_type(answers, mode, STRANGER)).answerable <= ANSWERABLE_STRANGERS


@pytest.mark.torture
@pytest.mark.parametrize("type_", STEADY)
def test_reflect_changes_no_answer(answers: Answers, type_: str) -> None:
    judged = of_type(answers, REFLECTED, type_)
    assert judged
    assert [answer.question.id for answer in judged if answer.question.gold and not answer.is_first] == []
    assert [answer.question.id for answer in judged if answer.question.change and not answer.is_old_first] == []


@pytest.mark.torture
def test_page_has_the_current_figures(answers: Answers) -> None:
    """Exact without a model; with one, another processor may swap two similar items."""
    lines = tables(measured(answers)).splitlines()
    assert_shown("\n".join(line.rpartition("|")[0].rpartition("|")[0] + "|" if line else "" for line in lines))


@pytest.mark.torture
def test_page_has_the_current_figures_of_the_held_out_questions(answers: Answers) -> None:
    """Without a model. There is no bound on these: they must not be used to adjust a rule."""
    held_out = {"words": by_type(ask(recall_questions(HELD_OUT), "words"))}
    assert_shown(beside(measured(answers), held_out))

"""Results of the daemon on our own question sets with the real model, with bounds that no change may break.

`tests/data/retrieval` describes the sets. A bound is a number of questions: the measured figure, or one less where two
answers are so similar that another processor may swap them.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.retrieval.asking import Asking, ask
from bench.retrieval.figures import STRANGERS, Judged, by_category, figures
from bench.retrieval.sets import QuestionSet

OWN_SETS = Path(__file__).parents[1] / "data" / "retrieval"


@dataclass(frozen=True, slots=True)
class Bound:
    """Least numbers of questions right in the first and the first three hits; limits of empty answers and verdicts."""

    questions: int
    first: int = 0
    three: int = 0
    empty: int = 0
    answerable: tuple[int, int] | None = None
    """At least and at most."""
    none: int = 0
    """At least."""


FIRST_DAYS = {
    "paraphrase en": Bound(29, first=24, three=28),
    "paraphrase zh": Bound(13, first=4, three=9),
    "words en": Bound(19, first=19, three=19, answerable=(16, 19)),
    "words zh": Bound(9, first=9, three=9, answerable=(4, 9)),
    "inflected en": Bound(9, first=8, three=9, answerable=(4, 9)),
    "inflected zh": Bound(5, first=5, three=5),
    f"{STRANGERS} en": Bound(18, answerable=(0, 1), none=9),
    f"{STRANGERS} zh": Bound(10, answerable=(0, 0), none=8),
}

FIRST_DAYS_MULTILINGUAL = {
    "paraphrase en": Bound(29, first=21, three=27),
    "paraphrase zh": Bound(13, first=8, three=12),
    "words en": Bound(19, first=19, three=19, answerable=(15, 19)),
    "words zh": Bound(9, first=9, three=9, answerable=(7, 9)),
    "inflected en": Bound(9, first=8, three=9, answerable=(3, 9)),
    "inflected zh": Bound(5, first=5, three=5),
    f"{STRANGERS} en": Bound(18, answerable=(0, 1), none=9),
    f"{STRANGERS} zh": Bound(10, answerable=(0, 0), none=4),
}
"""With the multilingual model."""

_LITERALS = {
    # a hyphenated flag is no phrase: the dry dock, where boats run dry, ranks before --dry-run-only
    "identifier en": Bound(12, first=11, three=12, answerable=(11, 12)),
    "identifier zh": Bound(10, first=10, three=10, answerable=(8, 10)),
    "part en": Bound(10, first=10, three=10, answerable=(9, 10)),
    "part zh": Bound(6, first=6, three=6, answerable=(5, 6)),
    "all-terms en": Bound(5, first=5, three=5, answerable=(5, 5)),
    "all-terms zh": Bound(4, first=4, three=4, answerable=(4, 4)),
    "centred en": Bound(9, first=8, three=9, answerable=(8, 9)),
    # a short note that repeats one word ranks before the long one with most of the words
    "centred zh": Bound(6, first=5, three=6, answerable=(5, 6)),
}

# of two notes with the same word, the meaning decides, unless one repeats the word
LITERALS = {
    "hybrid": _LITERALS | {"meaning": Bound(10, first=7, three=10)},
    "lexical": _LITERALS | {"meaning": Bound(10, three=10)},
}
"""By mode."""

FOCUS_COVERAGE = 0.95
"""The least share of hits whose focus has the answer, if their chunk has it."""
FOCUS_LINES = 6
"""On average."""


@pytest.fixture(scope="module")
def first_days(starter_model: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    return _answers("tiny-dev", "hybrid", starter_model, tmp_path_factory)


@pytest.fixture(scope="module")
def first_days_multilingual(multilingual_model: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    return _answers("tiny-dev", "hybrid", multilingual_model, tmp_path_factory)


@pytest.fixture(scope="module")
def literals(starter_model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Judged]]:
    """Return the answers by mode."""
    return {mode: _answers("literals", mode, starter_model, tmp_path_factory) for mode in LITERALS}


@pytest.mark.parametrize("group", FIRST_DAYS)
def test_first_days(first_days: list[Judged], group: str) -> None:
    assert _shortcomings(first_days, group, FIRST_DAYS[group]) == []


@pytest.mark.torture
@pytest.mark.parametrize("group", FIRST_DAYS_MULTILINGUAL)
def test_first_days_with_the_multilingual_model(first_days_multilingual: list[Judged], group: str) -> None:
    assert _shortcomings(first_days_multilingual, group, FIRST_DAYS_MULTILINGUAL[group]) == []


@pytest.mark.parametrize(("mode", "group"), [(mode, group) for mode in LITERALS for group in LITERALS[mode]])
def test_literals(literals: dict[str, list[Judged]], mode: str, group: str) -> None:
    assert _shortcomings(literals[mode], group, LITERALS[mode][group]) == []


def test_focus_has_the_answer_and_is_short(first_days: list[Judged], literals: dict[str, list[Judged]]) -> None:
    for judged in (first_days, *literals.values()):
        focus = figures(judged).focus
        assert (focus.coverage or 0) >= FOCUS_COVERAGE
        assert 0 < (focus.mean_lines or 0) <= FOCUS_LINES


def test_every_group_has_a_bound(first_days: list[Judged], literals: dict[str, list[Judged]]) -> None:
    for judged, bounds in ((first_days, FIRST_DAYS), *((literals[mode], LITERALS[mode]) for mode in LITERALS)):
        assert {group for group in by_category(judged) if group not in ("all", STRANGERS)} == set(bounds)


def _answers(name: str, mode: str, model: Path, folders: pytest.TempPathFactory) -> list[Judged]:
    how = Asking(folders.mktemp(f"{name}-{mode}"), model)
    return ask(QuestionSet(name, OWN_SETS / name), mode, how, lambda asked, _: asked)


def _shortcomings(judged: list[Judged], group: str, bound: Bound) -> list[str]:
    found = by_category(judged)[group]
    measured = found.measures()
    count = {name: round(measured.get(name, 0) * found.questions) for name in ("first", "in_three")}
    answerable = bound.answerable or (0, bound.questions)
    checks = {
        f"{found.questions} questions": found.questions == bound.questions,
        f"first {count['first']}": count["first"] >= bound.first,
        f"in three {count['in_three']}": count["in_three"] >= bound.three,
        f"empty {found.empty}": found.empty <= bound.empty,
        f"answerable {found.verdicts['answerable']}": answerable[0] <= found.verdicts["answerable"] <= answerable[1],
        f"none {found.verdicts['none']}": found.verdicts["none"] >= bound.none,
    }
    return [text for text, is_held in checks.items() if not is_held]

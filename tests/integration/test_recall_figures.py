"""How recall answers are judged, on handmade answers."""

from dataclasses import replace

from bench.recall_questions.judged import Answered, Cited, Judged, Told, by_type, figures
from bench.recall_questions.question_set import RecallQuestion, recall_questions

CODE = next(one for one in recall_questions() if one.text == "what is the door code of Room 101?")
BELIEF = next(one for one in recall_questions() if one.has_evidence)


def answer_item(question: RecallQuestion, *, old: bool = False, before: tuple[Cited, ...] = (), **more: object) -> Told:
    """Return an item that cites the place of the answer, or of the old one."""
    assert question.change or not old
    place = question.change.old if old and question.change else question.gold[0]
    numbers = place.numbers()
    item = Told((*before, Cited(place.path, numbers.start, numbers.stop - 1)), "")
    return replace(item, **more)  # type: ignore[arg-type]


def judged(question: RecallQuestion, *items: Told, then: tuple[Told, ...] = ()) -> Judged:
    return Judged(question, Answered(items, "weak"), Answered(then, "weak"))


OTHER = Told((Cited("memory/2025-09-03.md", 3, 6),), "")


def test_right_citation_is_found_at_its_place() -> None:
    assert judged(CODE, answer_item(CODE)).place == 1
    assert judged(CODE, OTHER, answer_item(CODE)).place == 2
    assert judged(CODE, OTHER).place == 0
    assert judged(CODE, answer_item(CODE)).is_first
    assert not judged(CODE, OTHER, answer_item(CODE)).is_first
    assert not judged(CODE).is_first


def test_leading_citation_of_another_source_is_not_right() -> None:
    item = answer_item(CODE, before=(Cited("memory/2025-09-08.md", 1, 1),))
    assert judged(CODE, item).place == 1
    assert not judged(CODE, item).is_first


def test_line_next_to_the_right_one_is_wrong() -> None:
    right = answer_item(CODE).cited
    for shift in (-1, 1):
        assert judged(CODE, Told((Cited(right.path, right.first + shift, right.first + shift),), "")).place == 0


def test_old_value_counts_only_on_its_day() -> None:
    one = judged(CODE, answer_item(CODE), then=(answer_item(CODE, old=True),))
    assert one.is_old_first
    assert not judged(CODE, answer_item(CODE, old=True), then=(answer_item(CODE),)).is_old_first
    assert not judged(CODE, answer_item(CODE, old=True)).is_first


def test_belief_without_confidence_or_evidence_lacks_them() -> None:
    assert judged(BELIEF, answer_item(BELIEF)).lacks == ["confidence", "evidence"]
    assert judged(BELIEF, answer_item(BELIEF, confidence=0.5)).lacks == ["evidence"]
    assert judged(BELIEF, answer_item(BELIEF, confidence=0.5, evidence=1)).lacks == []


def test_figures_are_shares_of_answerable_questions() -> None:
    stranger = next(one for one in recall_questions() if not one.gold and not one.never)
    found = figures([judged(CODE, OTHER, answer_item(CODE)), judged(CODE, answer_item(CODE)), judged(stranger, OTHER)])
    assert (found.questions, found.first, found.three, found.found) == (3, 0.5, 1.0, 1.0)
    assert (found.old, found.believed, found.weak) == (0.0, None, 3)
    assert found.of_five == 0.75


def test_forbidden_items_are_counted() -> None:
    question = next(one for one in recall_questions() if one.never and not one.gold)
    never = question.never[0]
    lines = never.numbers()
    found = by_type([judged(question, Told((Cited(never.path, lines.start, lines.start),), ""))])
    assert found["scope"].told_never == 1
    assert found[f"scope {question.lang}"].first == 0.0

"""The order of what is recalled: boosts, days, versions."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import QueryIntent
from memoryd.domain.memories.recall_order import (
    Boosts,
    RankedCandidate,
    boosts_of,
    current_first,
    facts_first,
    latest_first,
    newer_of,
    sort_key,
    verdict_of,
)
from memoryd.domain.memories.times.spans import DaySpan, single_day
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.fusion import Evidence, LexicalMatches, VectorMatches, score_reciprocal
from memoryd.memory.recall.answer import BOOSTED
from tests.unit.domain.memories.books import book_from

SPAN = DaySpan(date(2025, 11, 20), date(2025, 11, 27))


def placed(score: float, day: int, *arms: str, is_noise: bool = False) -> RankedCandidate:
    verdict = Verdict.NONE if is_noise else Verdict.WEAK
    return RankedCandidate(score, dict.fromkeys(arms, 0.2), verdict, is_noise, date(2025, 11, day))


def order(asking: QueryIntent, *candidates: RankedCandidate) -> list[int]:
    return sorted(range(len(candidates)), key=lambda at: sort_key(candidates[at], asking))


def test_days_that_are_asked_about_come_first() -> None:
    inside, silent = placed(0.1, 21, Boosts.TEMPORAL), placed(0.0, 22, Boosts.TEMPORAL, is_noise=True)
    outside, noise = placed(0.9, 2), placed(0.3, 3, is_noise=True)
    assert order(QueryIntent(span=SPAN, is_of_days=True), noise, outside, silent, inside) == [3, 2, 1, 0]


def test_what_is_planned_was_not_written_on_its_days() -> None:
    (memory,) = book_from({"memory/2025-11-24.md": ["- W: The dentist comes."]}).memories.values()
    dated = [replace(source, event=single_day(date(2025, 11, 26))) for source in memory.sources]
    past, ahead = (QueryIntent(span=SPAN, is_of_days=True, is_ahead=is_ahead) for is_ahead in (False, True))

    assert boosts_of(memory, dated, ahead, {}) == boosts_of(memory, memory.sources, past, {}) != {}
    assert boosts_of(memory, memory.sources, ahead, {}) == {}


def test_answer_comes_before_what_only_the_days_speak_for() -> None:
    inside, silent = placed(0.1, 21, Boosts.TEMPORAL), placed(0.0, 22, Boosts.TEMPORAL, is_noise=True)
    answer = replace(placed(0.9, 2), verdict=Verdict.ANSWERABLE)
    assert order(QueryIntent(span=SPAN, is_of_days=True), silent, answer, inside) == [2, 1, 0]
    assert order(QueryIntent(), placed(0.95, 3), answer) == [0, 1], "where no day is named, the worth decides"


def test_days_beside_a_question_only_lift() -> None:
    inside, other = placed(0.3, 21, Boosts.TEMPORAL), placed(0.9, 2)
    near, silent = placed(0.8, 22, Boosts.TEMPORAL), placed(0.0, 22, Boosts.TEMPORAL, is_noise=True)
    assert order(QueryIntent(span=SPAN), silent, inside, other, near) == [3, 2, 1, 0]


def test_last_time_is_the_newest_of_what_says_nearly_as_much() -> None:
    best, newer, newest = placed(0.9, 2), placed(0.8, 12), placed(0.3, 20)
    noise = placed(0.9, 25, is_noise=True)
    assert latest_first([best, newer, newest, noise], lambda one: one) == [newer, best, newest, noise]
    assert latest_first([], lambda one: one) == []


def test_bare_question_is_answered_by_the_newest() -> None:
    asking = QueryIntent(frozenset({slug_of("castle")}), is_bare=True)
    assert order(asking, placed(0.9, 1, Boosts.ENTITY), placed(0.0, 9, Boosts.ENTITY), placed(0.9, 12)) == [1, 0, 2]


def test_bare_question_for_an_opinion_is_answered_by_the_best() -> None:
    asking = QueryIntent(frozenset({slug_of("castle")}), is_of_opinion=True, is_bare=True)
    both = (Boosts.ENTITY, Boosts.OPINION)
    candidates = placed(0.2, 9, *both), placed(0.6, 1, *both), placed(0.9, 12, Boosts.ENTITY), placed(0.6, 2, *both)
    assert order(asking, *candidates) == [3, 1, 0, 2]


def test_lift_alone_does_not_come_before_what_words_found() -> None:
    asking = QueryIntent(frozenset({slug_of("castle")}))
    assert order(asking, placed(0.0, 9, Boosts.ENTITY, is_noise=True), placed(0.05, 1)) == [1, 0]


def test_more_evidence_comes_first_though_both_have_all_that_can_be_told() -> None:
    asking = QueryIntent(frozenset({slug_of("castle")}))
    more, less = placed(1.0, 1, Boosts.ENTITY), placed(0.9, 9, Boosts.ENTITY)
    assert (more.score, less.score) == (1.0, 1.0)
    assert order(asking, less, more) == [1, 0]


def test_verdict_of_what_a_bare_question_names() -> None:
    asking = QueryIntent(frozenset({slug_of("castle")}), is_bare=True)
    assert verdict_of(Verdict.NONE, {Boosts.ENTITY: 0.2}, asking) is Verdict.ANSWERABLE
    assert verdict_of(Verdict.NONE, {}, asking) is Verdict.NONE
    assert verdict_of(Verdict.NONE, {Boosts.ENTITY: 0.2}, QueryIntent(asking.entities)) is Verdict.WEAK


def test_current_version_comes_first_and_is_brought_in() -> None:
    new, middle, old, other = (MemoryId(name) for name in ("new", "middle", "old", "other"))
    versions = newer_of({new: (middle, old), middle: (old,)})
    assert current_first([old, other, new], versions) == [new, old, other]
    assert current_first([other, old], versions) == [other, new, old]
    assert current_first([middle, old], newer_of({new: (middle,), middle: (old,)})) == [new, middle, old]


ids = st.sampled_from([MemoryId(name) for name in "abcdefgh"])


@given(st.lists(ids, unique=True), st.dictionaries(ids, st.lists(ids, max_size=3).map(tuple)))
def test_every_one_stays_and_none_stands_before_what_is_current(
    found: list[MemoryId], versions: dict[MemoryId, tuple[MemoryId, ...]]
) -> None:
    newer = newer_of(versions)
    told = current_first(found, newer)
    assert set(found) <= set(told)
    assert len(told) == len(set(told))
    for brought in set(told) - set(found):
        assert not newer.get(brought)


def test_reciprocal_ranks_know_nothing_but_ranks() -> None:
    evidence = Evidence(LexicalMatches({1: 9.0, 2: 0.1}), VectorMatches({2: 0.9, 3: 0.2}))
    scores = score_reciprocal(evidence)
    assert sorted(scores, key=lambda chunk: -scores[chunk]) == [2, 1, 3]
    assert score_reciprocal(Evidence(LexicalMatches({1: 3.0}), VectorMatches({1: 0.5})))[1] == 1.0


def test_what_retells_stands_behind_the_first_that_it_retells() -> None:
    def retells(item: str, other: str) -> bool:
        return item.isupper() and not other.isupper() and item.lower() in other

    assert facts_first(["A", "x", "ab", "a"], retells, may_retell=str.isupper) == ["x", "ab", "A", "a"]
    assert facts_first(["ab", "x", "A"], retells, may_retell=str.isupper) == ["ab", "x", "A"]
    assert facts_first(["A", "B", "AB"], retells, may_retell=str.isupper) == ["A", "B", "AB"]
    assert facts_first(["B", "A", "ab"], retells, may_retell=str.isupper) == ["ab", "B", "A"]


def test_only_what_may_retell_is_held_against_the_others() -> None:
    asked: list[tuple[int, int]] = []

    def retells(item: int, other: int) -> bool:
        asked.append((item, other))
        return False

    assert facts_first(range(1000), retells, may_retell=lambda item: item == 500) == list(range(1000))
    assert {item for item, _ in asked} == {500}


def test_each_boost_has_its_words() -> None:
    assert BOOSTED.keys() == {name for key, name in vars(Boosts).items() if key.isupper()}

"""Order of recalled items: boosts, days, versions."""

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


CASTLE = QueryIntent(frozenset({slug_of("castle")}))


def candidate(score: float, day: int, *arms: str, is_noise: bool = False) -> RankedCandidate:
    verdict = Verdict.NONE if is_noise else Verdict.WEAK
    return RankedCandidate(score, dict.fromkeys(arms, 0.2), verdict, is_noise, date(2025, 11, day))


def order(intent: QueryIntent, *candidates: RankedCandidate) -> list[int]:
    return sorted(range(len(candidates)), key=lambda at: sort_key(candidates[at], intent))


def test_items_of_asked_days_rank_first() -> None:
    inside, without_words = candidate(0.1, 21, Boosts.TEMPORAL), candidate(0.0, 22, Boosts.TEMPORAL, is_noise=True)
    outside, noise = candidate(0.9, 2), candidate(0.3, 3, is_noise=True)
    assert order(QueryIntent(span=SPAN, is_of_days=True), noise, outside, without_words, inside) == [3, 2, 1, 0]


def test_question_about_plans_uses_event_time() -> None:
    (memory,) = book_from({"memory/2025-11-24.md": ["- W: The dentist comes."]}).memories.values()
    dated = [replace(source, event=single_day(date(2025, 11, 26))) for source in memory.sources]
    past, ahead = (QueryIntent(span=SPAN, is_of_days=True, is_ahead=is_ahead) for is_ahead in (False, True))

    assert boosts_of(memory, dated, ahead, {}) == boosts_of(memory, memory.sources, past, {}) != {}
    assert boosts_of(memory, memory.sources, ahead, {}) == {}


def test_answer_ranks_before_items_that_match_days_only() -> None:
    inside, without_words = candidate(0.1, 21, Boosts.TEMPORAL), candidate(0.0, 22, Boosts.TEMPORAL, is_noise=True)
    answer = replace(candidate(0.9, 2), verdict=Verdict.ANSWERABLE)
    assert order(QueryIntent(span=SPAN, is_of_days=True), without_words, answer, inside) == [2, 1, 0]
    assert order(QueryIntent(), candidate(0.95, 3), answer) == [0, 1], "without days the score decides"


def test_hinted_days_only_boost() -> None:
    inside, other = candidate(0.3, 21, Boosts.TEMPORAL), candidate(0.9, 2)
    near, without_words = candidate(0.8, 22, Boosts.TEMPORAL), candidate(0.0, 22, Boosts.TEMPORAL, is_noise=True)
    assert order(QueryIntent(span=SPAN), without_words, inside, other, near) == [3, 2, 1, 0]


def test_question_for_last_time_prefers_newest_of_similar_scores() -> None:
    best, newer, newest = candidate(0.9, 2), candidate(0.8, 12), candidate(0.3, 20)
    noise = candidate(0.9, 25, is_noise=True)
    assert latest_first([best, newer, newest, noise], lambda one: one) == [newer, best, newest, noise]
    assert latest_first([], lambda one: one) == []


def test_bare_question_prefers_newest() -> None:
    intent = replace(CASTLE, is_bare=True)
    assert order(intent, candidate(0.9, 1, Boosts.ENTITY), candidate(0.0, 9, Boosts.ENTITY), candidate(0.9, 12)) == [
        1,
        0,
        2,
    ]


def test_bare_question_for_opinion_prefers_best_score() -> None:
    intent = replace(CASTLE, is_of_opinion=True, is_bare=True)
    both = (Boosts.ENTITY, Boosts.OPINION)
    candidates = (
        candidate(0.2, 9, *both),
        candidate(0.6, 1, *both),
        candidate(0.9, 12, Boosts.ENTITY),
        candidate(0.6, 2, *both),
    )
    assert order(intent, *candidates) == [3, 1, 0, 2]


def test_boosted_noise_does_not_rank_before_a_match() -> None:
    assert order(CASTLE, candidate(0.0, 9, Boosts.ENTITY, is_noise=True), candidate(0.05, 1)) == [1, 0]


def test_more_evidence_ranks_first_at_equal_maximum_score() -> None:
    more, less = candidate(1.0, 1, Boosts.ENTITY), candidate(0.9, 9, Boosts.ENTITY)
    assert (more.score, less.score) == (1.0, 1.0)
    assert order(CASTLE, less, more) == [1, 0]


def test_bare_question_makes_named_item_answerable() -> None:
    intent = replace(CASTLE, is_bare=True)
    assert verdict_of(Verdict.NONE, {Boosts.ENTITY: 0.2}, intent) is Verdict.ANSWERABLE
    assert verdict_of(Verdict.NONE, {}, intent) is Verdict.NONE
    assert verdict_of(Verdict.NONE, {Boosts.ENTITY: 0.2}, CASTLE) is Verdict.WEAK


def test_current_version_is_added_before_older_ones() -> None:
    new, middle, old, other = (MemoryId(name) for name in ("new", "middle", "old", "other"))
    versions = newer_of({new: (middle, old), middle: (old,)})
    assert current_first([old, other, new], versions) == [new, old, other]
    assert current_first([other, old], versions) == [other, new, old]
    assert current_first([middle, old], newer_of({new: (middle,), middle: (old,)})) == [new, middle, old]


ids = st.sampled_from([MemoryId(name) for name in "abcdefgh"])


@given(st.lists(ids, unique=True), st.dictionaries(ids, st.lists(ids, max_size=3).map(tuple)))
def test_all_items_are_kept_and_only_current_versions_added(
    found: list[MemoryId], versions: dict[MemoryId, tuple[MemoryId, ...]]
) -> None:
    newer = newer_of(versions)
    ordered = current_first(found, newer)
    assert set(found) <= set(ordered)
    assert len(ordered) == len(set(ordered))
    for added in set(ordered) - set(found):
        assert not newer.get(added)


def test_reciprocal_score_uses_ranks_only() -> None:
    evidence = Evidence(LexicalMatches({1: 9.0, 2: 0.1}), VectorMatches({2: 0.9, 3: 0.2}))
    scores = score_reciprocal(evidence)
    assert sorted(scores, key=lambda chunk: -scores[chunk]) == [2, 1, 3]
    assert score_reciprocal(Evidence(LexicalMatches({1: 3.0}), VectorMatches({1: 0.5})))[1] == 1.0


def test_retelling_follows_the_item_it_retells() -> None:
    def retells(item: str, other: str) -> bool:
        return item.isupper() and not other.isupper() and item.lower() in other

    assert facts_first(["A", "x", "ab", "a"], retells, may_retell=str.isupper) == ["x", "ab", "A", "a"]
    assert facts_first(["ab", "x", "A"], retells, may_retell=str.isupper) == ["ab", "x", "A"]
    assert facts_first(["A", "B", "AB"], retells, may_retell=str.isupper) == ["A", "B", "AB"]
    assert facts_first(["B", "A", "ab"], retells, may_retell=str.isupper) == ["ab", "B", "A"]


def test_only_possible_retellings_are_compared() -> None:
    compared: list[tuple[int, int]] = []

    def retells(item: int, other: int) -> bool:
        compared.append((item, other))
        return False

    assert facts_first(range(1000), retells, may_retell=lambda item: item == 500) == list(range(1000))
    assert {item for item, _ in compared} == {500}


def test_each_boost_has_a_description() -> None:
    assert BOOSTED.keys() == {name for key, name in vars(Boosts).items() if key.isupper()}

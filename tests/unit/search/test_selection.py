"""Selection of hits: noise fills the places behind telling hits and does not affect them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.config.memory_search import HybridSection
from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.ranking.calibration import Idf, Thresholds, Verdict, idf
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.ranking.selection import RankedHit, family_share, limit_shares
from memoryd.search.hits import Hit
from memoryd.search.ranking import SearchSettings, Selected, select
from memoryd.store.index.passages import ChunkRow

NOW = datetime(2026, 10, 6, tzinfo=UTC)
LIMIT = 6
WORDS = ["the", "spare", "key", "of", "this", "shed", "hangs", "behind", "a", "grey", "box", "in", "our", "hall"]
FLOORS = Thresholds(Idf(), Noise(0.0, 0.1), vectors=100, share=0.0, deviations=2.0, vector_floor=3.0, clear_floor=4.3)
DECAY: Mapping[str, object] = {"temporalDecay": {"enabled": True, "halfLifeDays": 30}}
RULES: Sequence[Mapping[str, object]] = [{}, {"mmr": {"enabled": True, "lambda": 0.3}}, DECAY]


def chosen(candidates: Sequence[Hit], rules: Mapping[str, object] | None = None, min_score: float = 0.0) -> Selected:
    settings = SearchSettings(HybridSection.model_validate(rules or {}))
    return select(candidates, LIMIT, settings=settings, min_score=min_score, floors=FLOORS, now=NOW)


def chunk(number: int, path: str = "", text: str = "") -> ChunkRow:
    text = text or f"text{number} of its own kind{number}, word{number} and thing{number}"
    name = RelativePath(path or f"memory/{number:03}.md")
    return ChunkRow(number, name, Source.MEMORY, 1, 2, "", text, mtime_ns=number * 10**18)


def literal(number: int, score: float, path: str = "", text: str = "") -> Hit:
    return Hit(
        chunk=chunk(number, path, text), base_score=score, score=score, bm25=1.0, terms=("lease",), verdict=Verdict.WEAK
    )


def stranger(number: int, score: float = 0.0, path: str = "", text: str = "") -> Hit:
    return Hit(chunk=chunk(number, path, text), base_score=score, score=score, cosine=0.2, verdict=Verdict.NONE)


def numbers(selected: Selected) -> list[int]:
    return [hit.chunk.id for hit in selected.hits]


def test_noise_fills_the_free_places_in_order_with_its_reason() -> None:
    selected = chosen([literal(1, 0.7), stranger(5), stranger(3), stranger(4)])
    assert numbers(selected) == [1, 5, 3, 4]
    assert (selected.telling, selected.misses) == (1, ())
    assert ["noise" in hit.because for hit in selected.hits] == [False, True, True, True]
    assert "2.0 deviations above the mean, where the best of unrelated notes reaches 3.0" in selected.hits[1].because


def test_answer_may_consist_of_noise() -> None:
    selected = chosen([stranger(number) for number in range(30)])
    assert numbers(selected) == [0, 1, 2, 3, 4, 5]
    assert (selected.telling, selected.has_room, selected.dominant) == (0, False, None)
    assert [miss.chunk.id for miss in selected.misses] == [6, 7, 8, 9, 10, 11]
    assert {miss.because for miss in selected.misses} == {"it is beyond maxResults"}


def test_noise_comes_after_a_literal_hit_with_a_lower_score() -> None:
    assert numbers(chosen([stranger(1, 0.2), literal(2, 0.0), stranger(3, 0.1)])) == [2, 1, 3]


def test_noise_below_min_score_is_a_miss_with_its_reason() -> None:
    selected = chosen([literal(1, 0.1), stranger(2, 0.2), stranger(3, 0.1)], min_score=0.15)
    assert numbers(selected) == [1, 2]
    assert [miss.because for miss in selected.misses] == [
        "it scores below minScore 0.15 and holds no word of the question"
    ]


HITS = st.lists(
    st.builds(
        lambda is_stranger, score, path, family: (is_stranger, score, f"memory/2026-09-0{path}.md", family),
        st.booleans(),
        st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.8]),
        st.integers(1, 3),
        st.integers(0, 4),
    ),
    max_size=40,
)


@pytest.mark.parametrize("rules", RULES)
@given(given_hits=HITS)
def test_telling_hits_are_chosen_as_if_there_were_no_noise(
    rules: Mapping[str, object], given_hits: list[tuple[bool, float, str, int]]
) -> None:
    """Folding, MMR, decay and shares ignore noise, whatever its score, copies or neighbours."""
    candidates = [
        (stranger if is_stranger else literal)(number, score, path, f"kind{family} " * 9 + f"number{number % 7}")
        for number, (is_stranger, score, path, family) in enumerate(given_hits)
    ]
    selected = chosen(candidates, rules)
    alone = chosen([hit for hit in candidates if not hit.is_noise], rules)
    telling = [hit for hit in selected.hits if not hit.is_noise]
    assert tuple(telling) == alone.hits
    assert numbers(selected)[: len(telling)] == numbers(alone)
    assert (selected.telling, selected.has_room, selected.dominant) == (len(telling), alone.has_room, alone.dominant)


def test_shares_of_documents_and_similar_notes_apply_to_noise() -> None:
    noise = [stranger(number, path="memory/long.md") for number in range(8)]
    assert numbers(chosen([*noise, stranger(9)])) == [0, 1, 2, 3, 4, 9]
    telling = [literal(number, 0.5, "memory/long.md") for number in range(20, 24)]
    assert numbers(chosen([*telling, *noise, stranger(9)])) == [20, 21, 22, 23, 0, 9]
    alike = [stranger(number, text="the ferry came late from the other bank today " * 2) for number in range(8)]
    alike = [replace(hit, chunk=replace(hit.chunk, text=f"{hit.chunk.text} no{hit.chunk.id}")) for hit in alike]
    assert numbers(chosen([*alike, stranger(20), stranger(21), stranger(22)])) == [0, 1, 2, 20, 21, 22]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.integers(1, 8))
@example([0, 1, 0, 0, 1], 4)
@example([0, 1, 2, 0, 0, 0, 1], 6)
def test_families_keep_their_shares_in_long_texts(kinds: list[int], limit: int) -> None:
    texts = [f"{' '.join(f'{kind}{word}' for word in WORDS)} on day {at}" for at, kind in enumerate(kinds)]
    hits = [literal(at, 0.9 - at / 100, text=text) for at, text in enumerate(texts)]
    taken: list[RankedHit] = []
    for at, kind in enumerate(kinds):
        families = Counter(ranked.family for ranked in taken)
        if len(taken) >= limit and sum(min(count, family_share(limit)) for count in families.values()) >= limit:
            break
        taken.append(RankedHit(0.9 - at / 100, path=str(at), family=kind))
    selected = select(hits, limit, settings=SearchSettings(), floors=FLOORS, now=NOW)
    assert numbers(selected) == limit_shares(taken, limit)[:limit]


def test_copy_keeps_its_verdict_behind_a_newer_one() -> None:
    """Of two copies the newest comes first, though its passages may be cut differently."""
    near = replace(stranger(1, 0.3, text="The same."), cosine=0.5, verdict=Verdict.ANSWERABLE)
    hit, *others = chosen([near, stranger(2, text="The  same."), stranger(3)]).hits
    assert (hit.chunk.id, hit.verdict, hit.score, len(hit.copies)) == (2, Verdict.ANSWERABLE, 0.3, 1)
    assert "noise" not in hit.because
    assert [other.verdict for other in others] == [Verdict.NONE]


def test_hit_without_a_verdict_is_no_noise() -> None:
    unjudged = replace(stranger(1, 0.1), verdict=None)
    selected = chosen([stranger(2, 0.2), unjudged])
    assert numbers(selected) == [1, 2]
    assert selected.telling == 1


@pytest.mark.parametrize(
    ("terms", "text", "verdict"),
    [
        (("birch", "lease"), "User: When does the lease of the birch end?", Verdict.NONE),
        (("lease",), "User: When does the lease end?", Verdict.WEAK),
        (("birch", "lease"), "User: When does the lease of the birch end?\nAssistant: In May.", Verdict.ANSWERABLE),
        (("birch", "lease"), "User: The lease of the birch ends in May.", Verdict.ANSWERABLE),
    ],
)
def test_earlier_question_is_no_answer(terms: tuple[str, ...], text: str, verdict: Verdict) -> None:
    row = replace(chunk(1, "sessions/s.jsonl", text), source=Source.SESSIONS)
    hit = Hit(chunk=row, base_score=0.9, score=0.9, bm25=1.0, terms=terms, verdict=Verdict.ANSWERABLE)
    floors = replace(FLOORS, idf=idf(100, {"lease": 2, "birch": 8}))
    selected = select([hit], LIMIT, settings=SearchSettings(HybridSection()), floors=floors, now=NOW)
    assert [hit.verdict for hit in selected.hits] == [verdict]

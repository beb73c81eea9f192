"""From merged scores to the hits of an answer: decay → sort → floors → folding → MMR → shares → top K."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memoryd.domain.documents import RelativePath
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.decay import age_in_days, decay_day, decay_factor
from memoryd.domain.ranking.diversity import Place, Weighed, family_share, file_share, mmr, shared, with_literal
from memoryd.domain.ranking.floors import deviations
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.ranking.similarity import Tokens, is_alike, tokens
from memoryd.search.folding import folded
from memoryd.search.query import Scored, Why

BEYOND = "it is beyond maxResults"


@dataclass(frozen=True, slots=True)
class Steps:
    """Which steps are taken: a half-life in days and a λ, None where the step is off. MMR chooses from `pool` hits."""

    half_life_days: float | None = None
    mmr_lambda: float | None = None
    pool: int = 24


@dataclass(frozen=True, slots=True)
class Bar:
    """What a hit must reach that holds no word of the question: a score before decay, and deviations above noise."""

    min_score: float = 0.0
    deviations: float = float("-inf")
    noise: Noise = field(default_factory=Noise)

    def admits(self, merged: float, cosine: float | None) -> bool:
        """Tell whether a hit without a word of the question may stand in the answer."""
        return merged >= self.min_score and deviations(cosine or 0.0, self.noise) >= self.deviations


@dataclass(frozen=True, slots=True)
class Selected:
    """The hits, best first; what came near and is none; whether others may have places of copies or like notes."""

    hits: tuple[Scored, ...]
    misses: tuple[Scored, ...]
    has_room: bool
    crowd: RelativePath | None
    """The document that has more than its share of the places."""


@dataclass(slots=True)
class _Leader:
    hit: Scored
    words: Tokens
    family: int
    """Number of the first one that it is alike."""


def select(candidates: Sequence[Scored], limit: int, *, steps: Steps, bar: Bar, now: datetime) -> Selected:
    """Choose the hits of an answer from candidates whose score is the merged one; `now` has the zone of its days."""
    aged = sorted((_aged(hit, steps, now) for hit in candidates), key=lambda hit: (-hit.score, -_why(hit).base))
    judged = [(hit, _refused(hit, bar)) for hit in aged]
    refused = [told for _, told in judged if told is not None]
    eligible = folded([hit for hit, told in judged if told is None], now.tzinfo or UTC)
    leaders, rest = _looked_at(eligible, limit, steps)
    places = _order(leaders, limit, steps)
    hits = tuple(_placed(leaders[at], place, at) for place, at in enumerate(places))
    late = [_missed(one.hit, BEYOND) for at, one in enumerate(leaders) if at not in places]
    late += [_missed(hit, BEYOND) for hit in rest[:limit]]
    misses = sorted(late + refused[:limit], key=lambda hit: -hit.score)
    return Selected(hits, tuple(misses[:limit]), _has_room(leaders, places, limit), _crowd(hits, limit))


def _crowd(hits: Sequence[Scored], limit: int) -> RelativePath | None:
    most = Counter(hit.chunk.path for hit in hits).most_common(1)
    return most[0][0] if most and most[0][1] > file_share(limit) else None


def _why(hit: Scored) -> Why:
    return hit.why or Why(hit.score)


def _aged(hit: Scored, steps: Steps, now: datetime) -> Scored:
    if steps.half_life_days is None:
        return hit
    why = replace(_why(hit), base=hit.score)
    zone = now.tzinfo
    assert zone is not None
    day = decay_day(hit.chunk.path, hit.chunk.source, hit.chunk.mtime_ns, zone)
    age = age_in_days(day, now.date())
    factor = decay_factor(age, steps.half_life_days)
    return replace(hit, score=hit.score * factor, why=replace(why, decay=factor, age_days=None if day is None else age))


def _refused(hit: Scored, bar: Bar) -> Scored | None:
    """Return the hit as a miss with its reason, None if it may stand in the answer. A literal match always may."""
    if hit.is_literal or bar.admits(_why(hit).base, hit.cosine):
        return None
    if _why(hit).base < bar.min_score:
        return _missed(hit, f"it scores below minScore {bar.min_score:g} and holds no word of the question")
    rise = deviations(hit.cosine or 0.0, bar.noise)
    return _missed(
        hit,
        f"it holds no word of the question, and its meaning is within the noise: {rise:.1f} deviations above the mean, "
        f"where the best of unrelated notes reaches {bar.deviations:.1f}",
    )


def _looked_at(hits: Sequence[Scored], limit: int, steps: Steps) -> tuple[list[_Leader], list[Scored]]:
    """Take hits until there are enough of different kinds to choose from; return them, and the others.

    Where decay reorders, literal hits that were among the best before it are looked at too.
    """
    wanted = limit if steps.mmr_lambda is None else max(limit, steps.pool)
    leaders: list[_Leader] = []
    for looked, hit in enumerate(hits):
        if _places(leaders, limit) >= wanted:
            rest = list(hits[looked:])
            break
        _take(leaders, hit)
    else:
        return leaders, []
    if steps.half_life_days is not None:
        best = sorted(hits, key=lambda hit: -_why(hit).base)[:limit]
        owed = [hit for hit in best if hit.is_literal and hit in rest]
        for hit in owed:
            _take(leaders, hit)
        rest = [hit for hit in rest if hit not in owed]
    return leaders, rest


def _places(leaders: Sequence[_Leader], limit: int) -> int:
    """Count the hits that the shares of documents and of notes that are alike leave."""
    paths = Counter(leader.hit.chunk.path for leader in leaders)
    families = Counter(leader.family for leader in leaders)
    return min(
        sum(min(count, file_share(limit)) for count in paths.values()),
        sum(min(count, family_share(limit)) for count in families.values()),
    )


def _take(leaders: list[_Leader], hit: Scored) -> None:
    # the text of a picture or sound is its name, which says nothing of how alike two are
    words = frozenset[str]() if modality_of(hit.chunk.path) else tokens(hit.chunk.text)
    firsts = (at for at, leader in enumerate(leaders) if leader.family == at)
    family = next((at for at in firsts if is_alike(leaders[at].words, words)), len(leaders))
    leaders.append(_Leader(hit, words, family))


def _has_room(leaders: Sequence[_Leader], places: Sequence[int], limit: int) -> bool:
    if len(places) < limit:
        return any(one.hit.copies for one in leaders)
    return max(Counter(leaders[at].family for at in places).values()) > family_share(limit)


def _order(leaders: Sequence[_Leader], limit: int, steps: Steps) -> list[int]:
    order = list(range(len(leaders)))
    if steps.mmr_lambda is not None:
        order = mmr([Weighed(one.hit.score, one.words) for one in leaders], steps.mmr_lambda)
    asked = [Place(leaders[at].hit.chunk.path, leaders[at].family, leaders[at].hit.score) for at in order]
    order = [order[at] for at in shared(asked, limit)]
    before = sorted(range(len(leaders)), key=lambda at: -_why(leaders[at].hit).base)
    literal = frozenset(at for at, one in enumerate(leaders) if one.hit.is_literal)
    return with_literal(order, before, literal, limit)


def _placed(leader: _Leader, place: int, sorted_place: int) -> Scored:
    why = _why(leader.hit)
    reasons = [*_from_arms(why)]
    if why.age_days is not None:
        reasons.append(f"decayed to {why.decay:.0%} after {why.age_days} days")
    if place < sorted_place:
        reasons.append(f"moved up from place {sorted_place + 1} for what is new in it or because it is a literal match")
    if place > sorted_place:
        reasons.append(f"moved down from place {sorted_place + 1} for a hit of another kind or document")
    if leader.hit.copies:
        reasons.append(f"{len(leader.hit.copies)} copies folded into it")
    return replace(leader.hit, why=replace(why, because="; ".join(reasons)))


def _from_arms(why: Why) -> list[str]:
    words = f"{why.words_rank}. by words ({', '.join(why.terms)})" if why.words_rank else ""
    meaning = f"{why.vector_rank}. by meaning" if why.vector_rank else ""
    return [part for part in (words, meaning) if part]


def _missed(hit: Scored, reason: str) -> Scored:
    return replace(hit, why=replace(_why(hit), because=reason))

"""Ranked → hits: decay → sort → least score → folding → MMR → shares → top K, and noise in the places that are left."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from memoryd.domain.documents import RelativePath
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.calibration import Floors, Verdict
from memoryd.domain.ranking.selection import (
    Contender,
    decay_of,
    family_share,
    file_share,
    is_alike,
    mmr,
    shared,
    tokens,
    with_literal,
)
from memoryd.search.folding import folded
from memoryd.search.hit import Hit
from memoryd.search.search_settings import SelectionSettings

BEYOND = "it is beyond maxResults"


@dataclass(frozen=True, slots=True)
class Selected:
    """The hits, best first; what came near and is none; whether others may have places of copies or like notes."""

    hits: tuple[Hit, ...]
    misses: tuple[Hit, ...]
    telling: int
    """How many of the hits are no noise; only they can be owed a place by what was not looked at."""
    has_room: bool
    dominant: RelativePath | None
    """The document that has more than its share of the places."""


@dataclass(frozen=True, slots=True)
class _Leader:
    """A hit that leads its copies, and what counts of it where places are shared."""

    hit: Hit
    contender: Contender


def select(
    candidates: Sequence[Hit],
    limit: int,
    *,
    settings: SelectionSettings,
    min_score: float = 0.0,
    floors: Floors | None = None,
    now: datetime,
) -> Selected:
    """Choose the hits of an answer from candidates that have base scores; `now` has the zone of its days.

    Noise takes the places that are left, and never part in what happens to the others: a hit that tells something is
    moved by no stranger.
    """
    aged = sorted((_aged(hit, settings, now) for hit in candidates), key=_by_worth)
    too_low = f"it scores below minScore {min_score:g} and holds no word of the question"
    refused = [replace(hit, because=too_low) for hit in aged if _is_refused(hit, min_score)]
    eligible = folded([hit for hit in aged if not _is_refused(hit, min_score)], now.tzinfo or UTC)
    noise = [hit for hit in eligible if hit.is_noise]
    leaders, rest = _looked_at([hit for hit in eligible if not hit.is_noise], limit, settings)
    places = _order(leaders, limit, settings)
    has_room, telling = _has_room(leaders, places, limit), len(places)
    dominant = _dominant([leaders[at].hit for at in places], limit)
    if telling < limit:
        rest += _take_noise(leaders, noise, limit)
        places += _order_of_noise(leaders, telling, limit)
    else:
        rest += noise
    hits = tuple(_placed(leaders[at].hit, place, at, floors) for place, at in enumerate(places))
    late = [one.hit for at, one in enumerate(leaders) if at not in places] + rest[:limit]
    nearest = sorted([*late, *refused[:limit]], key=lambda hit: (hit.is_noise, -hit.score))[:limit]
    misses = tuple(hit if hit.because else replace(hit, because=BEYOND) for hit in nearest)
    return Selected(hits, misses, telling, has_room, dominant)


def _by_worth(hit: Hit) -> tuple[bool, float, float, float]:
    """Sort what is no noise before noise, the best first; what is alike stays as it was read, or ranked."""
    return hit.is_noise, -hit.score, hit.ranks.reading or math.inf, -hit.base_score


def _aged(hit: Hit, settings: SelectionSettings, now: datetime) -> Hit:
    if settings.half_life_days is None:
        return hit
    chunk = hit.chunk
    decay = decay_of(chunk.path, chunk.source, chunk.mtime_ns, half_life_days=settings.half_life_days, now=now)
    return replace(hit, score=hit.score * decay.factor, decay=decay)


def _is_refused(hit: Hit, min_score: float) -> bool:
    """Tell whether a hit is left out; a literal match never is."""
    # decay must not count here: an old note without words would fall below the least score by its age alone
    return not hit.is_literal and hit.base_score < min_score


def _looked_at(hits: Sequence[Hit], limit: int, settings: SelectionSettings) -> tuple[list[_Leader], list[Hit]]:
    """Take hits until there are enough of different kinds to choose from; return them, and the others.

    Where a rule reorders, literal hits that were among the best before it are looked at too.
    """
    wanted = limit if settings.mmr_lambda is None else max(limit, settings.pool)
    leaders: list[_Leader] = []
    for looked, hit in enumerate(hits):
        if _places(leaders, limit) >= wanted:
            rest = list(hits[looked:])
            break
        _take(leaders, hit)
    else:
        return leaders, []
    if settings.may_reorder or any(hit.ranks.reading for hit in hits):
        best = sorted(hits, key=lambda hit: -hit.base_score)[:limit]
        owed = [hit for hit in best if hit.is_literal and hit in rest]
        for hit in owed:
            _take(leaders, hit)
        rest = [hit for hit in rest if hit not in owed]
    return leaders, rest


def _places(leaders: Sequence[_Leader], limit: int) -> int:
    """Count the hits that the shares of documents and of notes that are alike leave."""
    paths = Counter(leader.contender.path for leader in leaders)
    families = Counter(leader.contender.family for leader in leaders)
    return min(
        sum(min(count, file_share(limit)) for count in paths.values()),
        sum(min(count, family_share(limit)) for count in families.values()),
    )


def _take(leaders: list[_Leader], hit: Hit) -> None:
    # the text of a picture or sound is its name, which says nothing of how alike two are
    words = frozenset[str]() if modality_of(hit.chunk.path) else tokens(hit.chunk.text)
    # compared with the first of each family only: notes that drift by a word at a time would else be one family
    firsts = (at for at, leader in enumerate(leaders) if leader.contender.family == at)
    family = next((at for at in firsts if is_alike(leaders[at].contender.tokens, words)), len(leaders))
    leaders.append(_Leader(hit, Contender(hit.score, words, hit.chunk.path, family)))


def _take_noise(leaders: list[_Leader], noise: Sequence[Hit], limit: int) -> list[Hit]:
    """Take noise behind what was chosen until the places are filled, and return what is left of it."""
    for looked, hit in enumerate(noise):
        if _places(leaders, limit) >= limit:
            return list(noise[looked:])
        _take(leaders, hit)
    return []


def _order_of_noise(leaders: Sequence[_Leader], telling: int, limit: int) -> list[int]:
    """Return the leaders for the places behind the first `telling`, whose documents and families keep their shares."""
    contenders = [one.contender for one in leaders]
    order = shared(contenders[telling:], limit, taken=contenders[:telling])
    return [telling + at for at in order[: limit - telling]]


def _dominant(hits: Sequence[Hit], limit: int) -> RelativePath | None:
    most = Counter(hit.chunk.path for hit in hits).most_common(1)
    return most[0][0] if most and most[0][1] > file_share(limit) else None


def _has_room(leaders: Sequence[_Leader], places: Sequence[int], limit: int) -> bool:
    if len(places) < limit:
        return any(one.hit.copies for one in leaders)
    return max(Counter(leaders[at].contender.family for at in places).values()) > family_share(limit)


def _order(leaders: Sequence[_Leader], limit: int, settings: SelectionSettings) -> list[int]:
    contenders = [one.contender for one in leaders]
    order = list(range(len(leaders)))
    if settings.mmr_lambda is not None:
        order = mmr(contenders, settings.mmr_lambda)
    order = [order[at] for at in shared([contenders[at] for at in order], limit)]
    before = sorted(range(len(leaders)), key=lambda at: -leaders[at].hit.base_score)
    literal = frozenset(at for at, one in enumerate(leaders) if one.hit.is_literal)
    return with_literal(order, before, literal, limit)


def _placed(hit: Hit, place: int, sorted_place: int, floors: Floors | None) -> Hit:
    """Return the hit with the reasons of its place."""
    reasons = []
    if hit.ranks.words:
        reasons.append(f"{hit.ranks.words}. by words ({', '.join(hit.terms)})")
    if hit.ranks.vector:
        reasons.append(f"{hit.ranks.vector}. by meaning")
    if hit.ranks.reading:
        reasons.append(f"{hit.ranks.reading}. by reading it beside the question, from place {hit.ranks.merged}")
    if hit.verdict is Verdict.NONE and floors is not None:
        reasons.append(floors.nothing_in(hit.terms, hit.cosine))
    if hit.decay.age_days is not None:
        reasons.append(f"decayed to {hit.decay.factor:.0%} after {hit.decay.age_days} days")
    if place < sorted_place:
        reasons.append(f"moved up from place {sorted_place + 1} for what is new in it or because it is a literal match")
    if place > sorted_place:
        reasons.append(f"moved down from place {sorted_place + 1} for a hit of another kind or document")
    if hit.copies:
        reasons.append(f"{len(hit.copies)} copies folded into it")
    return replace(hit, because="; ".join(reasons))

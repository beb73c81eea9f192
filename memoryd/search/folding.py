"""Hits that say the same become one, whichever engine found them: the newest of them leads and cites the others."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo

from memoryd.domain.documents import Source
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.text.duplicates import gist, outline
from memoryd.search.hit import Hit, best_verdict


def folded(hits: Sequence[Hit], zone: tzinfo = UTC) -> list[Hit]:
    """Return the hits, best first, without copies; the newest of those that say the same has the place of the best.

    Newest is by the date in the name, else by the day in `zone` of the last change. A hit that holds other words of
    the question, if only in its path, is no copy.
    """
    outlines = [outline(hit.chunk.text) for hit in hits]
    counts = Counter(outlines)
    groups: dict[Hashable, list[Hit]] = {}
    for at, hit in enumerate(hits):
        is_alone = counts[outlines[at]] == 1 or modality_of(hit.chunk.path) is not None
        said = "" if is_alone else gist(hit.chunk.text, hit.chunk.heading)
        groups.setdefault((said, frozenset(hit.terms)) if said else at, []).append(hit)
    return [_led(group, zone) for group in groups.values()]


def _led(group: Sequence[Hit], zone: tzinfo) -> Hit:
    newest = max(group, key=lambda hit: _written(hit, zone))
    copies = tuple(hit.chunk for hit in group if hit is not newest)
    if not copies:
        return newest
    # to be the newest is no merit: what the best of them is worth counts, as its score does
    return replace(newest, score=max(hit.score for hit in group), verdict=best_verdict(group), copies=copies)


def _written(hit: Hit, zone: tzinfo) -> tuple[date, int]:
    chunk = hit.chunk
    named = None if chunk.source is Source.SESSIONS else date_in_name(chunk.path)
    return named or datetime.fromtimestamp(chunk.mtime_ns / 1e9, zone).date(), chunk.mtime_ns

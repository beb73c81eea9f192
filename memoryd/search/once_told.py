"""Conversations told once where two say the same: a transcript, and the session that its turns are taken into."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from memoryd.domain.citations import told_path, turns_path
from memoryd.domain.documents import RelativePath
from memoryd.domain.sessions.taking_turns import transcript_session
from memoryd.search.backend import Found, Query, SearchBackend
from memoryd.search.hit import Hit
from memoryd.search.selection import BEYOND


class OnceTold:
    """Asks `inner`, and tells of each two conversations that are one the better: what it holds need not be in both."""

    def __init__(self, inner: SearchBackend) -> None:
        self._inner = inner

    async def search(self, query: Query) -> Found:
        """Return the hits without those that are told already; places that they leave go to others."""
        found = await self._inner.search(query)
        if _once(found.hits) == found.hits and _once(found.misses, _told(found.hits)) == found.misses:
            return found
        found = await self._inner.search(replace(query, limit=2 * query.limit))
        hits = _once(found.hits)
        beyond = (replace(hit, because=BEYOND) for hit in hits[query.limit :])
        misses = (*beyond, *_once(found.misses, _told(hits)))
        return replace(found, hits=hits[: query.limit], misses=misses[: query.limit])


def _once(hits: Iterable[Hit], told: Mapping[RelativePath, RelativePath] | None = None) -> tuple[Hit, ...]:
    """Return the hits of each conversation under the name that it is told by, or that its best hit has."""
    names = dict(told or {})
    return tuple(hit for hit in hits if names.setdefault(_conversation(hit), path := told_path(hit.chunk.path)) == path)


def _told(hits: Iterable[Hit]) -> Mapping[RelativePath, RelativePath]:
    return {_conversation(hit): told_path(hit.chunk.path) for hit in hits}


def _conversation(hit: Hit) -> RelativePath:
    """Return what a transcript and the session of its turns have in common: the path of the session."""
    path = told_path(hit.chunk.path)
    folder, _, rest = path.partition("/")
    agent, _, file = rest.partition("/")
    return turns_path(transcript_session(agent, file)) if folder == "sessions" and file else path

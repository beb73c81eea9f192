"""Two engines as one: the first answers; when it cannot, the second answers the same question in the same call."""

import time
from dataclasses import replace
from datetime import UTC, datetime

from memoryd.errors import SidecarError
from memoryd.search.arm_times import ArmTimes
from memoryd.search.backend import ArmState, Fallback, Found, LateBackend, Query, SearchBackend

FIRST_SHARE = 0.8
"""Of the deadline; the rest is kept for the second engine."""
LEAST_SECONDS = 0.05


class FallbackSearch:
    """Remembers who is standing in, why and since when.

    What the first engine cannot know yet, since it was written after its last update, is added from `recent`.
    """

    def __init__(
        self,
        *,
        first: LateBackend,
        second: SearchBackend,
        recent: SearchBackend,
        name: str,
    ) -> None:
        self._first = first
        self._second = second
        self._recent = recent
        self._name = name
        self._fallback: Fallback | None = None
        self.times = ArmTimes()

    @property
    def fallback(self) -> Fallback | None:
        """The outage that the last question or `note` met, None while the first engine works."""
        return self._fallback

    def note(self, outage: str | None) -> Fallback | None:
        """Take the news that the first engine is out, or that it may be asked again; return what holds now."""
        since = self._fallback.since if self._fallback else datetime.now(UTC)
        self._fallback = None if outage is None else Fallback(self._name, outage, since)
        return self._fallback

    async def search(self, query: Query) -> Found:
        """Answer with the first engine, else with the second; `fallback` in what is found says so."""
        begun = time.monotonic()
        end = begun + query.deadline
        try:
            found = await self._first.search(replace(query, deadline=query.deadline * FIRST_SHARE))
        except SidecarError as exc:
            self.times.note(self._name, begun, ArmState.FAILED)
            # what is noted meanwhile is for the next question
            met = self.note(str(exc))
            return replace(await self._second.search(_rest(query, end)), fallback=met)
        self.times.note(self._name, begun)
        self.note(None)
        if not found.hits and found.doubt:
            reason = Fallback(self._name, found.doubt, datetime.now(UTC))
            return replace(await self._second.search(_rest(query, end)), fallback=reason)
        return found if found.as_of is None else await self._with_recent(found, found.as_of, _rest(query, end))

    async def _with_recent(self, found: Found, as_of: float, query: Query) -> Found:
        """Put hits in documents changed since `as_of` where the second engine ranks them, and its noise behind all."""
        others = (await self._recent.search(query)).hits
        changed = self._first.changed_since([hit.chunk.path for hit in others], as_of)
        hits = [hit for hit in found.hits if hit.chunk.path not in changed]
        for rank, hit in enumerate(others):
            if hit.chunk.path in changed:
                hits.insert(len(hits) if hit.is_noise else rank, hit)
        return replace(found, hits=tuple(hits[: query.limit]))


def _rest(query: Query, end: float) -> Query:
    return replace(query, deadline=max(LEAST_SECONDS, end - time.monotonic()))

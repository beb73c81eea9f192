"""What a group is told of a recall does not tell that something was kept back."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from memoryd.agents.retained.recall import for_groups
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.recall_order import RankedCandidate
from memoryd.domain.ranking.calibration import Verdict
from memoryd.errors import StoreError
from memoryd.memory.recall.query import CheckedSource, Recalled, RecalledMemory
from memoryd.search.hits import ChunkEvidence
from tests.unit.domain.memories.test_kept_from_groups import PIN, PLAIN


def item(memory: Memory, verdict: Verdict) -> RecalledMemory:
    placed = RankedCandidate(1.0, {}, verdict, False, None)
    sources = tuple(CheckedSource(one) for one in memory.sources)
    return RecalledMemory(memory=memory, sources=sources, placed=placed, evidence=ChunkEvidence())


def book(memories: Mapping[str, Memory] | None) -> Any:
    async def now() -> SimpleNamespace:
        if memories is None:
            raise StoreError("the index cannot be read")
        return SimpleNamespace(memories=memories)

    return SimpleNamespace(now=now)


async def test_verdict_and_reason_are_of_what_is_told() -> None:
    both = {one.id: one for one in (PIN, PLAIN)}
    pinned, plain = item(PIN, Verdict.ANSWERABLE), item(PLAIN, Verdict.WEAK)
    found = Recalled(items=(pinned, plain), verdict=Verdict.ANSWERABLE)
    told = await for_groups(found, book(both), 5)
    assert (told.items, told.verdict) == ((plain,), Verdict.WEAK)

    hidden = await for_groups(Recalled(items=(pinned,), verdict=Verdict.ANSWERABLE), book(both), 5)
    nothing = await for_groups(Recalled(reason="nothing is recalled"), book(both), 5)
    unknown = await for_groups(found, book(None), 5)
    assert hidden.reason
    assert {(one.items, one.verdict, one.reason) for one in (hidden, nothing, unknown)} == {
        ((), Verdict.NONE, hidden.reason)
    }

"""What a group is told of a recall does not tell that something was kept back."""

from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.recall_order import RankedCandidate
from memoryd.domain.ranking.calibration import Verdict
from memoryd.memory.recall.answer import for_groups
from memoryd.memory.recall.query import CheckedSource, Recalled, RecalledMemory
from memoryd.search.hits import ChunkEvidence
from tests.unit.domain.memories.test_kept_from_groups import KEPT, PIN, PLAIN


def item(memory: Memory, verdict: Verdict) -> RecalledMemory:
    placed = RankedCandidate(1.0, {}, verdict, False, None)
    sources = tuple(CheckedSource(one) for one in memory.sources)
    return RecalledMemory(memory=memory, sources=sources, placed=placed, evidence=ChunkEvidence())


def test_verdict_and_reason_are_of_what_is_told() -> None:
    pinned, plain = item(PIN, Verdict.ANSWERABLE), item(PLAIN, Verdict.WEAK)
    found = Recalled(items=(pinned, plain), verdict=Verdict.ANSWERABLE)
    told = for_groups(found, KEPT, 5)
    assert (told.items, told.verdict) == ((plain,), Verdict.WEAK)

    hidden = for_groups(Recalled(items=(pinned,), verdict=Verdict.ANSWERABLE), KEPT, 5)
    nothing = for_groups(Recalled(reason="nothing is recalled"), KEPT, 5)
    unknown = for_groups(found, None, 5)
    assert hidden.reason
    assert {(one.items, one.verdict, one.reason) for one in (hidden, nothing, unknown)} == {
        ((), Verdict.NONE, hidden.reason)
    }

"""A recall says what it lacks; a recall for a group does not show that items were withheld."""

from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.recall_order import RankedCandidate
from memoryd.domain.ranking.calibration import Verdict
from memoryd.memory.recall.answer import for_groups
from memoryd.memory.recall.query import CheckedSource, Recalled, RecalledMemory
from memoryd.search.hits import ChunkEvidence
from memoryd.search.protocol import Arm, ArmState, Freshness, SearchResult
from tests.unit.domain.memories.test_kept_from_groups import KEPT, PIN, PLAIN


def item(memory: Memory, verdict: Verdict) -> RecalledMemory:
    placed = RankedCandidate(1.0, {}, verdict, False, None)
    sources = tuple(map(CheckedSource, memory.sources))
    return RecalledMemory(memory=memory, sources=sources, placed=placed, evidence=ChunkEvidence())


def test_verdict_and_reason_ignore_withheld_items() -> None:
    pinned, plain = item(PIN, Verdict.ANSWERABLE), item(PLAIN, Verdict.WEAK)
    found = Recalled(items=(pinned, plain), verdict=Verdict.ANSWERABLE)
    shown = for_groups(found, KEPT, 5)
    assert (shown.items, shown.verdict) == ((plain,), Verdict.WEAK)

    hidden = for_groups(Recalled(items=(pinned,), verdict=Verdict.ANSWERABLE), KEPT, 5)
    nothing = for_groups(Recalled(reason="nothing is recalled"), KEPT, 5)
    unknown = for_groups(found, None, 5)
    assert hidden.reason
    assert {(recalled.items, recalled.verdict, recalled.reason) for recalled in (hidden, nothing, unknown)} == {
        ((), Verdict.NONE, hidden.reason)
    }


def test_recall_reports_only_what_it_lacks() -> None:
    arms = {
        "lexical": Arm(ArmState.OK),
        "vector": Arm(ArmState.PARTIAL, "1 passage has no vector yet"),
        "memories": Arm(ArmState.OK),
    }
    found = Recalled(result=SearchResult((), (), arms, ()))
    unread = Recalled(freshness=Freshness(pending_files=2))

    assert (found.lacks, found.is_complete) == (["vector: 1 passage has no vector yet"], False)
    assert (unread.lacks, unread.is_complete) == (["2 files not yet indexed"], False)
    assert Recalled().is_complete

"""What there is to tell of a memory, worked out of what its parts say and what was counted."""

from pathlib import Path

from msgspec.structs import replace

from memoryd.agents.status.figures import SKIPPED_SHOWN, IndexStats, skipped_replies
from memoryd.agents.status.status import AgentState, MemoryStatus
from memoryd.domain.documents import RelativePath, SkippedFile
from memoryd.embed.protocol import EmbedderIdentity
from memoryd.files.scanner import RootReport, RootState, ScanRoot
from memoryd.replies.status import HistoryReply, LedgerReply
from memoryd.store.index.passages import Counts
from tests.fakes import FakeEmbedder
from tests.unit.agents.test_degraded import healthy, of_sync, with_


def skipped(path: str, reason: str) -> SkippedFile:
    return SkippedFile(RelativePath(path), reason)


FIGURES = IndexStats(stored=Counts(passages=10), lacking=3, embedded=6, unseen=(skipped("a.png", "too large"),))


def identity() -> EmbedderIdentity:
    return FakeEmbedder().identity


def status(state: AgentState, figures: IndexStats = FIGURES) -> MemoryStatus:
    history = HistoryReply(
        changes=0,
        maxChanges=0,
        changeBytes=0,
        maxChangeBytes=0,
        proposals=0,
        maxProposals=0,
        reflectRuns=0,
        maxReflectRuns=0,
    )
    ledger = LedgerReply(
        path="",
        bytes=0,
        heldAnswers=0,
        heldBytes=0,
        maxHeldAnswers=0,
        maxHeldBytes=0,
        refusedAnswers=0,
        history=history,
    )
    return MemoryStatus(state, figures, {}, None, [], ledger)


def test_no_more_passages_are_embedded_than_there_are() -> None:
    embedding = with_(identity=identity())
    assert status(embedding).embedded == 6
    assert status(embedding, replace(FIGURES, embedded=12)).embedded == 10, "counted at two moments"
    assert status(healthy()).embedded == 0, "nobody knows of which embedder"


def test_vectors_that_nobody_wants_are_not_pending() -> None:
    assert status(with_(is_embedding_idle=False)).pending_embeddings == 3
    assert status(with_(is_embedding_idle=True)).pending_embeddings == 0


def test_who_embeds_is_none_without_an_embedder() -> None:
    found = identity()
    embedding = with_(identity=found)
    assert (embedding.provider, embedding.model) == (found.provider, found.model)
    assert (healthy().provider, healthy().model) == ("none", None)


def test_first_skipped_files_are_shown_and_all_are_counted() -> None:
    few = status(of_sync(skipped=(skipped("b.md", "no text"),)))
    assert [one["path"] for one in skipped_replies(few.all_skipped)] == ["b.md", "a.png"]
    many = status(of_sync(skipped=tuple(skipped(f"{number}.md", "no text") for number in range(SKIPPED_SHOWN))))
    assert len(skipped_replies(many.all_skipped)) == SKIPPED_SHOWN
    assert len(many.all_skipped) == SKIPPED_SHOWN + 1


def test_folder_that_need_not_be_there_is_not_told_while_it_is_not() -> None:
    def told(state: RootState, *, is_optional: bool) -> bool:
        report = RootReport(ScanRoot(Path("/notes"), is_optional=is_optional), state, 0)
        return of_sync(roots=(report,)).roots == [report]

    assert not told(RootState.MISSING, is_optional=True)
    assert told(RootState.MISSING, is_optional=False)
    assert told(RootState.UNREADABLE, is_optional=True)
    assert told(RootState.OK, is_optional=True)

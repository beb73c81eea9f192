"""The status of a memory is computed from the states of its parts and from counts."""

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
from tests.unit.agents.test_degraded import healthy, with_, with_sync


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


def test_embedded_count_is_at_most_the_number_of_passages() -> None:
    embedding = with_(identity=identity())
    assert status(embedding).embedded == 6
    assert status(embedding, replace(FIGURES, embedded=12)).embedded == 10, "the counts are of two moments"
    assert status(healthy()).embedded == 0, "the embedder is unknown"


def test_idle_embedding_has_nothing_pending() -> None:
    assert status(with_(is_embedding_idle=False)).pending_embeddings == 3
    assert status(with_(is_embedding_idle=True)).pending_embeddings == 0


def test_provider_is_none_without_an_embedder() -> None:
    found = identity()
    embedding = with_(identity=found)
    assert (embedding.provider, embedding.model) == (found.provider, found.model)
    assert (healthy().provider, healthy().model) == ("none", None)


def test_first_skipped_files_are_shown_and_all_are_counted() -> None:
    few = status(with_sync(skipped=(skipped("b.md", "no text"),)))
    assert [reply["path"] for reply in skipped_replies(few.all_skipped)] == ["b.md", "a.png"]
    many = status(with_sync(skipped=tuple(skipped(f"{number}.md", "no text") for number in range(SKIPPED_SHOWN))))
    assert len(skipped_replies(many.all_skipped)) == SKIPPED_SHOWN
    assert len(many.all_skipped) == SKIPPED_SHOWN + 1


def test_missing_optional_folder_is_not_listed() -> None:
    def is_listed(state: RootState, *, is_optional: bool) -> bool:
        report = RootReport(ScanRoot(Path("/notes"), is_optional=is_optional), state, 0)
        return with_sync(roots=(report,)).roots == [report]

    assert not is_listed(RootState.MISSING, is_optional=True)
    assert is_listed(RootState.MISSING, is_optional=False)
    assert is_listed(RootState.UNREADABLE, is_optional=True)
    assert is_listed(RootState.OK, is_optional=True)

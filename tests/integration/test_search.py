"""The builtin search over a real index: filters, matches, and failing arms."""

import asyncio
import time
from collections.abc import AsyncIterator, Set
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.kinds import Visibility
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.fusion import LexicalMatches
from memoryd.domain.ranking.questions import Question
from memoryd.domain.skips import SkipReason
from memoryd.embed.calibration import UnrelatedTexts
from memoryd.embed.current import ModelPhase
from memoryd.embed.protocol import Embedder
from memoryd.errors import StoreUnavailable
from memoryd.files.excerpts import FileChecker
from memoryd.files.roots import workspace_roots
from memoryd.files.scanner import ScanRules
from memoryd.search.file_check import MAX_REFILLS, FileCheck, NotesSearch
from memoryd.search.protocol import ArmState, DiskFollower, Exclusions, Freshness, Query
from memoryd.store.index.database import IndexReader
from memoryd.store.index.words import CandidateFilter
from tests.fakes import FakeEmbedder
from tests.integration.indexing import Stage, staged
from tests.waiting import eventually_async

LEXICAL, VECTOR = "lexical", "vector"


@pytest.fixture
async def stage(tmp_path: Path, workspace: Path) -> AsyncIterator[Stage]:
    async with staged(workspace, tmp_path / "state") as running:
        for number in range(30):
            running.write(f"bank/{number:02}.md", f"# Number {number}\n\nA boiler boiler boiler of kind{number}.\n")
        running.write("memory/2026-12-24.md", "# Eve\n\nOf many things one was a boiler, said in passing that day.\n")
        await running.embed()
        yield running


async def test_both_arms_take_part(stage: Stage) -> None:
    found = await stage.ask("boiler of kind7")
    assert {name: arm.state for name, arm in found.arms.items()} == {LEXICAL: ArmState.OK, VECTOR: ArmState.OK}
    assert found.hits[0].chunk.path == "bank/07.md"
    assert found.hits[0].cosine is not None


async def test_filter_applies_before_the_limit(stage: Stage) -> None:
    """Thirty notes match better; both arms still find the one that the filter admits."""
    filters = Filters(paths=("memory/2026-12-*",))
    found = await stage.ask("boiler", filters=filters, limit=1)
    assert [hit.chunk.path for hit in found.hits] == ["memory/2026-12-24.md"]
    assert found.hits[0].cosine is not None
    assert found.hits[0].is_literal


async def test_filter_applies_to_hits_and_misses(stage: Stage) -> None:
    day = datetime(2026, 12, 24, tzinfo=UTC)
    for filters in (Filters(paths=("bank/0*",)), Filters(since=day, paths=("memory",)), Filters(sources=("sessions",))):
        found = await stage.ask("boiler", filters=filters)
        assert all(filters.admits(hit.chunk.path, hit.chunk.source, 0) for hit in (*found.hits, *found.misses))


async def test_late_vectors_affect_only_their_arm(stage: Stage) -> None:
    stage.embedder.goes_on.clear()
    found = await stage.search.search(Query("boiler of kind7", deadline=0.3))
    stage.embedder.goes_on.set()
    assert found.arms[VECTOR].state is ArmState.TIMEOUT
    assert found.arms[VECTOR].reason
    assert found.hits[0].chunk.path == "bank/07.md"


@pytest.mark.parametrize("read", ["statistics", "rows"])
@pytest.mark.parametrize("is_late", [True, False])
async def test_word_matches_survive_late_or_failing_reads(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, read: str, is_late: bool
) -> None:
    def broken(*_given: object, **_named: object) -> None:
        if not is_late:
            raise StoreUnavailable("the disk does not answer")
        time.sleep(0.6)

    await stage.slot.set(ModelPhase.OFF, "there is no provider")
    monkeypatch.setattr(IndexReader, read, broken)
    found = await stage.search.search(Query("boiler of kind7", deadline=0.5))
    assert found.hits[0].chunk.path == "bank/07.md"
    assert found.arms[LEXICAL].state is ArmState.OK
    assert (found.floors is None) == (read == "statistics"), "finished work is used"


async def test_first_matches_survive_a_late_deeper_search(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies fill the first candidates, so more are requested."""
    for number in range(120):
        stage.write(f"memory/copies/{number}.md", "# Crane\n\nThe crane rests on the roof.\n")
    await stage.sync()
    await stage.slot.set(ModelPhase.OFF, "there is no provider")
    best, depths = IndexReader.best_matches, list[int]()

    def late(reader: IndexReader, question: Question, depth: int, admitted: CandidateFilter) -> LexicalMatches:
        depths.append(depth)
        if len(depths) > 1:
            time.sleep(0.9)
        return best(reader, question, depth, admitted)

    monkeypatch.setattr(IndexReader, "best_matches", late)
    found = await stage.search.search(Query("crane", deadline=0.8))
    assert len(depths) == 2, "more were requested once, and not again when that was late"
    assert found.hits[0].chunk.path.startswith("memory/copies/")
    assert found.floors is not None
    assert found.arms[LEXICAL].state is ArmState.OK


@pytest.mark.parametrize(
    "reduced", ["memory/old/{}.md", "memory/2026-12-{:02} (conflicted copy).md"], ids=["deprecated", "copies"]
)
async def test_note_behind_many_downranked_ones_comes_first(stage: Stage, reduced: str) -> None:
    """More downranked notes match better than are read at first; one note counts in full."""
    await stage.slot.set(ModelPhase.OFF, "there is no provider")
    status = "---\nstatus: deprecated\n---\n" if "old" in reduced else ""
    for number in range(60):
        stage.write(
            reduced.format(number), f"{status}# Weir\n\nThe weir gate of lock{number}: weir, gate, weir gate.\n"
        )
    current = "memory/2026-12-01.md"
    stage.write(current, "# Day\n\nOf several things that were done today one was to paint the weir and its gate.\n")
    await stage.sync()
    found = await stage.ask("weir gate", limit=6)
    assert found.hits[0].chunk.path == current
    assert len(found.hits) == 6


async def test_failing_vectors_affect_only_their_arm(stage: Stage) -> None:
    stage.embedder.is_down = True
    found = await stage.ask("boiler of kind7")
    assert found.arms[VECTOR].state is ArmState.FAILED
    assert "the fake is down" in found.arms[VECTOR].reason
    assert found.hits[0].chunk.path == "bank/07.md"


class MeasuredLate(UnrelatedTexts):
    """Is not measured by the embedding loop."""

    async def measure(self, _embedder: Embedder) -> None:
        """Do nothing yet."""


async def test_vector_arm_is_partial_until_noise_is_measured(stage: Stage, tmp_path: Path) -> None:
    stage.slot.strangers = strangers = MeasuredLate(tmp_path / "strangers")
    for _ in range(2):
        arm = (await stage.search.search(Query("gateway"))).arms["vector"]
        assert arm.state is ArmState.PARTIAL
        assert "not measured yet" in arm.reason
    await UnrelatedTexts.measure(strangers, stage.embedder)
    assert (await stage.search.search(Query("gateway"))).arms["vector"].state is ArmState.OK


async def test_unmeasurable_noise_does_not_make_the_arm_partial(stage: Stage, tmp_path: Path) -> None:
    stage.slot.strangers = strangers = UnrelatedTexts(tmp_path / "strangers")
    stage.embedder.unfit = frozenset({"plum"})
    await strangers.measure(stage.embedder)
    assert (await stage.search.search(Query("gateway"))).arms["vector"].state is ArmState.OK


@pytest.mark.parametrize("phase", [ModelPhase.OFF, ModelPhase.FAILED, ModelPhase.DOWNLOADING])
async def test_missing_embedder_is_named_with_its_reason(stage: Stage, phase: ModelPhase) -> None:
    await stage.slot.set(phase, "because of the test")
    found = await stage.ask("boiler")
    assert found.arms[VECTOR].reason == "because of the test"
    assert not found.arms[VECTOR].took_part
    assert found.hits


async def test_question_without_words_disables_the_lexical_arm(stage: Stage) -> None:
    for question in ("🦞", "?!", "..."):
        found = await stage.ask(question)
        assert found.arms[LEXICAL].reason


async def test_concurrent_questions_are_all_answered(stage: Stage) -> None:
    answers = await asyncio.gather(*(stage.ask(f"boiler of kind{number}") for number in range(30)))
    for number, found in enumerate(answers):
        assert f"bank/{number:02}.md" in {hit.chunk.path for hit in found.hits}


@pytest.mark.torture
async def test_search_while_indexing_only_cites_what_was_written(stage: Stage) -> None:
    async def edit() -> None:
        for turn in range(25):
            stage.write("memory/turning.md", f"# Turn\n\nThe boiler is in state{turn}.\n" + "And more words. " * turn)
            await stage.sync()

    editing = asyncio.create_task(edit())
    while not editing.done():
        for hit in (await stage.ask("boiler state")).hits:
            if hit.chunk.path == "memory/turning.md":
                assert hit.chunk.text.startswith("# Turn") or "And more words." in hit.chunk.text
    await editing
    assert await stage.found("state24") == ["memory/turning.md"]


async def test_changed_model_is_never_compared_with_old_vectors(stage: Stage) -> None:
    second = FakeEmbedder(name="another", unfit=frozenset({"boiler"}))
    await stage.slot.set(ModelPhase.READY, embedder=second)
    found = await stage.ask("boiler of kind7")
    assert found.hits[0].chunk.path == "bank/07.md"
    assert all(hit.cosine is None for hit in found.hits), "vectors of the old model are not used by the new one"
    await stage.embed()
    assert all(hit.cosine is None for hit in (await stage.ask("boiler of kind7")).hits)


async def test_question_is_compared_with_vectors_of_its_model(stage: Stage) -> None:
    """While it waits for its vector another model takes over, which has no vector of a boiler."""
    before = {hit.chunk.path: hit.cosine for hit in (await stage.ask("boiler of kind7")).hits}
    stage.embedder.goes_on.clear()
    waiting = asyncio.create_task(stage.ask("boiler of kind7"))
    await eventually_async(lambda: stage.embedder.waiting)
    await stage.slot.set(ModelPhase.READY, embedder=FakeEmbedder(name="another", unfit=frozenset({"boiler"})))
    await stage.embed()
    assert all(hit.cosine is None for hit in (await stage.ask("boiler of kind7")).hits)
    stage.embedder.goes_on.set()
    found = await waiting
    assert found.arms[VECTOR].state is ArmState.OK
    assert {hit.chunk.path: hit.cosine for hit in found.hits} == before


async def test_question_during_reopening_is_answered_by_words(stage: Stage) -> None:
    stage.embedder.goes_on.clear()
    waiting = asyncio.create_task(stage.ask("boiler of kind7"))
    await eventually_async(lambda: stage.embedder.waiting)
    async with stage.database.reopening():
        await stage.database.open()
    stage.embedder.goes_on.set()
    found = await waiting
    assert found.arms[VECTOR].state is ArmState.FAILED
    assert "opened anew" in found.arms[VECTOR].reason
    assert found.hits[0].chunk.path == "bank/07.md"
    assert all(hit.cosine is None for hit in found.hits)
    assert (await stage.ask("boiler of kind7")).hits[0].cosine is not None


async def test_deleted_note_is_in_no_answer(stage: Stage) -> None:
    (stage.workspace / "bank" / "07.md").unlink()
    await stage.embed()
    found = await stage.ask("boiler of kind7", limit=50)
    assert "bank/07.md" not in {hit.chunk.path for hit in (*found.hits, *found.misses)}


@pytest.mark.parametrize("by", ["path", "chunk", "withdrawal"])
async def test_excluded_notes_are_no_evidence(stage: Stage, by: str) -> None:
    """Otherwise they would affect the scores of others and reveal that they match."""
    stage.write("memory/secret.md", "The quetzal nests in Oaxaca.\n")
    await stage.embed()
    question = Query("quetzal nests in Oaxaca")
    before = await stage.search.search(question)
    assert before.floors is not None
    assert (before.hits[0].chunk.path, before.floors.share) == ("memory/secret.md", 1.0)
    if by == "withdrawal":
        stage.indexer.withdrawn.add([before.hits[0].chunk.path])
    else:
        chunk = before.hits[0].chunk
        exclusions = Exclusions(frozenset({chunk.path})) if by == "path" else Exclusions(chunks=frozenset({chunk.id}))
        question = replace(question, exclusions=exclusions)
    after = await stage.search.search(question)
    assert after.hits
    assert after.floors is not None
    assert after.floors.share == 0.0
    assert after.floors.deviations == max(
        after.floors.noise.deviations(hit.cosine) for hit in after.hits if hit.cosine is not None
    )
    assert [hit.ranks.merged for hit in after.hits] == list(range(1, len(after.hits) + 1))


async def test_deleted_notes_are_no_evidence_after_all_refills(stage: Stage) -> None:
    """More notes are gone than an answer is refilled for."""
    gone = [stage.write(f"memory/q{number}.md", f"The quetzal nests, {number}.\n") for number in range(MAX_REFILLS + 3)]
    await stage.embed()
    for path in gone:
        path.unlink()
    rules = ScanRules(stage.workspace, is_ignored=lambda _path: False)
    files = FileChecker(rules=lambda: rules, roots=lambda: workspace_roots(stage.workspace, ()))

    async def never(_paths: Set[RelativePath], _seconds: float) -> bool:
        return False

    async def nothing(_seconds: float) -> int:
        return 0

    async def none_hidden(_visibility: Visibility) -> frozenset[int]:
        return frozenset()

    disk = DiskFollower(
        freshness=Freshness, on_search=lambda: None, catch_up=nothing, rescan=never, missing=frozenset, seconds=0
    )
    with ThreadPoolExecutor(1) as executor:
        check = FileCheck(files=files, executor=executor, chunker="any")
        search = NotesSearch(inner=stage.search, check=check, disk=disk, hidden=none_hidden)
        found = await search.search(Query("quetzal nests", limit=1, deadline=30))
    assert (found.hits, set(found.stale.values())) == ((), {SkipReason.GONE})
    assert found.floors is not None
    assert (found.floors.share, found.floors.deviations) == (0.0, None)


async def test_closed_index_makes_both_arms_fail(stage: Stage) -> None:
    await stage.database.close()
    found = await stage.ask("boiler")
    assert not found.hits
    assert {arm.state for arm in found.arms.values()} == {ArmState.FAILED}
    assert all(arm.reason for arm in found.arms.values())


async def test_whole_identifier_outranks_prefix_matches(stage: Stage) -> None:
    found = await stage.ask("kind2")
    assert found.hits[0].chunk.path == "bank/02.md"
    assert found.hits[0].score > found.hits[1].score
    assert any(hit.chunk.path.startswith("bank/2") for hit in found.hits)

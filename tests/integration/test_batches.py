"""Many files are read in batches: recent saves and questions do not wait for all of them."""

import os
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.index import batches, committing
from memoryd.index.file_events import InotifyEvents
from memoryd.index.reading import Reading, ScanCycle, read_under_the_rules
from memoryd.index.watcher import FileWatcher
from memoryd.wire import Event
from tests.integration.indexing import QUICK, Stage, rebuilt, staged
from tests.waiting import eventually_async

MANY = 40
FEW = 12
"""Something newer is read after at most so many files, between two batches."""
PATIENT = replace(QUICK, debounce=60, max_hold=60, grace=replace(QUICK.grace, file=60))
"""Nothing is scanned without a question."""


class Gate:
    """Lets one of the many files be read per permit."""

    def __init__(self) -> None:
        self.permits = threading.Semaphore(0)
        self.let_through = 0
        self.is_reached = False
        """Whether a round reads the many files, so that later saves are in none of its snapshots."""

    def read(self, work: ScanCycle, batch: Sequence[RelativePath]) -> list[Reading]:
        if any("bulk" in path for path in batch):
            self.is_reached = True
            assert self.permits.acquire(timeout=60)
            self.let_through += 1
        return read_under_the_rules(work, batch)

    def open(self) -> None:
        self.permits.release(100 * MANY)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Read each file as a batch of its own, and let no question wait for more than a small one."""
    gate = Gate()
    monkeypatch.setattr("memoryd.index.reading.READ_AHEAD_FILES", 1)
    monkeypatch.setattr("memoryd.index.reading.QUERY_BYTES", 200)
    monkeypatch.setattr(batches, "read_under_the_rules", gate.read)
    return gate


class ManyNotes:
    """A stage with many notes, each of which needs a permit to be read."""

    def __init__(self, stage: Stage, watcher: FileWatcher, gate: Gate) -> None:
        self.stage = stage
        self.watcher = watcher
        self.gate = gate

    @property
    def is_watched(self) -> bool:
        return self.watcher.report_events("stage")

    def write_many(self) -> None:
        for number in range(MANY):
            self.stage.write(f"memory/bulk-{number}.md", f"# The stork\n\nIt is number{number}. {'So it is. ' * 30}\n")

    async def asked_until(self, word: str, path: str) -> int:
        """Ask for a word until the note is found, with a permit per question; return the number of pending files."""
        for _ in range(FEW):
            self.gate.permits.release()
            pending = await self.stage.indexer.catch_up(0.5, is_watched=self.is_watched)
            if await self.stage.found(word) == [path]:
                return pending
        raise AssertionError(f"{word} is not found, and {self.gate.let_through} others are read")


@pytest.fixture
async def many(tmp_path: Path, workspace: Path, gate: Gate) -> AsyncIterator[ManyNotes]:
    watcher = FileWatcher(probe=tmp_path / "probe", source=InotifyEvents(step_seconds=60))
    async with staged(workspace, tmp_path / "state", settings=PATIENT, watcher=watcher) as stage:
        await stage.sync()
        found = ManyNotes(stage, watcher, gate)
        await eventually_async(lambda: found.is_watched)
        yield found
        gate.open()


async def test_note_saved_while_many_wait_is_found_first(many: ManyNotes, tmp_path: Path) -> None:
    stage = many.stage
    many.write_many()
    stage.indexer.triggers.demand()
    for number in range(2):
        path = stage.write(f"memory/new-{number}.md", f"The quetzal{number}.\n")
        assert await many.asked_until(f"quetzal{number}", f"memory/new-{number}.md") > MANY / 4
        # also an indexed note, and a waiting one
        path.write_text(f"The ibex{number}.\n")
        stage.write(f"memory/bulk-{MANY - 1}.md", f"The yak{number}.\n")
        assert await many.asked_until(f"ibex{number}", f"memory/new-{number}.md") > MANY / 4
        assert await many.asked_until(f"yak{number}", f"memory/bulk-{MANY - 1}.md") > MANY / 4
    assert not stage.indexer.is_up_to_date
    many.gate.open()
    await stage.sync()
    assert stage.indexer.is_up_to_date
    assert await stage.dump() == await rebuilt(stage.workspace, tmp_path / "fresh")


async def test_written_note_is_indexed_while_many_wait(many: ManyNotes) -> None:
    stage, path = many.stage, RelativePath("memory/new.md")
    many.write_many()
    stage.indexer.triggers.demand()
    await eventually_async(lambda: stage.indexer.state.pending_files >= MANY)
    stage.write(path, "The quetzal.\n")
    many.gate.permits.release(FEW)
    assert await stage.indexer.wait_until_indexed({path}, 60, is_watched=many.is_watched)
    assert await stage.found("quetzal") == [path]
    assert stage.indexer.has_rest
    waiting = RelativePath(f"memory/bulk-{MANY - 1}.md")
    assert not await stage.indexer.wait_until_indexed({path, waiting}, 0.01, is_watched=True)


async def test_saved_note_is_read_first_without_a_question(tmp_path: Path, workspace: Path, gate: Gate) -> None:
    watcher = FileWatcher(probe=tmp_path / "probe", source=InotifyEvents(step_seconds=60))
    async with staged(workspace, tmp_path / "state", watcher=watcher) as stage:
        await stage.sync()
        many = ManyNotes(stage, watcher, gate)
        many.write_many()
        stage.indexer.triggers.demand()
        await eventually_async(lambda: many.is_watched and gate.is_reached)
        stage.write("memory/new.md", "The quetzal.\n")
        triggers = stage.indexer.triggers
        await eventually_async(
            lambda: "memory/new.md" in triggers.unseen.changes.names and triggers.is_due(triggers.ticket)
        )
        gate.permits.release(FEW)
        await eventually_async(lambda: "memory/new.md" in stage.files)
        assert len(stage.files) < MANY
        gate.open()
        await stage.sync()


async def test_note_hidden_while_waiting_is_never_indexed(many: ManyNotes) -> None:
    stage = many.stage
    many.write_many()
    stage.indexer.triggers.demand()
    await eventually_async(lambda: stage.indexer.state.pending_files >= MANY)
    stage.write("memory/bulk-7.md", "---\nmemory: false\n---\nThe quetzal.\n")
    (stage.workspace / "memory/bulk-8.md").unlink()
    stage.write("memory/new.md", "The ibex.\n")
    await many.asked_until("ibex", "memory/new.md")
    many.gate.open()
    await stage.sync()
    assert stage.files & {f"memory/bulk-{number}.md" for number in range(6, 10)} == {
        "memory/bulk-6.md",
        "memory/bulk-9.md",
    }
    assert await stage.found("quetzal") == []


async def test_forced_sync_completes_despite_questions(many: ManyNotes) -> None:
    stage = many.stage
    many.write_many()
    many.gate.permits.release(MANY)
    await stage.sync()
    await stage.database.write(lambda db: db.execute("UPDATE chunks SET heading = 'wrong'"))
    stage.indexer.triggers.demand(is_forced=True)
    for number in range(3):
        stage.write("memory/new.md", f"The quetzal{number}.\n")
        await many.asked_until(f"quetzal{number}", "memory/new.md")
    assert stage.indexer.has_rest
    many.gate.open()
    await stage.sync()
    wrong = "SELECT count(*) FROM chunks WHERE heading = 'wrong'"
    assert await stage.database.read(lambda db: db.execute(wrong).get) == 0


async def test_endless_questions_do_not_starve_waiting_files(many: ManyNotes) -> None:
    stage = many.stage
    many.write_many()
    many.gate.open()
    demanded = stage.indexer.triggers.demand()
    number = 0
    while not stage.indexer.is_up_to_date or stage.indexer.state.pending_files:
        stage.write("memory/new.md", f"The quetzal{number}.\n")
        await stage.indexer.catch_up(20, is_watched=many.is_watched)
        number += 1
        assert number < 50 * MANY
        if len(stage.files) > MANY + 3:
            break
    await stage.indexer.triggers.served(demanded)
    assert len([path for path in stage.files if "bulk" in path]) == MANY


async def test_forced_sync_during_a_round_covers_waiting_files(many: ManyNotes) -> None:
    stage = many.stage
    many.write_many()
    many.gate.permits.release(MANY)
    await stage.sync()
    await stage.database.write(lambda db: db.execute("UPDATE chunks SET heading = 'wrong'"))
    for number in range(MANY):
        os.utime(stage.workspace / f"memory/bulk-{number}.md")
    stage.indexer.triggers.demand()
    stage.write("memory/new.md", "The quetzal.\n")
    await many.asked_until("quetzal", "memory/new.md")
    assert stage.indexer.has_rest
    stage.indexer.triggers.demand(is_forced=True)
    many.gate.open()
    await stage.sync()
    wrong = "SELECT count(*) FROM chunks WHERE heading = 'wrong'"
    assert await stage.database.read(lambda db: db.execute(wrong).get) == 0


async def test_finish_is_published_after_an_empty_last_round(many: ManyNotes) -> None:
    stage = many.stage
    many.write_many()
    stage.indexer.triggers.demand()
    stage.write("memory/new.md", "The quetzal.\n")
    await many.asked_until("quetzal", "memory/new.md")
    stage.indexer.triggers.ask(is_watched=True)
    many.gate.permits.release()
    await eventually_async(lambda: not stage.indexer.triggers.next.is_asked)
    stage.events.clear()
    many.gate.open()
    await eventually_async(lambda: not stage.indexer.state.pending_files)
    events = [data for event, data in stage.events if event is Event.SYNC]
    assert events[-1] == {"state": "finished", "pendingFiles": 0}, events


async def test_remains_of_many_private_notes_are_erased_together(
    many: ManyNotes, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, rewritings = many.stage, 0
    drop_remains = stage.database.documents.drop_remains

    async def counted() -> None:
        nonlocal rewritings
        rewritings += 1
        await drop_remains()

    monkeypatch.setattr(committing, "PUT_OFF_SECONDS", 0)
    monkeypatch.setattr(committing, "REWRITING_SHARE", 1e9)
    monkeypatch.setattr(stage.database.documents, "drop_remains", counted)
    for number in range(MANY):
        stage.write(f"memory/bulk-{number}.md", f"---\nmemory: false\n---\nIt is number{number}. {'So it is. ' * 30}\n")
    stage.indexer.triggers.demand()
    for number in range(4):
        stage.write("memory/new.md", f"The quetzal{number}.\n")
        await many.asked_until(f"quetzal{number}", "memory/new.md")
    assert stage.indexer.has_rest
    assert rewritings <= 1
    many.gate.open()
    await stage.sync()
    assert 1 <= rewritings <= 3
    assert not any("bulk" in path for path in stage.files)

"""Many files are read in batches: what is saved or asked for meanwhile does not wait until all of them are read."""

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
"""After so many at most something newer is read: it makes its way between two batches."""
PATIENT = replace(QUICK, debounce=60, max_hold=60, grace=replace(QUICK.grace, file=60))
"""Nothing is looked at without a question."""


class Gate:
    """Lets one file of the many be read for each permit."""

    def __init__(self) -> None:
        self.permits = threading.Semaphore(0)
        self.let_through = 0
        self.is_reached = False
        """Whether a round is at work on the many, so that what is saved from here on is in none of its looks."""

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
    """Have each file be a batch, and no question wait for more than a small one."""
    gate = Gate()
    monkeypatch.setattr("memoryd.index.reading.READ_AHEAD_FILES", 1)
    monkeypatch.setattr("memoryd.index.reading.QUERY_BYTES", 200)
    monkeypatch.setattr(batches, "read_under_the_rules", gate.read)
    return gate


class Crowd:
    """A stage with many notes, none of which is read without a permit."""

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
        """Ask for a word until the note is found, with a permit for each question; return what is pending then."""
        for _ in range(FEW):
            self.gate.permits.release()
            pending = await self.stage.indexer.catch_up(0.5, is_watched=self.is_watched)
            if await self.stage.found(word) == [path]:
                return pending
        raise AssertionError(f"{word} is not found, and {self.gate.let_through} others are read")


@pytest.fixture
async def crowd(tmp_path: Path, workspace: Path, gate: Gate) -> AsyncIterator[Crowd]:
    watcher = FileWatcher(probe=tmp_path / "probe", source=InotifyEvents(step_seconds=60))
    async with staged(workspace, tmp_path / "state", settings=PATIENT, watcher=watcher) as stage:
        await stage.sync()
        found = Crowd(stage, watcher, gate)
        await eventually_async(lambda: found.is_watched)
        yield found
        gate.open()


async def test_note_that_is_saved_while_many_wait_is_found_before_them(crowd: Crowd, tmp_path: Path) -> None:
    stage = crowd.stage
    crowd.write_many()
    stage.indexer.triggers.demand()
    for number in range(2):
        path = stage.write(f"memory/new-{number}.md", f"The quetzal{number}.\n")
        assert await crowd.asked_until(f"quetzal{number}", f"memory/new-{number}.md") > MANY / 4
        # also one that was found, and one that waits
        path.write_text(f"The ibex{number}.\n")
        stage.write(f"memory/bulk-{MANY - 1}.md", f"The yak{number}.\n")
        assert await crowd.asked_until(f"ibex{number}", f"memory/new-{number}.md") > MANY / 4
        assert await crowd.asked_until(f"yak{number}", f"memory/bulk-{MANY - 1}.md") > MANY / 4
    assert not stage.indexer.is_up_to_date
    crowd.gate.open()
    await stage.sync()
    assert stage.indexer.is_up_to_date
    assert await stage.dump() == await rebuilt(stage.workspace, tmp_path / "fresh")


async def test_note_that_was_written_here_is_held_though_many_wait(crowd: Crowd) -> None:
    stage, path = crowd.stage, RelativePath("memory/new.md")
    crowd.write_many()
    stage.indexer.triggers.demand()
    await eventually_async(lambda: stage.indexer.state.pending_files >= MANY)
    stage.write(path, "The quetzal.\n")
    crowd.gate.permits.release(FEW)
    assert await stage.indexer.wait_until_indexed({path}, 60, is_watched=crowd.is_watched)
    assert await stage.found("quetzal") == [path]
    assert stage.indexer.has_rest
    waiting = RelativePath(f"memory/bulk-{MANY - 1}.md")
    assert not await stage.indexer.wait_until_indexed({path, waiting}, 0.01, is_watched=True)


async def test_note_that_nobody_asks_for_is_read_before_many_that_wait(
    tmp_path: Path, workspace: Path, gate: Gate
) -> None:
    watcher = FileWatcher(probe=tmp_path / "probe", source=InotifyEvents(step_seconds=60))
    async with staged(workspace, tmp_path / "state", watcher=watcher) as stage:
        await stage.sync()
        crowd = Crowd(stage, watcher, gate)
        crowd.write_many()
        stage.indexer.triggers.demand()
        await eventually_async(lambda: crowd.is_watched and gate.is_reached)
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


async def test_note_that_becomes_private_while_it_waits_is_never_indexed(crowd: Crowd) -> None:
    stage = crowd.stage
    crowd.write_many()
    stage.indexer.triggers.demand()
    await eventually_async(lambda: stage.indexer.state.pending_files >= MANY)
    stage.write("memory/bulk-7.md", "---\nmemory: false\n---\nThe quetzal.\n")
    (stage.workspace / "memory/bulk-8.md").unlink()
    stage.write("memory/new.md", "The ibex.\n")
    await crowd.asked_until("ibex", "memory/new.md")
    crowd.gate.open()
    await stage.sync()
    assert stage.files & {f"memory/bulk-{number}.md" for number in range(6, 10)} == {
        "memory/bulk-6.md",
        "memory/bulk-9.md",
    }
    assert await stage.found("quetzal") == []


async def test_files_that_are_read_anew_by_demand_are_so_though_questions_come_between(crowd: Crowd) -> None:
    stage = crowd.stage
    crowd.write_many()
    crowd.gate.permits.release(MANY)
    await stage.sync()
    await stage.database.write(lambda db: db.execute("UPDATE chunks SET heading = 'wrong'"))
    stage.indexer.triggers.demand(is_forced=True)
    for number in range(3):
        stage.write("memory/new.md", f"The quetzal{number}.\n")
        await crowd.asked_until(f"quetzal{number}", "memory/new.md")
    assert stage.indexer.has_rest
    crowd.gate.open()
    await stage.sync()
    wrong = "SELECT count(*) FROM chunks WHERE heading = 'wrong'"
    assert await stage.database.read(lambda db: db.execute(wrong).get) == 0


async def test_questions_that_never_cease_do_not_keep_the_others_out(crowd: Crowd) -> None:
    stage = crowd.stage
    crowd.write_many()
    crowd.gate.open()
    demanded = stage.indexer.triggers.demand()
    number = 0
    while not stage.indexer.is_up_to_date or stage.indexer.state.pending_files:
        stage.write("memory/new.md", f"The quetzal{number}.\n")
        await stage.indexer.catch_up(20, is_watched=crowd.is_watched)
        number += 1
        assert number < 50 * MANY
        if len(stage.files) > MANY + 3:
            break
    await stage.indexer.triggers.served(demanded)
    assert len([path for path in stage.files if "bulk" in path]) == MANY


async def test_files_that_wait_are_cut_anew_if_that_is_demanded_meanwhile(crowd: Crowd) -> None:
    stage = crowd.stage
    crowd.write_many()
    crowd.gate.permits.release(MANY)
    await stage.sync()
    await stage.database.write(lambda db: db.execute("UPDATE chunks SET heading = 'wrong'"))
    for number in range(MANY):
        os.utime(stage.workspace / f"memory/bulk-{number}.md")
    stage.indexer.triggers.demand()
    stage.write("memory/new.md", "The quetzal.\n")
    await crowd.asked_until("quetzal", "memory/new.md")
    assert stage.indexer.has_rest
    stage.indexer.triggers.demand(is_forced=True)
    crowd.gate.open()
    await stage.sync()
    wrong = "SELECT count(*) FROM chunks WHERE heading = 'wrong'"
    assert await stage.database.read(lambda db: db.execute(wrong).get) == 0


async def test_end_is_told_though_the_last_round_had_nothing_new(crowd: Crowd) -> None:
    stage = crowd.stage
    crowd.write_many()
    stage.indexer.triggers.demand()
    stage.write("memory/new.md", "The quetzal.\n")
    await crowd.asked_until("quetzal", "memory/new.md")
    stage.indexer.triggers.ask(is_watched=True)
    crowd.gate.permits.release()
    await eventually_async(lambda: not stage.indexer.triggers.next.is_asked)
    stage.events.clear()
    crowd.gate.open()
    await eventually_async(lambda: not stage.indexer.state.pending_files)
    told = [data for event, data in stage.events if event is Event.SYNC]
    assert told[-1] == {"state": "finished", "pendingFiles": 0}, told


async def test_index_is_not_rewritten_for_each_private_note_while_others_wait(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, rewritings = crowd.stage, 0
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
        await crowd.asked_until(f"quetzal{number}", "memory/new.md")
    assert stage.indexer.has_rest
    assert rewritings <= 1
    crowd.gate.open()
    await stage.sync()
    assert 1 <= rewritings <= 3
    assert not any("bulk" in path for path in stage.files)


async def test_note_behind_a_link_that_no_event_tells_of_is_looked_at(tmp_path: Path, workspace: Path) -> None:
    watcher = FileWatcher(probe=tmp_path / "probe", source=InotifyEvents(step_seconds=60))
    beyond, path = workspace / ".beyond" / "note.md", RelativePath("memory/linked.md")
    beyond.parent.mkdir()
    beyond.write_text("The ibex.\n")
    (workspace / path).parent.mkdir(parents=True, exist_ok=True)
    (workspace / path).symlink_to(beyond)
    async with staged(workspace, tmp_path / "state", settings=PATIENT, watcher=watcher, follow_symlinks=True) as stage:
        await stage.sync()
        await eventually_async(lambda: watcher.report_events("stage"))
        await stage.sync()
        beyond.write_text("The quetzal came.\n")
        assert await stage.indexer.wait_until_indexed({path}, 60, is_watched=True)
        assert await stage.found("quetzal") == [path]

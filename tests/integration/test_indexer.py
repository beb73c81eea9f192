"""The indexer over real files: whatever happens to them, the index equals a rebuild in the end."""

import asyncio
import os
import random
import shutil
import time
from collections.abc import AsyncIterator, Sequence, Set
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.entries import ChunkEntry, ChunkSettings, each_entry
from memoryd.domain.syncplan import RACY_WINDOW_NS, IndexedFile, WaitTimes
from memoryd.files.reading import file_stat
from memoryd.index.state import Planned
from memoryd.index.triggers import DiskSnapshot
from memoryd.wire import Event
from tests.fakes import blow_up
from tests.integration.indexing import QUICK, Stage, rebuilt, staged
from tests.waiting import eventually_async

LONG_AGO = 1_700_000_000


@pytest.fixture
async def stage(tmp_path: Path, workspace: Path) -> AsyncIterator[Stage]:
    async with staged(workspace, tmp_path / "state") as running:
        await running.sync()
        yield running


def age(path: Path) -> Path:
    """Make a note look old, so that it is not read again without need."""
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


async def test_notes_are_indexed_and_equal_a_rebuild(stage: Stage, tmp_path: Path) -> None:
    assert stage.files == {"MEMORY.md", "memory/2026-10-06.md", "memory/2026-10-18.md"}
    assert await stage.dump() == await rebuilt(stage.workspace, tmp_path / "fresh")


async def test_sync_makes_every_earlier_save_findable(stage: Stage) -> None:
    for number in range(10):
        stage.write(f"memory/deep/er/note-{number}.md", f"The quetzal number{number} sings.\n")
        await stage.sync()
        assert await stage.found(f"number{number}") == [f"memory/deep/er/note-{number}.md"]


async def test_deleted_note_leaves_index(stage: Stage) -> None:
    (stage.workspace / "memory/2026-10-06.md").unlink()
    await stage.sync()
    assert "memory/2026-10-06.md" not in stage.files
    assert await stage.found("GW-4172") == []
    await stage.dump()


async def test_note_replaced_by_rename_is_never_missing(stage: Stage) -> None:
    for number in range(20):
        draft = stage.write("memory/.draft", f"# Tuesday\n\nError GW-4172, revision{number}.\n")
        draft.rename(stage.workspace / "memory/2026-10-06.md")
        await stage.sync()
        assert await stage.found("GW-4172") == ["memory/2026-10-06.md"]
        assert await stage.found(f"revision{number}") == ["memory/2026-10-06.md"]


async def test_save_by_moving_the_old_note_away(stage: Stage) -> None:
    note = stage.workspace / "memory/2026-10-06.md"
    note.rename(note.with_name("2026-10-06.md~"))
    stage.indexer.triggers.demand()
    note.write_text("# Tuesday\n\nError GW-4172 is solved.\n")
    note.with_name("2026-10-06.md~").unlink()
    await stage.sync()
    assert await stage.found("solved") == ["memory/2026-10-06.md"]
    assert stage.files == {"MEMORY.md", "memory/2026-10-06.md", "memory/2026-10-18.md"}


async def test_truncated_note_waits_for_its_text(tmp_path: Path, workspace: Path) -> None:
    patient = replace(QUICK, grace=WaitTimes(file=30, root=30))
    async with staged(workspace, tmp_path / "state", settings=patient) as stage:
        await stage.sync()
        note = stage.workspace / "memory/2026-10-06.md"
        note.write_bytes(b"")
        with pytest.raises(TimeoutError):
            await stage.sync(seconds=0.3)
        assert await stage.found("GW-4172") == ["memory/2026-10-06.md"]
        assert stage.indexer.state.is_dirty
        note.write_text("Error GW-4172 again, with a quetzal.\n")
        await stage.sync()
        assert await stage.found("quetzal") == ["memory/2026-10-06.md"]


async def test_emptied_note_is_empty_after_its_grace(stage: Stage) -> None:
    stage.write("memory/2026-10-06.md", "")
    await stage.sync()
    assert await stage.found("GW-4172") == []
    assert "memory/2026-10-06.md" in stage.files


async def test_rename_keeps_rows_and_embeds_nothing(tmp_path: Path, workspace: Path, stage: Stage) -> None:
    await stage.embed()
    known = len(stage.embedder.embedded)
    (workspace / "memory").rename(workspace / "kept")
    (workspace / "bank").mkdir()
    (workspace / "kept").rename(workspace / "bank" / "kept")
    (workspace / "memory").mkdir()
    await stage.embed()
    assert await stage.found("GW-4172") == ["bank/kept/2026-10-06.md"]
    assert len(stage.embedder.embedded) == known
    assert await stage.dump() == await rebuilt(workspace, tmp_path / "fresh")


async def test_edit_embeds_only_changed_passages(stage: Stage) -> None:
    sections = [f"## Part {number}\n\nWords about subject{number} in this part.\n\n" * 3 for number in range(12)]
    stage.write("memory/long.md", "".join(sections))
    await stage.embed()
    before = len(stage.embedder.embedded)
    stage.write("memory/long.md", "".join([*sections[:6], "## New\n\nA quetzal.\n\n", *sections[6:]]))
    await stage.embed()
    assert 1 <= len(stage.embedder.embedded) - before <= 3
    assert "quetzal" in " ".join(stage.embedder.embedded[before:])


async def test_vanished_workspace_keeps_its_index(stage: Stage) -> None:
    before = await stage.dump()
    shutil.move(stage.workspace, stage.workspace.with_name("elsewhere"))
    await stage.sync()
    assert await stage.dump() == before
    shutil.move(stage.workspace.with_name("elsewhere"), stage.workspace)
    await stage.sync()
    assert await stage.dump() == before


async def test_missing_root_keeps_its_notes(stage: Stage) -> None:
    shutil.move(stage.workspace / "memory", stage.workspace / "elsewhere")
    (stage.workspace / "MEMORY.md").write_text("The quetzal.\n")
    await stage.sync()
    assert await stage.found("GW-4172") == ["memory/2026-10-06.md"]
    assert await stage.found("quetzal") == ["MEMORY.md"]


async def test_private_note_leaves_index_until_public_again(stage: Stage, tmp_path: Path) -> None:
    await stage.embed()
    note = stage.workspace / "memory/2026-10-06.md"
    text = note.read_text()
    note.write_text("---\nmemory: false\n---\n" + text)
    await stage.sync()
    assert await stage.found("GW-4172") == []
    assert "front matter" in stage.skipped["memory/2026-10-06.md"]
    await stage.database.checkpoint()
    left = b"".join(path.read_bytes() for path in (tmp_path / "state").iterdir())
    assert b"sourdough" not in left.lower()
    note.write_text(text)
    await stage.embed()
    assert await stage.found("GW-4172") == ["memory/2026-10-06.md"]


async def test_ignore_file_takes_effect_and_can_be_removed(stage: Stage) -> None:
    stage.write("memory/drafts/plan.md", "The quetzal plan.\n")
    await stage.sync()
    assert await stage.found("quetzal") == ["memory/drafts/plan.md"]
    stage.write(".memoryignore", "drafts/\n# comment\n[bad\n")
    await stage.sync()
    assert await stage.found("quetzal") == []
    (stage.workspace / ".memoryignore").unlink()
    await stage.sync()
    assert await stage.found("quetzal") == ["memory/drafts/plan.md"]


def contents() -> list[tuple[str, bytes, bool]]:
    return [
        ("bom", b"\xef\xbb\xbf# Head\n\nThe quetzal.\n", True),
        ("utf-16", "# Head\n\nThe quetzal.\n".encode("utf-16"), True),
        ("latin-1", "Das Münchner quetzal".encode("latin-1"), True),
        ("crlf", b"# Head\r\n\r\nThe quetzal.\r\n", True),
        ("nul", b"before\0the quetzal\0after\n", True),
        ("half-a-mark", b"\xff\xfea", False),
        ("binary", bytes(range(256)) * 100, False),
        ("returns", b"\r\r\r", False),
        ("empty", b"", False),
        ("one-line", b"quetzal " * 20_000, True),
        ("hashes", b"#" * 100_000 + b" quetzal", True),
        ("nested-list", b"- " * 20_000 + b"quetzal", True),
        ("yaml-bomb", b"---\n" + b"a: &a [*a]\n" * 100 + b"---\nquetzal\n", True),
        ("yaml-depth", b"---\n" + b"{" * 10_000 + b"\n---\nquetzal\n", True),
        ("open-fence", b"```\nunclosed quetzal", True),
        ("table", b"|" * 60_000 + b"\nquetzal", True),
    ]


@pytest.mark.parametrize(("content", "is_found"), [it[1:] for it in contents()], ids=[it[0] for it in contents()])
async def test_any_content_is_indexed_and_stops_no_other_note(stage: Stage, content: bytes, is_found: bool) -> None:
    stage.write("memory/odd.md", content)
    stage.write("memory/other.md", "The ibex.\n")
    await stage.sync()
    assert "memory/odd.md" in stage.files
    assert (await stage.found("quetzal") != []) == is_found
    assert await stage.found("ibex") == ["memory/other.md"]
    await stage.dump()


async def test_note_that_triggers_a_bug_is_skipped_alone(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(data: bytes, settings: ChunkSettings, path: RelativePath) -> tuple[ChunkEntry, ...]:
        return blow_up() if b"cursed" in data else tuple(each_entry(data, settings, path))

    monkeypatch.setattr("memoryd.index.reading.each_entry", cut)
    stage.write("memory/cursed.md", "A cursed note.\n")
    stage.write("memory/other.md", "The ibex.\n")
    await stage.sync()
    assert await stage.found("ibex") == ["memory/other.md"]
    assert "ZeroDivisionError" in stage.skipped["memory/cursed.md"]
    stage.write("memory/cursed.md", "A blessed note.\n")
    await stage.sync()
    assert await stage.found("blessed") == ["memory/cursed.md"]


async def test_too_large_note_is_reported(tmp_path: Path, workspace: Path) -> None:
    (workspace / "memory" / "big.md").write_text("quetzal\n" * 1000)
    with (workspace / "memory" / "sparse.md").open("wb") as file:
        file.truncate(20 * 2**30)
    async with staged(workspace, tmp_path / "state", max_file_bytes=4096) as stage:
        await stage.sync()
        assert len(stage.files) == 3
        assert "maxFileBytes" in stage.skipped["memory/big.md"]
        assert "maxFileBytes" in stage.skipped["memory/sparse.md"]


async def test_irregular_files_are_reported(stage: Stage) -> None:
    os.mkfifo(stage.workspace / "memory" / "pipe.md")
    (stage.workspace / "memory" / "folder.md").mkdir()
    (stage.workspace / "memory" / "link.md").symlink_to(stage.workspace / "MEMORY.md")
    (stage.workspace / "memory" / "dangling.md").symlink_to("nowhere")
    (stage.workspace / "memory" / "loop").symlink_to(stage.workspace / "memory", target_is_directory=True)
    await stage.sync()
    assert stage.skipped["memory/pipe.md"] == "not a regular file"
    assert {"memory/link.md", "memory/dangling.md", "memory/loop"} <= stage.skipped.keys()
    assert len(stage.files) == 3


async def test_only_inner_links_are_followed_when_allowed(tmp_path: Path, workspace: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("The quetzal is secret.\n")
    (workspace / "notes").mkdir()
    (workspace / "notes" / "inside.md").write_text("The ibex is inside.\n")
    (workspace / "memory" / "inside").symlink_to(workspace / "notes", target_is_directory=True)
    (workspace / "memory" / "outside").symlink_to(outside, target_is_directory=True)
    (workspace / "memory" / "secret.md").symlink_to(outside / "secret.md")
    (workspace / "memory" / "loop").symlink_to(workspace, target_is_directory=True)
    async with staged(workspace, tmp_path / "state", follow_symlinks=True) as stage:
        await stage.sync()
        assert await stage.found("ibex") == ["memory/inside/inside.md"]
        assert await stage.found("quetzal") == []
        assert "leads out" in stage.skipped["memory/secret.md"]


async def test_extra_paths_are_indexed_wherever_they_are(tmp_path: Path, workspace: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "deep").mkdir(parents=True)
    (shared / "deep" / "team.md").write_text("The quetzal team.\n")
    (shared / "one.md").write_text("The ibex file.\n")
    (workspace / "notes").mkdir()
    (workspace / "notes" / "in.md").write_text("The okapi note.\n")
    extra = [str(shared / "deep"), str(shared / "o*.md"), "notes", str(tmp_path / "missing")]
    async with staged(workspace, tmp_path / "state", extra=extra) as stage:
        await stage.sync()
        assert await stage.found("quetzal") == ["../shared/deep/team.md"]
        assert await stage.found("ibex") == ["../shared/one.md"]
        assert await stage.found("okapi") == ["notes/in.md"]
        states = {str(root.root.path): root.state for root in stage.indexer.state.roots}
        assert states[str(tmp_path / "missing")] == "missing"
        (shared / "deep" / "team.md").write_text("The yak team.\n")
        await stage.sync()
        assert await stage.found("yak") == ["../shared/deep/team.md"]


async def test_forced_reindex_gives_the_same_index(stage: Stage) -> None:
    before = await stage.dump()
    await stage.sync(force=True)
    assert await stage.dump() == before


async def test_unchanged_notes_are_not_read_again(stage: Stage) -> None:
    for path in stage.workspace.rglob("*.md"):
        age(path)
    await stage.sync()
    generation = stage.indexer.state.generation
    for _ in range(3):
        await stage.sync()
    assert stage.indexer.state.generation == generation


async def test_edit_with_same_size_and_time_is_noticed(stage: Stage) -> None:
    note = stage.workspace / "memory/2026-10-06.md"
    before, text = note.stat(), note.read_text()
    note.write_text(text.replace("sourdough", "rye-flour"))
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert note.stat().st_size == before.st_size
    await stage.sync()
    assert await stage.found("rye") == ["memory/2026-10-06.md"]
    assert await stage.found("sourdough") == []


async def test_restart_embeds_only_changes(tmp_path: Path, workspace: Path) -> None:
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.embed()
        before = await stage.dump()
    (workspace / "memory" / "while-off.md").write_text("The quetzal came.\n")
    (workspace / "memory" / "2026-10-18.md").unlink()
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.embed()
        assert await stage.found("quetzal") == ["memory/while-off.md"]
        assert len(stage.embedder.embedded) == 1
        after = await stage.dump()
    assert after == await rebuilt(workspace, tmp_path / "fresh")
    assert len(after) == len(before)


async def test_storm_of_saves_ends_equal_to_the_disk(stage: Stage, tmp_path: Path) -> None:
    chance = random.Random(7)
    for turn in range(150):
        path = stage.workspace / "memory" / f"{chance.randrange(8)}.md"
        match chance.randrange(5):
            case 0:
                path.unlink(missing_ok=True)
            case 1 if path.exists():
                path.rename(path.with_name(f"{chance.randrange(8)}.md"))
            case _:
                path.write_text(f"# Turn {turn}\n\n" + "words of turn " * chance.randrange(1, 60))
        if turn % 7 == 0:
            stage.indexer.triggers.demand()
            await asyncio.sleep(0)
    await stage.sync()
    assert await stage.dump() == await rebuilt(stage.workspace, tmp_path / "fresh")


async def test_sync_events_are_published(stage: Stage) -> None:
    stage.events.clear()
    stage.write("memory/new.md", "The quetzal.\n")
    await stage.sync()
    states = [data["state"] for event, data in stage.events if event is Event.SYNC]
    assert states[:1] == ["started"]
    assert states[-1:] == ["finished"]


async def test_hint_triggers_a_scan(stage: Stage) -> None:
    stage.write("memory/new.md", "The quetzal.\n")
    stage.indexer.triggers.hint()
    await eventually_async(lambda: "memory/new.md" in stage.files)


async def test_reconciling_scan_needs_no_hint(tmp_path: Path, workspace: Path) -> None:
    async with staged(workspace, tmp_path / "state", settings=replace(QUICK, reconcile=0.1)) as stage:
        await stage.sync()
        stage.write("memory/new.md", "The quetzal.\n")
        await eventually_async(lambda: "memory/new.md" in stage.files)


async def test_network_disk_is_scanned_more_often(tmp_path: Path, workspace: Path) -> None:
    table = f"36 35 0:50 / {workspace} rw,relatime - nfs4 nas:/notes rw,vers=4.2\n"
    settings = replace(QUICK, reconcile=3600, remote_reconcile=0.1)
    async with staged(workspace, tmp_path / "state", settings=settings, mounts=lambda: table) as stage:
        await stage.sync()
        assert "nfs4" in stage.indexer.state.remote
        stage.write("memory/new.md", "The quetzal.\n")
        await eventually_async(lambda: "memory/new.md" in stage.files)


async def test_note_with_same_times_is_read_after_clock_set_back(tmp_path: Path, workspace: Path) -> None:
    note = workspace / "memory/2026-10-06.md"
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.sync()
        note.write_text("The quetzal.\n")
        info = note.stat()
        await eventually_async(lambda: time.time_ns() > info.st_ctime_ns + RACY_WINDOW_NS)
        # as if the first text had been written at the same times as the second
        await stage.database.documents.touch(
            RelativePath("memory/2026-10-06.md"), IndexedFile(file_stat(info), time.time_ns())
        )
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.sync()
        assert await stage.found("quetzal") == []
        stage.indexer.triggers.distrust_times()
        await stage.sync()
        assert await stage.found("quetzal") == ["memory/2026-10-06.md"]


async def test_vanished_folder_of_a_glob_keeps_its_notes(tmp_path: Path, workspace: Path) -> None:
    projects = tmp_path / "projects"
    for name in ("one", "two"):
        (projects / name / "notes").mkdir(parents=True)
        (projects / name / "notes" / "a.md").write_text(f"The quetzal of {name}.\n")
    async with staged(workspace, tmp_path / "state", extra=[str(projects / "*" / "notes")]) as stage:
        await stage.sync()
        assert sorted(await stage.found("quetzal")) == ["../projects/one/notes/a.md", "../projects/two/notes/a.md"]
        for name in ("one", "two"):
            (projects / name).rename(tmp_path / name)
            await stage.sync()
            assert len(await stage.found("quetzal")) == 2
            gone = states(stage)[str(projects / name / "notes")]
            assert gone == "missing"
        assert "2 notes are out of sight" in str(stage.indexer.state.trouble)
        assert states(stage)[str(projects / "*" / "notes")] == "missing"
        (tmp_path / "one").rename(projects / "one")
        (projects / "one" / "notes" / "a.md").unlink()
        await stage.sync()
        assert await stage.found("quetzal") == ["../projects/two/notes/a.md"]


async def test_vanished_match_of_a_glob_expires_like_a_root(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "shared" / "x").mkdir(parents=True)
    (tmp_path / "shared" / "x" / "a.md").write_text("The quetzal.\n")
    settings = replace(QUICK, grace=WaitTimes(file=0.05, root=0.5))
    async with staged(workspace, tmp_path / "state", settings=settings, extra=[f"{tmp_path}/shared/*"]) as stage:
        await stage.sync()
        shutil.move(tmp_path / "shared" / "x", tmp_path / "elsewhere")
        await stage.sync()
        assert await stage.found("quetzal") == ["../shared/x/a.md"]
        await eventually_async(lambda: "../shared/x/a.md" not in stage.files)
        assert states(stage)[f"{tmp_path}/shared/*"] == "missing"


async def test_deleted_match_of_a_file_glob_leaves_index(tmp_path: Path, workspace: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for name in ("one", "other"):
        (shared / f"{name}.md").write_text(f"The quetzal of {name}.\n")
    async with staged(workspace, tmp_path / "state", extra=[f"{shared}/o*.md"]) as stage:
        await stage.sync()
        (shared / "one.md").unlink()
        await stage.sync()
        assert await stage.found("quetzal") == ["../shared/other.md"]
        shutil.move(shared, tmp_path / "elsewhere")
        await stage.sync()
        assert await stage.found("quetzal") == ["../shared/other.md"]


async def test_vanished_extra_file_expires_like_a_root(tmp_path: Path, workspace: Path) -> None:
    one = tmp_path / "one.md"
    one.write_text("The quetzal.\n")
    async with staged(workspace, tmp_path / "state", extra=[str(one)]) as stage:
        await stage.sync()
        one.rename(tmp_path / "away.txt")
        await stage.sync()
        assert await stage.found("quetzal") == ["../one.md"]
        assert states(stage)[str(one)] == "missing"
        (workspace / "MEMORY.md").unlink()
        await stage.sync()
        assert "MEMORY.md" not in stage.files


async def test_glob_without_matches_is_reported_and_tried_later(tmp_path: Path, workspace: Path) -> None:
    pattern = str(tmp_path / "projects" / "*" / "notes")
    async with staged(workspace, tmp_path / "state", extra=[pattern]) as stage:
        await stage.sync()
        (report,) = [it for it in stage.indexer.state.roots if str(it.root.path) == pattern]
        assert (report.state, report.reason) == ("missing", "it matches nothing")
        (tmp_path / "projects" / "one" / "notes").mkdir(parents=True)
        (tmp_path / "projects" / "one" / "notes" / "a.md").write_text("The quetzal.\n")
        await stage.sync()
        assert await stage.found("quetzal") == ["../projects/one/notes/a.md"]
        assert states(stage)[str(tmp_path / "projects" / "one" / "notes")] == "ok"


def states(stage: Stage) -> dict[str, str]:
    return {str(report.root.path): str(report.state) for report in stage.indexer.state.roots}


async def test_note_restored_during_removal_keeps_its_vector(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Switching branches does this; only files that are really hidden are purged."""
    note = stage.write("memory/branch.md", "The heron of the first branch.\n")
    await stage.embed()
    note.write_text("The heron of the other branch.\n")
    await stage.embed()
    embedded = len(stage.embedder.embedded)
    plan = stage.indexer._snapshots.planner.plan

    def raced(*given: Any, **options: Any) -> Planned:
        planned = plan(*given, **options)
        if RelativePath("memory/branch.md") in planned.todo.remove:
            note.write_text("The heron of the first branch.\n")
        return planned

    monkeypatch.setattr(stage.indexer._snapshots.planner, "plan", raced)
    note.unlink()
    await stage.embed()
    assert await stage.found("heron first branch") == ["memory/branch.md"]
    assert len(stage.embedder.embedded) == embedded


async def test_notes_restored_during_privacy_check_keep_vectors(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Switching a branch takes a while: some of its notes return only after the snapshot."""
    notes = {name: stage.write(f"memory/{name}.md", f"The {name} stays.\n") for name in ("early", "late")}
    other = stage.write("memory/other.md", "The heron of the first branch.\n")
    await stage.embed()
    other.write_text("The heron of the other branch.\n")
    await stage.embed()
    embedded = len(stage.embedder.embedded)
    planner = stage.indexer._snapshots.planner
    plan, judge, take = planner.plan, planner.judge, planner.take_snapshot
    is_judging: list[bool] = []

    def write(name: str) -> None:
        notes[name].write_text(f"The {name} stays.\n")

    def raced_plan(*given: Any, **options: Any) -> Planned:
        planned = plan(*given, **options)
        if planned.todo.remove and not is_judging:
            write("early")
        return planned

    def raced_judge(paths: Sequence[RelativePath], *given: Any) -> tuple[Set[RelativePath], Set[RelativePath]]:
        is_judging.extend([True] * len(paths))
        return judge(paths, *given)

    def raced_take(*given: Any) -> DiskSnapshot:
        seen = take(*given)
        if is_judging:
            write("late")
        return seen

    monkeypatch.setattr(planner, "plan", raced_plan)
    monkeypatch.setattr(planner, "judge", raced_judge)
    monkeypatch.setattr(planner, "take_snapshot", raced_take)
    for note in notes.values():
        note.unlink()
    await stage.sync()
    other.write_text("The heron of the first branch.\n")
    await stage.embed()
    assert is_judging
    assert {"memory/early.md", "memory/late.md", "memory/other.md"} < stage.files
    assert len(stage.embedder.embedded) == embedded

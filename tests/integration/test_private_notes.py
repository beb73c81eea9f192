"""Private notes stay private whatever happens to the ignore file, and leave nothing behind."""

import asyncio
import gc
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.domain.patterns import Patterns
from memoryd.domain.syncplan import WaitTimes
from tests.integration.indexing import QUICK, Stage, staged
from tests.waiting import eventually_async

RULES = "private/\n"
SECRET = "quetzalcoatlus"
PATIENT = replace(QUICK, grace=WaitTimes(file=60, root=60))


def ignore_file(workspace: Path) -> Path:
    return workspace / ".memoryignore"


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _link(path: Path) -> None:
    outside = path.parent.parent / "outside"
    outside.write_text("nothing/\n")
    path.symlink_to(outside)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        folder = os.open(path.parent, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{folder}/{path.name}")
        os.close(folder)


def _large(path: Path) -> None:
    path.write_text("# long\n" * 20_000)


def _latin(path: Path) -> None:
    path.write_bytes("tagebücher/\n".encode("latin-1"))


def _unmarked(path: Path) -> None:
    path.write_bytes("diary/\n".encode("utf-16-le"))


def _half_marked(path: Path) -> None:
    path.write_bytes("diary/\n".encode("utf-16")[:-1])


def _class(path: Path) -> None:
    path.write_text(f"{RULES}[diary\n")


def _backslash(path: Path) -> None:
    path.write_text(f"{RULES}diary\\\n")


def _long_line(path: Path) -> None:
    path.write_text(f"{RULES}{'x' * 2000}\n")


def _many(path: Path) -> None:
    path.write_text(RULES + "".join(f"diary-{number}\n" for number in range(1001)))


def _locked(path: Path) -> None:
    path.write_text("diary/\n")
    path.chmod(0)


BROKEN_RULES = [
    *(_pipe, _folder, _link, _large, _latin, _unmarked, _half_marked, _class, _backslash, _long_line, _many),
    pytest.param(_socket, marks=pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")),
    pytest.param(_locked, marks=pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")),
]


@pytest.mark.parametrize("break_rules", BROKEN_RULES)
async def test_unreadable_rules_keep_last_rules_and_add_nothing(
    stage: Stage, break_rules: Callable[[Path], None]
) -> None:
    rules = ignore_file(stage.workspace)
    rules.write_text(RULES)
    stage.write("memory/private/old.md", f"The {SECRET} sleeps.\n")
    await stage.embed()
    before = stage.files
    rules.unlink()
    break_rules(rules)
    stage.write("memory/private/old.md", f"The {SECRET} sleeps and dreams.\n")
    stage.write("memory/private/new.md", f"The {SECRET} wakes.\n")
    stage.write("memory/diary/today.md", f"A {SECRET} in the garden.\n")
    stage.write("MEMORY.md", f"# Memory\n\nThe {SECRET} lives here.\n")
    await stage.sync()
    assert stage.files == before
    assert await stage.found(SECRET) == []
    assert await stage.found("GW-4172") == ["memory/2026-10-06.md"]
    assert stage.indexer.state.hold is not None
    assert ".memoryignore" in stage.skipped["memory/diary/today.md"]
    assert not any(SECRET in text for text in stage.embedder.embedded)
    rules.rmdir() if rules.is_dir() else rules.unlink()
    rules.write_text(RULES)
    await stage.sync()
    assert sorted(await stage.found(SECRET)) == ["MEMORY.md", "memory/diary/today.md"]
    assert stage.indexer.state.hold is None


@pytest.mark.parametrize("break_rules", BROKEN_RULES)
async def test_unreadable_rules_at_first_start_index_nothing(
    tmp_path: Path, workspace: Path, break_rules: Callable[[Path], None]
) -> None:
    break_rules(ignore_file(workspace))
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.sync()
        assert stage.files == set()
        assert stage.indexer.state.hold is not None


async def test_last_rules_apply_after_restart_with_unreadable_file(tmp_path: Path, workspace: Path) -> None:
    ignore_file(workspace).write_text("memory/2026-10-06.md\n")
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.sync()
        before = stage.files
    ignore_file(workspace).unlink()
    _pipe(ignore_file(workspace))
    (workspace / "memory" / "new.md").write_text(f"The {SECRET}.\n")
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.sync()
        assert stage.files == before == {"MEMORY.md", "memory/2026-10-18.md"}
        assert await stage.found("GW-4172") == []


@pytest.mark.parametrize("text", [None, "", "# nothing\n", "other/\n"])
async def test_vanished_rules_still_apply_within_the_grace(tmp_path: Path, workspace: Path, text: str | None) -> None:
    rules = ignore_file(workspace)
    rules.write_text(RULES)
    async with staged(workspace, tmp_path / "state", settings=PATIENT) as stage:
        stage.write("memory/private/old.md", f"The {SECRET} sleeps.\n")
        await stage.sync()
        rules.unlink() if text is None else rules.write_text(text)
        for _ in range(3):
            at = stage.indexer.state.last_sync_at
            stage.indexer.triggers.demand()
            await eventually_async(lambda at=at: stage.indexer.state.last_sync_at != at)  # type: ignore[misc]
        assert "memory/private/old.md" not in stage.files
        rules.write_text(RULES)
        await stage.sync()
        assert "memory/private/old.md" not in stage.files


@pytest.mark.parametrize("text", ["", "other/\n"])
async def test_changed_rules_apply_after_the_grace(stage: Stage, text: str) -> None:
    rules = ignore_file(stage.workspace)
    rules.write_text(RULES)
    stage.write("memory/private/old.md", f"The {SECRET} sleeps.\n")
    await stage.sync()
    rules.write_text(text)
    await stage.sync()
    assert await stage.found(SECRET) == ["memory/private/old.md"]


def _by_deleting(workspace: Path) -> None:
    ignore_file(workspace).unlink()


def _by_another_folder(workspace: Path) -> None:
    """Replace the workspace with a copy that has the notes but no dot files."""
    workspace.rename(workspace.with_name("before"))
    shutil.copytree(workspace.with_name("before"), workspace, ignore=shutil.ignore_patterns(".*"))


LOSSES = [_by_deleting, _by_another_folder]


@pytest.mark.parametrize("lose", LOSSES)
async def test_rules_of_deleted_file_apply_until_there_is_another(stage: Stage, lose: Callable[[Path], None]) -> None:
    ignore_file(stage.workspace).write_text(RULES)
    stage.write("memory/private/old.md", f"The {SECRET} sleeps.\n")
    await stage.sync()
    lose(stage.workspace)
    for number in range(3):
        await asyncio.sleep(QUICK.grace.file)
        stage.write(f"memory/private/new{number}.md", f"The {SECRET} wakes.\n")
        stage.write(f"memory/open{number}.md", f"The axolotl {number} swims.\n")
        await stage.sync()
        assert await stage.found(SECRET) == []
        assert f"memory/open{number}.md" in await stage.found("axolotl")
    assert "gone" in stage.indexer.state.notice
    ignore_file(stage.workspace).write_text("")
    await stage.sync()
    assert "memory/private/old.md" in await stage.found(SECRET)
    assert stage.indexer.state.notice == ""


@pytest.mark.parametrize("lose", LOSSES)
async def test_rules_deleted_while_stopped_still_apply(
    tmp_path: Path, workspace: Path, lose: Callable[[Path], None]
) -> None:
    ignore_file(workspace).write_text("memory/2026-10-06.md\n")
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.sync()
    lose(workspace)
    for _ in range(2):
        async with staged(workspace, tmp_path / "state") as stage:
            await stage.sync()
            assert stage.files == {"MEMORY.md", "memory/2026-10-18.md"}
            assert await stage.found("GW-4172") == []
            assert "gone" in stage.indexer.state.notice


async def test_nothing_is_indexed_when_rules_and_copy_are_lost(tmp_path: Path, workspace: Path) -> None:
    ignore_file(workspace).write_text("memory/2026-10-06.md\n")
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.sync()
    ignore_file(workspace).unlink()
    (tmp_path / "state" / "index.sqlite-ignore").write_bytes(b"\xff")
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.sync()
        assert "memory/2026-10-06.md" not in stage.files
        assert stage.indexer.state.hold is not None
        ignore_file(workspace).write_text("memory/2026-10-18.md\n")
        await stage.sync()
        assert stage.files == {"MEMORY.md", "memory/2026-10-06.md"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    "end", ["\n", "\r\n", "\r", "\x85", "\u2028", "\u2029", "\u00a0\n", " # mine\n", "\ufeff\n\ufeff"]
)
async def test_encodings_and_line_ends_of_other_editors_are_read(stage: Stage, encoding: str, end: str) -> None:
    ignore_file(stage.workspace).write_bytes(f"private/{end}# x{end}geheim-ü.md{end}".encode(encoding))
    for name in ("memory/private/a.md", "memory/geheim-ü.md", "memory/geheim-u\u0308.md"):
        stage.write(name, f"The {SECRET}.\n")
    await stage.sync()
    assert await stage.found(SECRET) == []
    assert stage.indexer.state.hold is None


async def test_ignore_file_cannot_undo_exclude(tmp_path: Path, workspace: Path) -> None:
    ignore_file(workspace).write_text("!2026-10-06.md\n")
    async with staged(workspace, tmp_path / "state", exclude=["2026-10-06.md"]) as stage:
        await stage.sync()
        assert stage.files == {"MEMORY.md", "memory/2026-10-18.md"}


async def test_rules_ignore_case_on_a_case_insensitive_disk(stage: Stage) -> None:
    stage.write("memory/Geheim.md", f"The {SECRET}.\n")
    ignore_file(stage.workspace).write_text("Memory/geheim.MD\n")
    # on such a disk both names are one file
    ignore_file(stage.workspace).with_name(".MEMORYIGNORE").hardlink_to(ignore_file(stage.workspace))
    await stage.sync()
    assert await stage.found(SECRET) == []


async def test_exclude_has_the_syntax_of_the_ignore_file(tmp_path: Path, workspace: Path) -> None:
    exclude = ["memory\\2026-10-06.md", f"{workspace}/memory/{{2026-10-18,other}}.md"]
    async with staged(workspace, tmp_path / "state", exclude=exclude) as stage:
        await stage.sync()
        assert stage.files == {"MEMORY.md"}


async def test_pattern_with_many_stars_is_matched_quickly(stage: Stage) -> None:
    stage.write(f"memory/{'a' * 200}.md", "The long one.\n")
    ignore_file(stage.workspace).write_text("*a*a*a*a*a*a*a*a*a*a*b\n**/*a*a/**/*a*a/**/*b\n")
    await stage.sync()
    assert f"memory/{'a' * 200}.md" in stage.files


def left_in(state: Path) -> bytes:
    return b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())


def _by_moving(workspace: Path) -> None:
    (workspace / "memory" / "private").mkdir()
    (workspace / "memory" / "secret.md").rename(workspace / "memory" / "private" / "secret.md")


def _by_moving_its_folder(workspace: Path) -> None:
    (workspace / "memory" / "private").mkdir()
    (workspace / "memory" / "topics").rename(workspace / "memory" / "private" / "topics")


def _by_rule(workspace: Path) -> None:
    ignore_file(workspace).write_text(f"{RULES}secret.md\n")


def _by_word(workspace: Path) -> None:
    path = workspace / "memory" / "secret.md"
    path.write_text("---\nmemory: false\n---\n" + path.read_text())


def _by_word_and_a_new_name(workspace: Path) -> None:
    _by_word(workspace)
    (workspace / "memory" / "secret.md").rename(workspace / "memory" / "other.md")


@pytest.mark.parametrize("hide", [_by_moving, _by_moving_its_folder, _by_rule, _by_word, _by_word_and_a_new_name])
async def test_private_note_leaves_nothing_behind(stage: Stage, tmp_path: Path, hide: Callable[[Path], None]) -> None:
    name = "memory/topics/secret.md" if hide is _by_moving_its_folder else "memory/secret.md"
    ignore_file(stage.workspace).write_text(RULES)
    stage.write(name, f"The {SECRET} sleeps.\n")
    await stage.embed()
    (secret,) = await vectors(stage) - await vectors_without(stage, name)
    assert SECRET.encode() in left_in(tmp_path / "state")
    hide(stage.workspace)
    await stage.sync()
    left = left_in(tmp_path / "state").lower()
    assert SECRET[3:12].encode() not in left
    assert secret not in left_in(tmp_path / "state")
    assert await stage.found("GW-4172") == ["memory/2026-10-06.md"]


async def test_earlier_version_of_private_note_leaves_nothing_behind(stage: Stage, tmp_path: Path) -> None:
    stage.write("memory/secret.md", f"The {SECRET} sleeps.\n")
    await stage.embed()
    (earlier,) = await vectors(stage) - await vectors_without(stage, "memory/secret.md")
    stage.write("memory/secret.md", "Somebody sleeps.\n")
    await stage.embed()
    _by_word(stage.workspace)
    await stage.sync()
    assert earlier not in await vectors(stage)
    assert SECRET[3:12].encode() not in left_in(tmp_path / "state").lower()


async def test_note_that_returns_as_private_leaves_nothing_behind(stage: Stage, tmp_path: Path) -> None:
    note = stage.write("memory/secret.md", f"The {SECRET} sleeps.\n")
    await stage.embed()
    (secret,) = await vectors(stage) - await vectors_without(stage, "memory/secret.md")
    note.rename(tmp_path / "away.md")
    await stage.sync()
    (tmp_path / "away.md").rename(note)
    _by_word(stage.workspace)
    await stage.sync()
    assert secret not in await vectors(stage)
    assert SECRET[3:12].encode() not in left_in(tmp_path / "state").lower()


@pytest.mark.parametrize("hide", [_by_moving, _by_moving_its_folder, _by_rule, _by_word, _by_word_and_a_new_name])
async def test_private_note_is_hidden_while_index_is_read_only(
    stage: Stage, tmp_path: Path, hide: Callable[[Path], None]
) -> None:
    name = "memory/topics/secret.md" if hide is _by_moving_its_folder else "memory/secret.md"
    ignore_file(stage.workspace).write_text(RULES)
    stage.write(name, f"The {SECRET} sleeps.\n")
    await stage.embed()
    await stage.database.close()
    await stage.database.open_to_read(why="the disk is read-only")
    assert await stage.found(SECRET) == [name]
    hide(stage.workspace)
    stage.write("MEMORY.md", "# Memory\n\nAnother text that cannot be written.\n")
    stage.indexer.triggers.demand()
    await eventually_async(lambda: name in stage.indexer.withdrawn)
    assert all(hit.chunk.path != name for hit in (await stage.ask(f"the {SECRET} sleeps")).hits)
    assert name not in stage.files
    assert not stage.indexer.is_known(name)
    assert await stage.found("GW-4172") == ["memory/2026-10-06.md"]
    await stage.database.close()
    await stage.database.open()
    await stage.sync()
    await eventually_async(lambda: not stage.indexer.withdrawn)
    assert SECRET[3:12].encode() not in left_in(tmp_path / "state").lower()


async def test_public_note_is_found_again_after_read_only_index(stage: Stage) -> None:
    note = stage.write("memory/secret.md", f"The {SECRET} sleeps.\n")
    before = note.read_bytes()
    await stage.sync()
    await stage.database.close()
    await stage.database.open_to_read(why="the disk is read-only")
    _by_rule(stage.workspace)
    _by_word(stage.workspace)
    stage.indexer.triggers.demand()
    await eventually_async(lambda: "memory/secret.md" in stage.indexer.withdrawn)
    note.write_bytes(before)
    ignore_file(stage.workspace).write_text("")
    await stage.database.close()
    await stage.database.open()
    await stage.sync()
    assert await stage.found(SECRET) == ["memory/secret.md"]
    assert stage.files >= {"memory/secret.md"}
    assert stage.indexer.is_known("memory/secret.md")


async def vectors(stage: Stage) -> set[bytes]:
    return await stage.database.read(lambda db: {row[0] for row in db.execute("SELECT vector FROM vectors")})


async def vectors_without(stage: Stage, name: str) -> set[bytes]:
    sql = """SELECT v.vector FROM files f JOIN chunks c ON c.file_id = f.id JOIN passages p ON p.chunk_id = c.id
    JOIN vectors v ON v.hash = p.hash WHERE f.path <> ?"""
    return await stage.database.read(lambda db: {row[0] for row in db.execute(sql, (name,))})


async def test_many_private_notes_cost_one_rewrite(stage: Stage) -> None:
    for number in range(300):
        stage.write(f"memory/n{number}.md", f"Note {number} of the {SECRET}.\n")
    await stage.sync(seconds=60)
    writes = stage.database.writes
    for number in range(300):
        stage.write(f"memory/n{number}.md", f"---\nmemory: false\n---\nNote {number} of the {SECRET}.\n")
    await stage.sync(seconds=60)
    assert await stage.found(SECRET) == []
    assert stage.database.writes - writes < 20


async def test_private_text_is_withdrawn_from_the_embedder(stage: Stage, tmp_path: Path) -> None:
    stage.embedder.goes_on.clear()
    stage.write("memory/secret.md", f"The {SECRET} sleeps.\n")
    await stage.sync()
    await eventually_async(lambda: any(SECRET in text for text in stage.embedder.embedded))
    stage.embedder.batches.clear()
    ignore_file(stage.workspace).write_text("secret.md\n")
    await stage.sync()
    stage.embedder.goes_on.set()
    await stage.embed()
    assert not any(SECRET in text for text in stage.embedder.embedded)
    assert await vectors(stage) == await vectors_without(stage, "memory/secret.md")


async def test_rules_changed_while_notes_are_read_apply_to_them(stage: Stage) -> None:
    async with asyncio.timeout(30):
        for number in range(20):
            ignore_file(stage.workspace).write_text("".join(f"secret-{one}.md\n" for one in range(number + 1)))
            stage.indexer.triggers.demand()
            stage.write(f"memory/secret-{number}.md", f"The {SECRET} number {number}.\n")
            await stage.sync()
            assert await stage.found(SECRET) == []


async def test_replaced_rules_are_freed(stage: Stage) -> None:
    def alive() -> int:
        gc.collect()
        return sum(type(it) is Patterns for it in gc.get_objects())

    ignore_file(stage.workspace).write_text(RULES)
    await stage.sync()
    before = alive()
    for number in range(4):
        ignore_file(stage.workspace).write_text(f"{RULES}draft-{number}.md\n")
        await stage.sync()
    assert alive() <= before + 1

"""Pictures and sounds from disk to vectors: which are taken, what a change costs, how others are reported."""

import hashlib
import os
import shutil
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.media import MediaRules, Modality
from memoryd.files.reading import NotReadableError
from memoryd.files.roots import workspace_roots
from memoryd.files.scanner import ScanRules
from memoryd.index.reading import attachments
from memoryd.store.index.passages import PendingFile
from memoryd.store.index.schema import problems
from tests.fakes import FakeEmbedder
from tests.integration.indexing import Stage, rebuilt, staged
from tests.media_files import jpeg, mp3, png, wav
from tests.waiting import eventually_async

BOTH = MediaRules(frozenset(Modality), 100_000)
BICYCLE = "a red bicycle leans against the lighthouse"


@pytest.fixture
async def stage(tmp_path: Path, workspace: Path) -> AsyncIterator[Stage]:
    async with staged(workspace, tmp_path / "state", extra=("assets",), media=BOTH) as running:
        yield running


def sent(stage: Stage) -> list[str]:
    """Return the embedded pictures and sounds."""
    return [text for text in stage.embedder.embedded if text.endswith("]")]


async def nearest(stage: Stage, text: str) -> str:
    found = await stage.ask(text)
    cosines = {hit.chunk.path: hit.cosine or -1.0 for hit in (*found.hits, *found.misses)}
    return max(cosines, key=cosines.__getitem__)


async def test_media_are_found_by_meaning_and_by_name(stage: Stage) -> None:
    stage.write("assets/IMG_0042.png", png(BICYCLE))
    stage.write("assets/deep/memo.mp3", mp3("a blackbird sings at dusk"))
    stage.write("assets/whiteboard-gateway.jpg", jpeg("boxes and arrows"))
    stage.write("assets/door.wav", wav("a door creaks"))
    await stage.embed()
    assert len(sent(stage)) == 4
    assert f"Image file: IMG_0042.png [{BICYCLE}]" in sent(stage)
    assert await nearest(stage, "red bicycle lighthouse") == "assets/IMG_0042.png"
    assert await nearest(stage, "blackbird sings at dusk") == "assets/deep/memo.mp3"
    assert await stage.found("whiteboard") == ["assets/whiteboard-gateway.jpg"]
    (hit,) = [hit for hit in (await stage.ask("whiteboard")).hits if hit.is_literal]
    assert hit.chunk.text == "Image file: whiteboard-gateway.jpg"
    await stage.dump()
    assert await stage.database.read(problems) == []


async def test_odd_names_are_shown_on_one_line(stage: Stage) -> None:
    stage.write("assets/海边的灯塔.png", png("a hut by the sea"))
    stage.write("assets/two\nlines.png", png("two lines"))
    os.close(os.open(os.fsencode(stage.workspace) + b"/assets/\xff.png", os.O_CREAT | os.O_WRONLY))
    await stage.embed()
    assert await stage.found("灯塔") == ["assets/海边的灯塔.png"]
    assert "Image file: two lines.png [two lines]" in sent(stage)
    assert stage.skipped["assets/\\xff.png"] == "its name is not UTF-8"
    await stage.dump()


async def test_pictures_with_similar_names_are_not_merged(stage: Stage) -> None:
    names = {f"assets/our long holiday in the hut by the sea with all of us {number}.png" for number in range(4)}
    names |= {"assets/again/our long holiday in the hut by the sea with all of us 0.png"}
    for name in names:
        stage.write(name, png(f"seen only in {name}"))
    await stage.sync()
    found = await stage.ask("long holiday hut")
    assert {hit.chunk.path for hit in found.hits if hit.is_literal} == names
    assert not any(hit.copies for hit in found.hits)


async def test_notes_are_embedded_before_pictures(stage: Stage) -> None:
    stage.embedder.goes_on.clear()
    stage.write("assets/a.png", png(BICYCLE))
    await stage.sync()
    stage.embedder.goes_on.set()
    await stage.embed()
    assert stage.embedder.embedded[-1].endswith("]")


async def test_only_extra_paths_and_chosen_kinds_are_indexed(tmp_path: Path, workspace: Path) -> None:
    images = MediaRules(frozenset({Modality.IMAGE}), 100_000)
    async with staged(workspace, tmp_path / "state", extra=(".",), media=images) as stage:
        for name in ("memory/a.png", "bank/b.png", "assets/c.png", "assets/.hidden.png", "top.png"):
            stage.write(name, png(name))
        stage.write("assets/d.mp3", mp3("a bird"))
        stage.write("assets/e.svg", b"<svg/>")
        await stage.sync()
        assert {path for path in stage.files if not path.endswith(".md")} == {"assets/c.png", "top.png"}
        assert "folders of the notes" in stage.skipped["memory/a.png"]
        assert "folders of the notes" in stage.skipped["bank/b.png"]


async def test_single_picture_may_be_an_extra_path(tmp_path: Path, workspace: Path) -> None:
    outside = tmp_path / "elsewhere" / "plan.png"
    outside.parent.mkdir()
    outside.write_bytes(png(BICYCLE))
    async with staged(workspace, tmp_path / "state", extra=(str(outside),), media=BOTH) as stage:
        await stage.embed()
        assert await nearest(stage, BICYCLE) == "../elsewhere/plan.png"


async def test_disabled_media_leave_the_index(tmp_path: Path, workspace: Path) -> None:
    async with staged(workspace, tmp_path / "state", extra=("assets",), media=BOTH) as stage:
        stage.write("assets/a.png", png(BICYCLE))
        await stage.embed()
    async with staged(workspace, tmp_path / "state", extra=("assets",)) as stage:
        await eventually_async(lambda: "assets/a.png" not in stage.files)
        await stage.embed()
        assert not sent(stage)
        left = await stage.database.read(lambda db: db.execute("SELECT count(*) FROM passages WHERE stop = 0").get)
        assert left == 0


async def test_content_of_another_type_is_reported(stage: Stage) -> None:
    stage.write("assets/fake.png", b"ssh-rsa AAAA")
    stage.write("assets/sound.png", mp3("a bird"))
    stage.write("assets/empty.jpg", b"")
    stage.write("assets/right.jpg", png("a png is a picture, too"))
    await stage.embed()
    assert sent(stage) == ["Image file: right.jpg [a png is a picture, too]"]
    for name in ("fake.png", "sound.png", "empty.jpg"):
        assert stage.skipped[f"assets/{name}"] == "its bytes are not those of an image file of a known kind"
    stage.write("assets/fake.png", png(BICYCLE))
    await stage.embed()
    assert f"Image file: fake.png [{BICYCLE}]" in sent(stage)
    assert "assets/fake.png" not in stage.skipped


async def test_picture_replaced_by_other_content_leaves_index(stage: Stage) -> None:
    stage.write("assets/a.png", png(BICYCLE))
    await stage.embed()
    stage.write("assets/a.png", b"-----BEGIN OPENSSH PRIVATE KEY-----")
    await stage.sync()
    assert "assets/a.png" not in stage.files
    left = "SELECT count(*) FROM vectors WHERE hash NOT IN (SELECT hash FROM passages)"
    assert await stage.database.read(lambda db: db.execute(left).get) == 0


async def test_too_large_picture_is_reported_with_its_limit(tmp_path: Path, workspace: Path) -> None:
    small = replace(BOTH, max_file_bytes=500)
    async with staged(workspace, tmp_path / "state", extra=("assets",), media=small) as stage:
        stage.write("assets/large.png", png(BICYCLE, filling=1000))
        stage.write("assets/long.md", "a note may be longer\n" * 100)
        await stage.embed()
        assert stage.skipped["assets/large.png"] == "larger than memorySearch.multimodal.maxFileBytes (500 bytes)"
        assert "assets/long.md" in stage.files
        assert not sent(stage)


async def test_changed_picture_is_embedded_again_and_a_touched_one_is_not(stage: Stage) -> None:
    path = stage.write("assets/a.png", png(BICYCLE))
    await stage.embed()
    os.utime(path, ns=(1, 1))
    await stage.embed()
    assert len(sent(stage)) == 1
    stage.write("assets/a.png", png("an owl on a fence"))
    await stage.embed()
    assert sent(stage)[1:] == ["Image file: a.png [an owl on a fence]"]
    assert await nearest(stage, "owl fence") == "assets/a.png"
    await stage.dump()


async def test_renamed_and_copied_pictures_are_not_embedded_again(
    stage: Stage, tmp_path: Path, workspace: Path
) -> None:
    first = stage.write("assets/a.png", png(BICYCLE))
    await stage.embed()
    (stage.workspace / "assets" / "new").mkdir()
    first.rename(stage.workspace / "assets" / "new" / "lighthouse.png")
    await stage.embed()
    assert await stage.found("lighthouse.png") == ["assets/new/lighthouse.png"]
    (hit,) = [hit for hit in (await stage.ask("lighthouse.png")).hits if hit.is_literal]
    assert hit.chunk.text == "Image file: lighthouse.png"
    shutil.copy(stage.workspace / "assets" / "new" / "lighthouse.png", stage.workspace / "assets" / "copy.png")
    await stage.embed()
    assert len(sent(stage)) == 1
    assert stage.embedding_loop.pending == 0
    now = await stage.dump()
    async with staged(workspace, tmp_path / "again", extra=("assets",), media=BOTH) as other:
        await other.sync()
        assert await other.dump() == now


async def test_rename_interrupted_by_crash_is_finished_later(tmp_path: Path, workspace: Path) -> None:
    async with staged(workspace, tmp_path / "state", extra=("assets",), media=BOTH) as stage:
        path = stage.write("assets/a.png", png(BICYCLE))
        await stage.embed()
        await stage.database.write(
            lambda db: db.execute("UPDATE files SET path = 'assets/b.png', chunker = '' WHERE path = 'assets/a.png'")
        )
    path.rename(path.with_name("b.png"))
    async with staged(workspace, tmp_path / "state", extra=("assets",), media=BOTH) as stage:
        await stage.embed()
        assert not sent(stage)
        texts = await stage.database.read(lambda db: [row[0] for row in db.execute("SELECT text FROM chunks")])
        assert "Image file: b.png" in texts


async def test_deleted_and_excluded_pictures_leave_index(stage: Stage) -> None:
    first = stage.write("assets/a.png", png(BICYCLE))
    stage.write("assets/b.png", png("an owl on a fence"))
    await stage.embed()
    first.unlink()
    stage.write(".memoryignore", "b.png\n")
    await stage.sync()
    await eventually_async(lambda: not any(path.endswith(".png") for path in stage.files))
    assert not [hit for hit in (await stage.ask(BICYCLE)).hits if hit.chunk.path.endswith(".png")]


async def test_refused_picture_is_rejected_alone(tmp_path: Path, workspace: Path) -> None:
    embedder = FakeEmbedder(unfit=frozenset({"bicycle"}))
    async with staged(workspace, tmp_path / "state", embedder=embedder, extra=("assets",), media=BOTH) as stage:
        stage.write("assets/a.png", png(BICYCLE))
        stage.write("assets/b.png", png("an owl on a fence"))
        await stage.embed()
        assert await stage.database.read(lambda db: db.execute("SELECT reason FROM rejected").get)
        assert (await stage.found("a.png"))[0] == "assets/a.png"
        assert await nearest(stage, "owl fence") == "assets/b.png"
        await stage.embed()
        assert len(sent(stage)) == 2


async def test_unreadable_picture_is_retried_and_delays_no_other(tmp_path: Path, workspace: Path) -> None:
    embedder = FakeEmbedder()
    embedder.goes_on.clear()
    async with staged(workspace, tmp_path / "state", embedder=embedder, extra=("assets",), media=BOTH) as stage:
        stage.write("assets/b.png", png("an owl on a fence"))
        path = stage.write("assets/a.png", png(BICYCLE))
        await stage.sync()
        hidden = path.rename(tmp_path / "hidden.png")  # not noticed before it is to be sent
        embedder.goes_on.set()
        await eventually_async(lambda: stage.embedding_loop.trouble is not None)
        assert (
            stage.embedding_loop.trouble == "assets/a.png cannot be sent: it cannot be read: No such file or directory"
        )
        await eventually_async(lambda: sent(stage) == ["Image file: b.png [an owl on a fence]"])
        assert stage.embedding_loop.pending == 1
        hidden.rename(path)
        await eventually_async(lambda: len(sent(stage)) == 2)
        await eventually_async(lambda: stage.embedding_loop.trouble is None)


async def test_pictures_are_sent_few_at_a_time(tmp_path: Path, workspace: Path) -> None:
    async with staged(workspace, tmp_path / "state", extra=("assets",), media=BOTH) as stage:
        for number in range(10):
            stage.write(f"assets/{number}.png", png(f"picture {number}"))
        await stage.embed()
        assert len(sent(stage)) == 10
        assert max(len(batch) for batch in stage.embedder.batches) <= 4


async def test_index_with_pictures_equals_a_rebuild(stage: Stage, tmp_path: Path, workspace: Path) -> None:
    for number in range(4):
        stage.write(f"assets/{number}.png", png(f"picture {number}"))
    await stage.embed()
    stage.write("assets/0.png", png("another"))
    (stage.workspace / "assets" / "1.png").unlink()
    (stage.workspace / "assets" / "2.png").rename(stage.workspace / "assets" / "9.png")
    await stage.embed()
    await eventually_async(lambda: RelativePath("assets/1.png") not in stage.files)
    now = await stage.dump()
    assert now != await rebuilt(workspace, tmp_path / "notes-only")
    async with staged(workspace, tmp_path / "again", extra=("assets",), media=BOTH) as other:
        await other.sync()
        assert await other.dump() == now


async def test_bytes_are_read_only_if_current_rules_allow(tmp_path: Path) -> None:
    data = png(BICYCLE)
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "a.png").write_bytes(data)
    (tmp_path / "assets" / "link.png").symlink_to(tmp_path / "assets" / "a.png")
    ignored: set[str] = set()
    rules = ScanRules(workspace=tmp_path, is_ignored=ignored.__contains__, media=BOTH)
    with ThreadPoolExecutor(1) as executor:
        attach = attachments(executor, lambda: (workspace_roots(tmp_path, ["assets"]), rules))
        digest = hashlib.sha256(data).digest()
        file = PendingFile(RelativePath("assets/a.png"), digest, len(data))
        got = await attach(file)
        assert (got.mime, got.data, got.sha256) == ("image/png", data, digest)
        with pytest.raises(NotReadableError, match="changed"):
            await attach(replace(file, sha256=bytes(32)))
        with pytest.raises(NotReadableError, match="cannot be read"):
            await attach(replace(file, path=RelativePath("assets/link.png")))
        ignored.add("assets/a.png")
        with pytest.raises(NotReadableError, match="left out"):
            await attach(file)

"""The copies that qmd reads: of public notes only, whatever the disk looks like and whenever it changes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.files.ignore import IgnoreFile, IgnoreState, IgnoreTimings
from memoryd.qmd.collections import Collection, QmdCopies
from tests.integration.composed import composed
from tests.integration.qmd_standin import StandIn
from tests.waiting import eventually_async

PRIVATE = "---\nmemory: false\n---\n"


class CollectionCopies:
    """The copies of one collection over a folder of notes."""

    def __init__(self, folder: Path, rule: Callable[[Path], Callable[[], IgnoreState]] | None = None) -> None:
        self.notes, self.state, self.withdrawn = folder / "notes", folder / "state", 0
        self.notes.mkdir(exist_ok=True)
        look = IgnoreFile(self.notes, timings=IgnoreTimings(settle=0, grace=0)).read
        self.copies = QmdCopies(
            folder=self.state / "copies",
            workspace=self.notes,
            apart=self.state,
            rule=rule(self.notes) if rule else look,
            max_bytes=1000,
            on_withdraw=self._note,
        )

    def _note(self) -> None:
        self.withdrawn += 1

    def write(self, name: str, text: str) -> Path:
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def after(self, root: Path | None = None, pattern: str = "**/*.md") -> dict[str, str]:
        """Refresh the copies and return them."""
        self.copies.refresh([Collection("all", str(root or self.notes), pattern)])
        top = self.state / "copies" / "all"
        return {str(path.relative_to(top)): path.read_text() for path in top.rglob("*") if path.is_file()}


def test_copies_follow_the_public_notes(tmp_path: Path) -> None:
    collection = CollectionCopies(tmp_path)
    collection.write("a.md", "One.")
    collection.write("b/{c} [d].md", "Two.")
    collection.write("e.md", f"{PRIVATE}Three.")
    collection.write("large.md", "x" * 1001)
    collection.write("f.txt", "Four.")
    collection.write(".git/g.md", "Five.")
    (collection.notes / "link.md").symlink_to(collection.notes / "e.md")
    (collection.notes / "folder").symlink_to(tmp_path)
    assert collection.after() == {"a.md": "One.", "b/{c} [d].md": "Two."}
    assert not collection.withdrawn
    collection.write("a.md", "One.\nAnother one.")
    (collection.notes / "b" / "{c} [d].md").rename(collection.notes / "b.md")
    (collection.notes / "b").rmdir()
    assert collection.after() == {"a.md": "One.\nAnother one.", "b.md": "Two."}
    (collection.notes / "b.md").unlink()
    collection.write("b.md/now a folder.md", "Six.")
    collection.write("e.md", "Three.")
    assert collection.after() == {"a.md": "One.\nAnother one.", "b.md/now a folder.md": "Six.", "e.md": "Three."}


def test_private_notes_are_withdrawn_from_copies(tmp_path: Path) -> None:
    collection = CollectionCopies(tmp_path)
    note = collection.write("a.md", "One.")
    collection.write("b.md", "Two.")
    collection.write("c.md", "Three.")
    assert len(collection.after()) == 3
    note.write_text(f"{PRIVATE}One.")
    collection.write(".memoryignore", "b.md\n")
    assert collection.after() == {"c.md": "Three."}
    assert collection.withdrawn
    assert CollectionCopies(tmp_path).after() == {"c.md": "Three."}, (
        "another process starts without knowledge of the copies"
    )


def test_only_removed_text_is_announced_as_withdrawn(tmp_path: Path) -> None:
    collection = CollectionCopies(tmp_path)
    collection.write("a.md", "One.\nTwo.\n")
    collection.after()
    collection.write("a.md", "Three.\nOne.\nTwo.\nFour.\n")
    assert collection.after() == {"a.md": "Three.\nOne.\nTwo.\nFour.\n"}
    assert collection.withdrawn == 0
    collection.write("a.md", "Three.\nTwo.\nFour.\n")
    assert collection.after() == {"a.md": "Three.\nTwo.\nFour.\n"}
    assert collection.withdrawn


def test_note_made_private_while_stopped_is_withdrawn(tmp_path: Path) -> None:
    note = CollectionCopies(tmp_path).write("a.md", "One.")
    assert CollectionCopies(tmp_path).after() == {"a.md": "One."}
    note.write_text(f"{PRIVATE}One.")
    assert CollectionCopies(tmp_path).after() == {}


def test_unreadable_rules_add_nothing_and_keep_public_copies(tmp_path: Path) -> None:
    collection = CollectionCopies(tmp_path)
    collection.write("a.md", "One.")
    collection.write("b.md", "Two.")
    assert len(collection.after()) == 2
    (collection.notes / ".memoryignore").mkdir()
    collection.write("a.md", "It is changed.")
    collection.write("b.md", f"{PRIVATE}Two.")
    collection.write("new.md", "Three.")
    assert collection.after() == {"a.md": "One."}
    (collection.notes / ".memoryignore").rmdir()
    assert collection.after() == {"a.md": "It is changed.", "new.md": "Three."}


def test_nothing_is_copied_under_outdated_rules(tmp_path: Path) -> None:
    def outdated(notes: Path) -> Callable[[], IgnoreState]:
        look = IgnoreFile(notes, timings=IgnoreTimings(settle=0, grace=0)).read
        return lambda: replace(look(), is_current=lambda: False)

    collection = CollectionCopies(tmp_path, outdated)
    collection.write("a.md", "One.")
    assert collection.after() == {}
    assert not collection.copies.refresh([Collection("all", str(collection.notes), "**/*.md")])


def test_collection_around_state_folder_skips_the_copies(tmp_path: Path) -> None:
    collection = CollectionCopies(tmp_path)
    collection.write("a.md", "One.")
    for _ in range(3):
        assert collection.after(root=tmp_path) == {"notes/a.md": "One."}


async def test_rules_apply_to_a_collection_through_a_link(tmp_path: Path, workspace: Path, standin: StandIn) -> None:
    (tmp_path / "link").symlink_to(workspace)
    (workspace / ".memoryignore").write_text("/memory/diary.md\n")
    (workspace / "memory" / "diary.md").write_text("The ocelot.\n")
    qmd = {"command": str(standin.program), "paths": [{"path": str(tmp_path / "link"), "name": "all"}]}
    async with composed(tmp_path, workspace, qmd) as running:
        await running.ready()
        notes = running.sidecar.qmd.home.notes
        await eventually_async((notes / "all" / "MEMORY.md").exists)
        assert not (notes / "all" / "memory" / "diary.md").exists()


@pytest.mark.parametrize("way", ["exit 1", "ok"])
async def test_index_that_cannot_be_cleaned_is_deleted(
    tmp_path: Path, workspace: Path, standin: StandIn, way: str
) -> None:
    note = workspace / "memory" / "diary.md"
    note.write_text("The ocelot.\n")
    standin.behave(cleanup=way)
    async with composed(tmp_path, workspace, {"command": str(standin.program)}) as running:
        await running.ready()
        index = running.sidecar.qmd.home.index_file
        index.write_bytes(b"The ocelot. " * 1000)
        note.write_text(f"{PRIVATE}The ocelot.\n")
        await running.indexed()
        await eventually_async(lambda: standin.calls("cleanup") and b"ocelot" not in _content(index))
        await running.ready()


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""

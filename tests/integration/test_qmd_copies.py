"""What qmd is given to read: copies of public notes only, whatever the disk looks like and whenever it changes."""

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


class Shown:
    """Copies of one collection over a folder of notes."""

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
        """Look at the notes and return the copies."""
        self.copies.refresh([Collection("all", str(root or self.notes), pattern)])
        top = self.state / "copies" / "all"
        return {str(path.relative_to(top)): path.read_text() for path in top.rglob("*") if path.is_file()}


def test_copies_follow_the_public_notes(tmp_path: Path) -> None:
    shown = Shown(tmp_path)
    shown.write("a.md", "One.")
    shown.write("b/{c} [d].md", "Two.")
    shown.write("e.md", f"{PRIVATE}Three.")
    shown.write("large.md", "x" * 1001)
    shown.write("f.txt", "Four.")
    shown.write(".git/g.md", "Five.")
    (shown.notes / "link.md").symlink_to(shown.notes / "e.md")
    (shown.notes / "folder").symlink_to(tmp_path)
    assert shown.after() == {"a.md": "One.", "b/{c} [d].md": "Two."}
    assert not shown.withdrawn
    shown.write("a.md", "One.\nAnother one.")
    (shown.notes / "b" / "{c} [d].md").rename(shown.notes / "b.md")
    (shown.notes / "b").rmdir()
    assert shown.after() == {"a.md": "One.\nAnother one.", "b.md": "Two."}
    (shown.notes / "b.md").unlink()
    shown.write("b.md/now a folder.md", "Six.")
    shown.write("e.md", "Three.")
    assert shown.after() == {"a.md": "One.\nAnother one.", "b.md/now a folder.md": "Six.", "e.md": "Three."}


def test_what_became_private_is_withdrawn_and_that_is_told_first(tmp_path: Path) -> None:
    shown = Shown(tmp_path)
    note = shown.write("a.md", "One.")
    shown.write("b.md", "Two.")
    shown.write("c.md", "Three.")
    assert len(shown.after()) == 3
    note.write_text(f"{PRIVATE}One.")
    shown.write(".memoryignore", "b.md\n")
    assert shown.after() == {"c.md": "Three."}
    assert shown.withdrawn
    assert Shown(tmp_path).after() == {"c.md": "Three."}, "another process knows nothing of the copies"


def test_text_that_was_edited_out_is_told_first_and_text_that_was_added_is_not(tmp_path: Path) -> None:
    shown = Shown(tmp_path)
    shown.write("a.md", "One.\nTwo.\n")
    shown.after()
    shown.write("a.md", "Three.\nOne.\nTwo.\nFour.\n")
    assert shown.after() == {"a.md": "Three.\nOne.\nTwo.\nFour.\n"}
    assert shown.withdrawn == 0
    shown.write("a.md", "Three.\nTwo.\nFour.\n")
    assert shown.after() == {"a.md": "Three.\nTwo.\nFour.\n"}
    assert shown.withdrawn


def test_note_that_was_made_private_while_nobody_looked_is_withdrawn(tmp_path: Path) -> None:
    note = Shown(tmp_path).write("a.md", "One.")
    assert Shown(tmp_path).after() == {"a.md": "One."}
    note.write_text(f"{PRIVATE}One.")
    assert Shown(tmp_path).after() == {}


def test_rules_that_nobody_knows_let_nothing_through_and_keep_what_is_there(tmp_path: Path) -> None:
    shown = Shown(tmp_path)
    shown.write("a.md", "One.")
    shown.write("b.md", "Two.")
    assert len(shown.after()) == 2
    (shown.notes / ".memoryignore").mkdir()
    shown.write("a.md", "It is changed.")
    shown.write("b.md", f"{PRIVATE}Two.")
    shown.write("new.md", "Three.")
    assert shown.after() == {"a.md": "One."}
    (shown.notes / ".memoryignore").rmdir()
    assert shown.after() == {"a.md": "It is changed.", "new.md": "Three."}


def test_nothing_is_copied_under_rules_that_changed_meanwhile(tmp_path: Path) -> None:
    def outdated(notes: Path) -> Callable[[], IgnoreState]:
        look = IgnoreFile(notes, timings=IgnoreTimings(settle=0, grace=0)).read
        return lambda: replace(look(), is_current=lambda: False)

    shown = Shown(tmp_path, outdated)
    shown.write("a.md", "One.")
    assert shown.after() == {}
    assert not shown.copies.refresh([Collection("all", str(shown.notes), "**/*.md")])


def test_collection_around_the_state_folder_does_not_copy_the_copies(tmp_path: Path) -> None:
    shown = Shown(tmp_path)
    shown.write("a.md", "One.")
    for _ in range(3):
        assert shown.after(root=tmp_path) == {"notes/a.md": "One."}


async def test_rules_hold_for_a_collection_by_another_name(tmp_path: Path, workspace: Path, standin: StandIn) -> None:
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

"""The stamps of the main file are not written through a link that replaced its folder."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from memoryd.files.reading import NotReadableError
from memoryd.sessions.main_file import MainFile


class LinkedMeanwhile(MainFile):
    """A main file whose folder becomes a link once it was written."""

    def __init__(self, workspace: Path, elsewhere: Path) -> None:
        super().__init__(workspace)
        self.places = workspace / "memory", elsewhere

    def _swap(self, entries: Sequence[Any]) -> str:
        folder, elsewhere = self.places
        shutil.rmtree(folder)
        folder.symlink_to(elsewhere)
        return ""


def test_stamps_are_not_written_through_a_link(tmp_path: Path) -> None:
    workspace, elsewhere = tmp_path / "workspace", tmp_path / "elsewhere"
    (workspace / "memory").mkdir(parents=True)
    stamps = elsewhere / "sessions" / ".stamps.json"
    stamps.parent.mkdir(parents=True)
    stamps.write_text("{}")
    with suppress(OSError, NotReadableError):
        LinkedMeanwhile(workspace, elsewhere).write([], {})
    assert stamps.read_text() == "{}"

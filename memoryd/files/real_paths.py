"""Rules by name for files that have several: a folder that is reached through a link is still that folder."""

import os
from collections.abc import Callable
from pathlib import Path


class RealPaths:
    """Where relative paths of one workspace really lie. Folders are looked up once, so make one for each look."""

    def __init__(self, workspace: Path, *, follow_symlinks: bool) -> None:
        self.workspace = os.path.realpath(workspace)
        self._follow_symlinks = follow_symlinks
        self._folders: dict[str, str] = {}

    def of(self, at: str) -> str:
        """Return the absolute path, which ends in `/` if the relative one does; a last link counts if followed."""
        whole = at.removesuffix("/")
        folder, _, name = whole.rpartition("/")
        if self._follow_symlinks or name in ("", ".", ".."):
            real = os.path.realpath(f"{self.workspace}/{whole}")
        else:
            real = f"{self._folder(folder)}/{name}"
        return f"{real}/" if at.endswith("/") else real

    def _folder(self, folder: str) -> str:
        real = self._folders.get(folder)
        if real is None:
            real = self._folders[folder] = os.path.realpath(f"{self.workspace}/{folder}").rstrip("/")
        return real


def under_each_name(hides: Callable[[str], bool], real_paths: RealPaths) -> Callable[[str], bool]:
    """Return a rule that hides what `hides` does, and what it would hide under its real path."""
    inside = f"{real_paths.workspace}/"

    def is_ignored(at: str) -> bool:
        if hides(at):
            return True
        real = real_paths.of(at)
        if real == inside + at:
            return False
        end = "/" if at.endswith("/") else ""
        return hides(os.path.relpath(real, real_paths.workspace).replace(os.sep, "/") + end)

    return is_ignored

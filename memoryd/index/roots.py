"""Where to look for documents of a workspace, and what a root that is gone or replaced means for its files."""

import glob
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from memoryd.domain.documents import ROOT_FILES, ROOT_FOLDERS, RelativePath
from memoryd.domain.syncplan import Known
from memoryd.index.scanner import Root, RootState, Scan

_GLOB_SIGNS = frozenset("*?[")


def workspace_roots(workspace: Path, extra_paths: Iterable[str]) -> list[Root]:
    """Return the default roots and the configured extra ones; an extra path may be `~`, relative or a glob."""
    defaults = [Root(workspace / name) for name in (*ROOT_FILES, *ROOT_FOLDERS)]
    return defaults + [root for extra in extra_paths for root in _extra_roots(workspace, extra)]


def base_of(path: RelativePath, workspace: Path, roots: Iterable[Root]) -> tuple[Path, str]:
    """Return the trusted folder a document lies beneath, and its path from there."""
    if not path.startswith("../"):
        return workspace, path
    absolute = os.path.normpath(workspace / path)
    for root in roots:
        if absolute.startswith(f"{root.path}{os.sep}"):
            return root.path, os.path.relpath(absolute, root.path)
    return Path(absolute).parent, Path(absolute).name


def unreadable_files(seen: Scan, known: Mapping[RelativePath, Known], workspace: Path) -> set[RelativePath]:
    """Return the indexed files whose absence from a scan proves nothing.

    They lie under a folder root that is missing, under a folder that could not be listed, or were read on
    another device than the one their folder is on now (it was unmounted, or mounted over).
    """
    folders: list[str] = [path for path in seen.unreadable if path.endswith("/")]
    for report in seen.roots:
        if report.state is not RootState.OK:
            folders.append(os.path.relpath(report.root.path, workspace) + "/")
    under = tuple(folders)
    listed = set(seen.unreadable)

    def is_out_of_sight(path: RelativePath, file: Known) -> bool:
        if path in listed or path.startswith(under):
            return True
        return _device_of(path, workspace, seen) not in (None, file.stat.device)

    return {path for path, file in known.items() if path not in seen.files and is_out_of_sight(path, file)}


def _device_of(path: RelativePath, workspace: Path, seen: Scan) -> int | None:
    """Return the device of the innermost folder above the path that the scan listed; None when there is none."""
    top, folder = str(workspace), os.path.normpath(workspace / path)
    while (folder := os.path.dirname(folder)) not in (top, os.sep):  # noqa: PTH120
        if folder in seen.folders:
            return seen.folders[folder][0]
    return None if folder == os.sep else seen.workspace_device or -1


def _extra_roots(workspace: Path, extra: str) -> list[Root]:
    path = Path(os.path.normpath(workspace / Path(extra).expanduser()))
    if not _GLOB_SIGNS & set(str(path)):
        return [Root(path, is_optional=False, takes_media=True)]
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207  Path.glob takes no absolute pattern
    return [Root(Path(match), is_optional=False, takes_media=True) for match in sorted(matches)]

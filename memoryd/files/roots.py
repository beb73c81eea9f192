"""Where to look for documents of a workspace, and what a root that is gone or replaced means for its files."""

import glob
import os
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path

from memoryd.domain.documents import ROOT_FILES, ROOT_FOLDERS, RelativePath
from memoryd.domain.patterns import is_glob, matches
from memoryd.domain.syncplan import Known
from memoryd.files.scan_rules import ScanRoot
from memoryd.files.scanner import RootReport, RootState, Scan


def workspace_roots(workspace: Path, extra_paths: Iterable[str]) -> list[ScanRoot]:
    """Return the default roots and the configured extra ones; an extra path may be `~`, relative or a glob.

    A glob stands for what it matches now, and for itself if that is nothing.
    """
    defaults = [ScanRoot(workspace / name) for name in (*ROOT_FILES, *ROOT_FOLDERS)]
    return defaults + [root for extra in extra_paths for root in _extra_roots(workspace, extra)]


def base_of(path: RelativePath, workspace: Path, roots: Iterable[ScanRoot]) -> tuple[Path, str]:
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

    They are or lie under a root that is missing (a file that need not be there, such as MEMORY.md, is no such root),
    lie under a folder that could not be listed, or were read on another device than the one their folder is on now
    (it was unmounted, or mounted over).
    """
    folders: list[str] = [path for path in seen.unreadable if path.endswith("/")]
    listed: set[str] = set(seen.unreadable)
    for report in seen.roots:
        if report.state is not RootState.OK:
            at = os.path.relpath(report.root.path, workspace)
            folders.append(f"{at}/".removeprefix("./"))
            listed |= set() if report.root.is_optional else {at}
    under = tuple(folders)

    def is_out_of_sight(path: RelativePath, file: Known) -> bool:
        if path in listed or path.startswith(under):
            return True
        return _device_of(path, workspace, seen) not in (None, file.stat.device)

    return {path for path, file in known.items() if path not in seen.files and is_out_of_sight(path, file)}


def vanished_roots(seen: Scan, known: Mapping[RelativePath, Known], workspace: Path) -> list[RootReport]:
    """Report what a glob matched when the index last looked and matches no longer, as long as the index holds of it.

    A file that went from a folder which is still there is none: it was deleted.
    """
    patterns = {report.root.pattern for report in seen.roots} - {""}
    listed = tuple(f"{report.root.path}{os.sep}" for report in seen.roots if report.state is RootState.OK)
    absent = (path for path in known if path not in seen.files) if patterns else ()
    places = [place for path in absent if not (place := os.path.normpath(workspace / path)).startswith(listed)]
    found: dict[str, str] = {}
    for place, pattern in product(places, patterns):
        folders = (str(folder) for folder in reversed((Path(place), *Path(place).parents)))
        outermost = next((folder for folder in folders if matches(pattern, folder)), None)
        # when the file itself was matched, and its folder is still there, it was deleted
        if outermost and not (outermost == place and Path(place).parent.is_dir()):
            found[outermost] = pattern
    return [
        RootReport(
            ScanRoot(Path(top), is_optional=False, pattern=pattern), RootState.MISSING, 0, f"{pattern} matched it"
        )
        for top, pattern in found.items()
    ]


def _device_of(path: RelativePath, workspace: Path, seen: Scan) -> int | None:
    """Return the device of the innermost folder above the path that the scan listed; None when there is none."""
    top, folder = str(workspace), os.path.normpath(workspace / path)
    while (folder := os.path.dirname(folder)) not in (top, os.sep):  # noqa: PTH120
        if folder in seen.folders:
            return seen.folders[folder][0]
    return None if folder == os.sep else seen.workspace_device or -1


def _extra_roots(workspace: Path, extra: str) -> list[ScanRoot]:
    path = Path(os.path.normpath(workspace / Path(extra).expanduser()))
    if not is_glob(str(path)):
        return [ScanRoot(path, is_optional=False, takes_media=True)]
    # Path.glob takes no absolute pattern
    found = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))] or [path]  # noqa: PTH207
    return [ScanRoot(match, is_optional=False, takes_media=True, pattern=str(path)) for match in found]

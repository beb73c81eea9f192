"""The scanner: finds the documents on disk by listing folders and by stat alone.

It follows symlinks only if the configuration says so, never opens a file, and never fails as a whole: files and folders
that cannot be read are reported by name.

A rescan updates the last scan for some files, while a query waits. It stats only those files, with the rules of a full
scan, and gives up if a full scan might find more changes than that; the caller then does the full scan.
"""

import contextlib
import errno
import os
import stat as stat_module
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import (
    ROOT_FOLDERS,
    FileStat,
    RelativePath,
    SkippedFile,
    is_document_name,
    is_hidden,
    is_utf8_name,
    printable_name,
)
from memoryd.domain.media import MediaRules, modality_of
from memoryd.domain.memories.sections import LARGEST_PAGE, is_of_memories
from memoryd.domain.patterns import fixed_part
from memoryd.domain.skips import SkipReason
from memoryd.files.ignore import IgnoreState


class ScanRoot(Struct, frozen=True):
    """A place to scan: a file, or a folder and everything below it."""

    path: Path
    is_optional: bool = True
    """Whether it may be absent without a warning (a default root that was never made)."""
    takes_media: bool = False
    """Whether pictures and sounds in it are documents, if the rules allow any."""
    pattern: str = ""
    """The glob that matched the root; a glob without matches is itself a root, which is missing."""
    name_prefix: str = ""
    """The prefix of all document names in this folder (`ana:`), in place of the folder's path from the workspace."""

    @property
    def parent(self) -> Path:
        """The folder in which this root, or a further match of its glob, may appear."""
        return Path(fixed_part(self.pattern)) if self.pattern else self.path.parent


class ScanRules(IgnoreState, frozen=True):
    """The privacy rules, and limits on which files are documents."""

    workspace: Path
    folders_by_prefix: Mapping[str, Path] = {}
    """The folder for each name prefix."""
    excluded_folder: Path | None = None
    max_file_bytes: int = 64 * 2**20
    follow_symlinks: bool = False
    max_depth: int = 64
    media: MediaRules | None = None
    """Which pictures and sounds are documents; None: none."""

    def place(self, path: str) -> str:
        """Return the absolute path of a document."""
        person, colon, rest = path.partition(":")
        if colon and (folder := self.folders_by_prefix.get(person + colon)) is not None:
            return f"{folder}/{rest}"
        return f"{self.workspace}/{path}"

    def name(self, place: str | Path) -> RelativePath:
        """Return the index name of a document or folder with this absolute path."""
        for prefix, folder in self.folders_by_prefix.items():
            if f"{place}{os.sep}".startswith(f"{folder}{os.sep}"):
                return RelativePath(f"{prefix}{os.path.relpath(place, folder)}".replace(os.sep, "/"))
        return RelativePath(os.path.relpath(place, self.workspace).replace(os.sep, "/"))

    def may_be_document(self, name: str) -> bool:
        """Return whether the name is that of a document."""
        return is_document_name(name) or (self.media is not None and self.media.admits(name))

    def limit(self, path: str) -> tuple[int, str]:
        """Return how many bytes a file at a relative path may have, and the name of that limit."""
        if self.media is not None and modality_of(path) and self.media.max_file_bytes < self.max_file_bytes:
            return self.media.max_file_bytes, "memorySearch.multimodal.maxFileBytes"
        if is_of_memories(path) and self.max_file_bytes > LARGEST_PAGE:
            return LARGEST_PAGE, "the limit of daily logs and pages of the bank"
        return self.max_file_bytes, "limits.maxFileBytes"


CurrentRules = Callable[[], tuple[Sequence[ScanRoot], ScanRules]]
"""Returns the current roots and rules; blocks."""

_NOTE_FOLDERS = tuple(f"{name}/" for name in ROOT_FOLDERS)

FolderId = tuple[int, int]
"""Device and inode; a different value at the same path means another folder, or another disk."""


class RootState(StrEnum):
    """The state of a configured root in a scan."""

    OK = "ok"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    REFUSED = "refused"


class RootReport(Struct, frozen=True):
    """The result of a scan at one root."""

    root: ScanRoot
    state: RootState
    files: int
    reason: str = ""


class Scan(Struct):
    """The result of a scan."""

    files: dict[RelativePath, FileStat] = {}
    roots: list[RootReport] = []
    skipped: list[SkippedFile] = []
    unreadable: list[RelativePath] = []
    """Folders (ending in `/`) and files that exist and cannot be read now."""
    workspace_device: int | None = None
    """None if the workspace itself is missing."""
    folders: dict[str, FolderId] = {}
    """Absolute path and identity of each listed folder: those that the watcher must watch."""
    above: dict[str, FolderId] = {}
    """The same for the workspace and the parent folders of the roots, where a root may appear."""
    tops: list[Path] = []
    """The real paths of the roots, if symlinks are followed."""
    has_links: bool = False
    """Whether symlinks are followed and there are some: their targets may change in folders that are not watched."""

    def skip(self, path: str, why: str) -> None:
        """Record why a file or folder is no document."""
        self.skipped.append(SkippedFile(RelativePath(path), why))


def scan(roots: Sequence[ScanRoot], rules: ScanRules) -> Scan:
    """Scan all roots. Blocks for some 4 µs a file; run it in a thread."""
    result = Scan(workspace_device=_device(rules.workspace))
    # before the roots are listed: the watcher of these folders then reports a root that appears in between
    for folder in {rules.workspace, *(root.path.parent for root in roots), *(root.parent for root in roots)}:
        with contextlib.suppress(OSError):
            result.above[str(folder)] = folder_id(str(folder))
    if rules.follow_symlinks:
        result.tops = [root.path.resolve() for root in roots]
    for root in roots:
        result.roots.append(scan_root(root, rules, result))
    return result


def scan_root(root: ScanRoot, rules: ScanRules, result: Scan) -> RootReport:
    """Add the documents of one root to `result`, and return its report."""
    before = len(result.files)
    state, reason = _scan_root(root, rules if root.takes_media else replace(rules, media=None), result)
    return RootReport(root, state, len(result.files) - before, reason)


def _device(folder: Path) -> int | None:
    try:
        return folder.stat().st_dev
    except OSError:
        return None


def _scan_root(root: ScanRoot, rules: ScanRules, result: Scan) -> tuple[RootState, str]:
    result.has_links |= rules.follow_symlinks and root.path.is_symlink()
    try:
        info = root.path.stat(follow_symlinks=rules.follow_symlinks)
    except (FileNotFoundError, NotADirectoryError):
        is_unmatched = str(root.path) == root.pattern
        return RootState.MISSING, "it matches nothing" if is_unmatched else "there is nothing at this path"
    except OSError as exc:
        result.unreadable.append(RelativePath(root.name_prefix) or rules.name(root.path))
        return RootState.UNREADABLE, unreadable_reason(exc)
    if stat_module.S_ISLNK(info.st_mode):
        return RootState.REFUSED, SkipReason.SYMLINK
    if stat_module.S_ISDIR(info.st_mode):
        prefix = root.name_prefix or f"{rules.name(root.path)}/".removeprefix("./")
        if not _walk(str(root.path), prefix, rules, result):
            return RootState.UNREADABLE, "the folder cannot be listed"
        return RootState.OK, ""
    if not _exact_case(root.path):
        return RootState.MISSING, "there is nothing at this path"
    at = rules.name(root.path)
    if not rules.is_ignored(at):
        take(root.path.name, at, info, _device(root.path.parent) or 0, rules, result)
    return RootState.OK, ""


def _walk(top: str, prefix: str, rules: ScanRules, result: Scan) -> bool:
    """List a tree without recursion; return whether its top could be listed.

    A listing is not atomic. A file moved during it, from a folder not yet listed to one already listed, is not seen;
    a file moved the other way is seen twice. So a file counts as deleted only if its absence lasts.
    """
    listed_already = set(result.folders.values())
    waiting = [(top, prefix, 0)]
    while waiting:
        folder, at, depth = waiting.pop()
        try:
            # before the listing: if the folder is replaced in between, the old identity is recorded, so that the next
            # scan sees a new one and has the folder watched again
            identity = folder_id(folder)
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError as exc:
            result.unreadable.append(RelativePath(at))
            result.skip(printable_name(at), unreadable_reason(exc))
            if depth == 0:
                return False
            continue
        if rules.follow_symlinks and depth and identity in listed_already:
            result.skip(at.removesuffix("/"), SkipReason.LISTED_TWICE)
            continue
        listed_already.add(identity)
        result.folders[folder] = identity
        for name, path, is_folder in _entries(listed, at, rules, result):
            if not is_folder:
                _take_entry(path, name, RelativePath(at + name), identity[0], rules, result)
            elif depth >= rules.max_depth:
                result.skip(at + name, SkipReason.TOO_DEEP.format(rules.max_depth))
            else:
                waiting.append((path, f"{at}{name}/", depth + 1))
    return True


def _entries(
    listed: list[os.DirEntry[str]], at: str, rules: ScanRules, result: Scan
) -> Iterator[tuple[str, str, bool]]:
    """Yield (name, path, is folder) of the entries that may be documents, or folders of documents."""
    for entry in listed:
        name = entry.name
        if is_hidden(name):
            continue
        try:
            is_folder = entry.is_dir()
            is_link = entry.is_symlink()
        except OSError:
            continue
        # counts broken links and links out of the workspace, too: links behind them may change their target
        result.has_links |= is_link and rules.follow_symlinks
        if not is_folder and not rules.may_be_document(name):
            continue
        if not is_utf8_name(name):
            result.skip(printable_name(at + name), SkipReason.NOT_UTF8)
        elif is_link and not rules.follow_symlinks:
            result.skip(at + name, SkipReason.SYMLINK)
        elif is_link and not Path(entry.path).resolve().is_relative_to(rules.workspace.resolve()):
            result.skip(at + name, SkipReason.SYMLINK_OUTSIDE)
        elif is_link and is_folder and _is_in_a_root(entry.path, result):
            result.skip(at + name, SkipReason.SYMLINK_TWICE)
        elif entry.path != str(rules.excluded_folder) and not rules.is_ignored(at + name + "/" * is_folder):
            yield name, entry.path, is_folder


def _take_entry(path: str, name: str, at: RelativePath, device: int, rules: ScanRules, result: Scan) -> None:
    try:
        info = os.stat(path, follow_symlinks=rules.follow_symlinks)  # noqa: PTH116  os.stat is half the price
    except FileNotFoundError:
        # deleted since its folder was listed
        return
    except OSError as exc:
        result.unreadable.append(at)
        result.skip(at, unreadable_reason(exc))
        return
    take(name, at, info, device, rules, result)


def take(name: str, at: RelativePath, info: os.stat_result, device: int, rules: ScanRules, result: Scan) -> None:
    """Add a file to `result`, or the reason why it is no document."""
    if not rules.may_be_document(name) or at in result.files:
        return
    limit, key = rules.limit(at)
    if not stat_module.S_ISREG(info.st_mode):
        result.skip(at, SkipReason.NOT_REGULAR)
    elif rules.media is not None and modality_of(name) and at.startswith(_NOTE_FOLDERS):
        result.skip(at, SkipReason.AMONG_NOTES)
    elif info.st_size > limit:
        result.skip(at, SkipReason.TOO_LARGE.format(key, limit))
    else:
        result.files[at] = FileStat(device, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def folder_id(path: str) -> FolderId:
    """Return the identity of the folder at a path; raises OSError."""
    info = os.stat(path)  # noqa: PTH116
    return info.st_dev, info.st_ino


def file_identity(path: Path) -> FolderId | None:
    """Return the identity of the file or folder at a path; None if there is none."""
    with contextlib.suppress(OSError):
        return folder_id(str(path))
    return None


def _is_in_a_root(path: str, result: Scan) -> bool:
    target = Path(path).resolve()
    return any(target.is_relative_to(top) or top.is_relative_to(target) for top in result.tops)


def _exact_case(path: Path) -> bool:
    """Return whether the folder lists exactly this name: on a case-insensitive disk `memory.md` opens `MEMORY.md`."""
    try:
        return path.name in os.listdir(path.parent)  # noqa: PTH208
    except OSError:
        return True


def unreadable_reason(exc: OSError) -> str:
    """Return why a note or folder cannot be read, and the remedy if it is known."""
    if exc.errno in (errno.EACCES, errno.EPERM):
        return SkipReason.NO_PERMISSION
    return SkipReason.UNREADABLE.format(os.strerror(exc.errno or 0))


def can_rescan(before: Scan, roots: Sequence[ScanRoot], rules: ScanRules) -> bool:
    """Return whether the rest of a scan stays valid as long as no folder and no rule changes."""
    # with links or globs, changes may happen in folders that are not watched
    is_plain = not rules.follow_symlinks and not any(root.pattern for root in roots)
    return is_plain and not before.unreadable and all(report.root in roots for report in before.roots)


def rescan(before: Scan, roots: Sequence[ScanRoot], rules: ScanRules, names: Iterable[RelativePath]) -> Scan | None:
    """Return `before` updated for these files; None if more than these files may have changed. Blocks."""
    paths = set(names)
    result = replace(
        before,
        files={path: stat for path, stat in before.files.items() if path not in paths},
        roots=list(before.roots),
        skipped=[skip for skip in before.skipped if skip.path not in paths],
    )
    by_path = {str(root.path): root for root in roots}
    for at in paths:
        path = os.path.normpath(rules.place(at))
        root = by_path.get(path)
        if not (_check_file(path, at, rules, result) if root is None else _scan_file_root(root, rules, result)):
            return None
    return result


def _check_file(path: str, at: RelativePath, rules: ScanRules, result: Scan) -> bool:
    folder, name = os.path.split(path)
    if modality_of(name) is not None or folder not in result.folders:
        # which pictures are documents depends on their root
        return False
    try:
        if folder_id(folder) != result.folders[folder]:
            return False
        info = os.lstat(path)
    except FileNotFoundError:
        # if its folder was deleted, too, the watcher's next event reports that
        return os.path.isdir(folder)  # noqa: PTH112
    except OSError:
        return False
    if stat_module.S_ISLNK(info.st_mode) or stat_module.S_ISDIR(info.st_mode):
        return False
    if not rules.is_ignored(at):
        take(name, at, info, result.folders[folder][0], rules, result)
    return True


def _scan_file_root(root: ScanRoot, rules: ScanRules, result: Scan) -> bool:
    """Scan a root that was a file or missing; return False if it is a folder or cannot be read now."""
    if root.path.is_dir():
        return False
    report = scan_root(root, rules, result)
    result.roots = [report if old.root == root else old for old in result.roots]
    return report.state in (RootState.OK, RootState.MISSING)

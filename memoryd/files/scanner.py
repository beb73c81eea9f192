"""The scanner: the truth about what documents are on disk, by listing and stat alone.

It never follows a symlink unless the configuration says so, never opens a file, and never fails as a whole: what
cannot be read is reported by name.

A rescan brings the last scan up to date for some files, while a question waits. It stats those files and no others, by
the rules of a whole scan, and gives up wherever these could give another result than before: then all is scanned.
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
from memoryd.files.ignore import Ruling


class ScanRoot(Struct, frozen=True):
    """A place to look: a file, or a folder with all that lies below it."""

    path: Path
    is_optional: bool = True
    """Whether its absence is no fault (a default root that was never made)."""
    takes_media: bool = False
    """Whether pictures and sounds in it are documents, where the rules know any."""
    pattern: str = ""
    """The glob that matched it; one that matches nothing is a root itself, and is missing."""
    name_prefix: str = ""
    """How the names of all documents in this folder begin (`ana:`), instead of its path from the workspace."""

    @property
    def stands_in(self) -> Path:
        """The folder in which it may appear, and others that the glob matches."""
        return Path(fixed_part(self.pattern)) if self.pattern else self.path.parent


class ScanRules(Ruling, frozen=True):
    """What to leave out: by the rules of privacy, and for what it is."""

    workspace: Path
    folders_by_prefix: Mapping[str, Path] = {}
    """The folder of each prefix of names."""
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
        """Return the path of a document, or of a folder, by the absolute one."""
        for prefix, folder in self.folders_by_prefix.items():
            if f"{place}{os.sep}".startswith(f"{folder}{os.sep}"):
                return RelativePath(f"{prefix}{os.path.relpath(place, folder)}".replace(os.sep, "/"))
        return RelativePath(os.path.relpath(place, self.workspace).replace(os.sep, "/"))

    def may_be_document(self, name: str) -> bool:
        """Tell whether a file of this name is listed."""
        return is_document_name(name) or (self.media is not None and self.media.admits(name))

    def limit(self, path: str) -> tuple[int, str]:
        """Return how many bytes a file at a relative path may have, and what says so."""
        if self.media is not None and modality_of(path) and self.media.max_file_bytes < self.max_file_bytes:
            return self.media.max_file_bytes, "memorySearch.multimodal.maxFileBytes"
        if is_of_memories(path) and self.max_file_bytes > LARGEST_PAGE:
            return LARGEST_PAGE, "the limit of daily logs and pages of the bank"
        return self.max_file_bytes, "limits.maxFileBytes"


CurrentRules = Callable[[], tuple[Sequence[ScanRoot], ScanRules]]
"""Says where to look and what to leave out as of now; blocks."""


_OWN_FOLDERS = tuple(f"{name}/" for name in ROOT_FOLDERS)

FolderId = tuple[int, int]
"""Device and inode: another one at the same path is another folder, or another disk."""


class RootState(StrEnum):
    """What a scan found at a configured root."""

    OK = "ok"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    REFUSED = "refused"


class RootReport(Struct, frozen=True):
    """What was found at a root."""

    root: ScanRoot
    state: RootState
    files: int
    reason: str = ""


class Scan(Struct):
    """One look at the disk."""

    files: dict[RelativePath, FileStat] = {}
    roots: list[RootReport] = []
    skipped: list[SkippedFile] = []
    unreadable: list[RelativePath] = []
    """Folders (ending in `/`) and files that are there and cannot be read now."""
    workspace_device: int | None = None
    """None when the workspace itself is not there."""
    folders: dict[str, FolderId] = {}
    """Absolute paths of the folders that were listed, what a watcher must watch, and which folders they were."""
    above: dict[str, FolderId] = {}
    """The same of the workspace and of the folders that the roots stand in, where a root may appear."""
    tops: list[Path] = []
    """Where the roots really are, when symlinks are followed."""
    has_links: bool = False
    """Whether symlinks are followed and there are some: what they lead to may change where nobody watches."""

    def skip(self, path: str, why: str) -> None:
        """Note why a file or folder is none of the documents."""
        self.skipped.append(SkippedFile(RelativePath(path), why))


def scan(roots: Sequence[ScanRoot], rules: ScanRules) -> Scan:
    """Look at every root and return what is there. Blocks for some 4 µs a file; run it in a thread."""
    found = Scan(workspace_device=_device(rules.workspace))
    # before the roots are listed: of a root that appears in between, the watcher of these folders then tells
    for folder in {rules.workspace, *(root.path.parent for root in roots), *(root.stands_in for root in roots)}:
        with contextlib.suppress(OSError):
            found.above[str(folder)] = folder_id(str(folder))
    if rules.follow_symlinks:
        found.tops = [root.path.resolve() for root in roots]
    for root in roots:
        found.roots.append(scan_root(root, rules, found))
    return found


def scan_root(root: ScanRoot, rules: ScanRules, found: Scan) -> RootReport:
    """Add what lies at one root to what was found, and report on it."""
    before = len(found.files)
    state, reason = _scan_root(root, rules if root.takes_media else replace(rules, media=None), found)
    return RootReport(root, state, len(found.files) - before, reason)


def _device(folder: Path) -> int | None:
    try:
        return folder.stat().st_dev
    except OSError:
        return None


def _scan_root(root: ScanRoot, rules: ScanRules, found: Scan) -> tuple[RootState, str]:
    found.has_links |= rules.follow_symlinks and root.path.is_symlink()
    try:
        info = root.path.stat(follow_symlinks=rules.follow_symlinks)
    except (FileNotFoundError, NotADirectoryError):
        is_unmatched = str(root.path) == root.pattern
        return RootState.MISSING, "it matches nothing" if is_unmatched else "there is nothing at this path"
    except OSError as exc:
        found.unreadable.append(RelativePath(root.name_prefix) or rules.name(root.path))
        return RootState.UNREADABLE, why_unread(exc)
    if stat_module.S_ISLNK(info.st_mode):
        return RootState.REFUSED, SkipReason.SYMLINK
    if stat_module.S_ISDIR(info.st_mode):
        prefix = root.name_prefix or f"{rules.name(root.path)}/".removeprefix("./")
        if not _walk(str(root.path), prefix, rules, found):
            return RootState.UNREADABLE, "the folder cannot be listed"
        return RootState.OK, ""
    if not _exact_case(root.path):
        return RootState.MISSING, "there is nothing at this path"
    at = rules.name(root.path)
    if not rules.is_ignored(at):
        take(root.path.name, at, info, _device(root.path.parent) or 0, rules, found)
    return RootState.OK, ""


def _walk(top: str, prefix: str, rules: ScanRules, found: Scan) -> bool:
    """List a tree without recursion; return whether its top could be listed.

    It is no instant: a file that is moved meanwhile, from a folder still to be listed to one that was, is seen nowhere,
    and a file that is moved the other way is seen twice. So no absence counts that did not last.
    """
    listed_already = set(found.folders.values())
    waiting = [(top, prefix, 0)]
    while waiting:
        folder, at, depth = waiting.pop()
        try:
            # before the listing: of a folder that is replaced in between the older identity is kept, and the next scan
            # finds another one and has it watched anew
            identity = folder_id(folder)
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError as exc:
            found.unreadable.append(RelativePath(at))
            found.skip(printable_name(at), why_unread(exc))
            if depth == 0:
                return False
            continue
        if rules.follow_symlinks and depth and identity in listed_already:
            found.skip(at.removesuffix("/"), SkipReason.LISTED_TWICE)
            continue
        listed_already.add(identity)
        found.folders[folder] = identity
        for name, path, is_folder in _entries(listed, at, rules, found):
            if not is_folder:
                _take_entry(path, name, RelativePath(at + name), identity[0], rules, found)
            elif depth >= rules.max_depth:
                found.skip(at + name, SkipReason.TOO_DEEP.format(rules.max_depth))
            else:
                waiting.append((path, f"{at}{name}/", depth + 1))
    return True


def _entries(listed: list[os.DirEntry[str]], at: str, rules: ScanRules, found: Scan) -> Iterator[tuple[str, str, bool]]:
    """Yield (name, path, is folder) of the entries that may be or hold documents."""
    for entry in listed:
        name = entry.name
        if is_hidden(name):
            continue
        try:
            is_folder = entry.is_dir()
            is_link = entry.is_symlink()
        except OSError:
            continue
        # also one that leads nowhere, or out of the workspace: links behind it may come to lead elsewhere
        found.has_links |= is_link and rules.follow_symlinks
        if not is_folder and not rules.may_be_document(name):
            continue
        if not is_utf8_name(name):
            found.skip(printable_name(at + name), SkipReason.NOT_UTF8)
        elif is_link and not rules.follow_symlinks:
            found.skip(at + name, SkipReason.SYMLINK)
        elif is_link and not Path(entry.path).resolve().is_relative_to(rules.workspace.resolve()):
            found.skip(at + name, SkipReason.SYMLINK_OUTSIDE)
        elif is_link and is_folder and _is_in_a_root(entry.path, found):
            found.skip(at + name, SkipReason.SYMLINK_TWICE)
        elif entry.path != str(rules.excluded_folder) and not rules.is_ignored(at + name + "/" * is_folder):
            yield name, entry.path, is_folder


def _take_entry(path: str, name: str, at: RelativePath, device: int, rules: ScanRules, found: Scan) -> None:
    try:
        info = os.stat(path, follow_symlinks=rules.follow_symlinks)  # noqa: PTH116  os.stat is half the price
    except FileNotFoundError:
        # it went since its folder was listed
        return
    except OSError as exc:
        found.unreadable.append(at)
        found.skip(at, why_unread(exc))
        return
    take(name, at, info, device, rules, found)


def take(name: str, at: RelativePath, info: os.stat_result, device: int, rules: ScanRules, found: Scan) -> None:
    """Add a file to what was found, or why it is none of the documents."""
    if not rules.may_be_document(name) or at in found.files:
        return
    limit, key = rules.limit(at)
    if not stat_module.S_ISREG(info.st_mode):
        found.skip(at, SkipReason.NOT_REGULAR)
    elif rules.media is not None and modality_of(name) and at.startswith(_OWN_FOLDERS):
        found.skip(at, SkipReason.AMONG_NOTES)
    elif info.st_size > limit:
        found.skip(at, SkipReason.TOO_LARGE.format(key, limit))
    else:
        found.files[at] = FileStat(device, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def folder_id(path: str) -> FolderId:
    """Return which folder stands at a path; raises OSError."""
    info = os.stat(path)  # noqa: PTH116
    return info.st_dev, info.st_ino


def file_identity(path: Path) -> FolderId | None:
    """Return which file or folder a path leads to; None if it leads to none."""
    with contextlib.suppress(OSError):
        return folder_id(str(path))
    return None


def _is_in_a_root(path: str, found: Scan) -> bool:
    target = Path(path).resolve()
    return any(target.is_relative_to(top) or top.is_relative_to(target) for top in found.tops)


def _exact_case(path: Path) -> bool:
    """Tell whether the folder lists this very name: on a case-insensitive disk `memory.md` also opens `MEMORY.md`."""
    try:
        return path.name in os.listdir(path.parent)  # noqa: PTH208
    except OSError:
        return True


def why_unread(exc: OSError) -> str:
    """Say why a note or a folder cannot be read, and what gives it back where that is known."""
    if exc.errno in (errno.EACCES, errno.EPERM):
        return SkipReason.NO_PERMISSION
    return SkipReason.UNREADABLE.format(os.strerror(exc.errno or 0))


def may_be_brought_up(before: Scan, roots: Sequence[ScanRoot], rules: ScanRules) -> bool:
    """Tell whether what a scan found elsewhere holds, as long as no folder and no rule changes."""
    # through a link, or by a glob, a change comes from where nobody watches
    is_plain = not rules.follow_symlinks and not any(root.pattern for root in roots)
    return is_plain and not before.unreadable and all(report.root in roots for report in before.roots)


def rescan(before: Scan, roots: Sequence[ScanRoot], rules: ScanRules, names: Iterable[RelativePath]) -> Scan | None:
    """Return `before` with these files as they are now; None if more than they may have changed. Blocks."""
    wanted = set(names)
    found = replace(
        before,
        files={path: stat for path, stat in before.files.items() if path not in wanted},
        roots=list(before.roots),
        skipped=[one for one in before.skipped if one.path not in wanted],
    )
    by_path = {str(root.path): root for root in roots}
    for at in wanted:
        path = os.path.normpath(rules.place(at))
        root = by_path.get(path)
        if not (_look_at(path, at, rules, found) if root is None else _scan_file_root(root, rules, found)):
            return None
    return found


def _look_at(path: str, at: RelativePath, rules: ScanRules, found: Scan) -> bool:
    folder, name = os.path.split(path)
    if modality_of(name) is not None or folder not in found.folders:
        # which pictures are documents depends on the root that they lie in
        return False
    try:
        if folder_id(folder) != found.folders[folder]:
            return False
        info = os.lstat(path)
    except FileNotFoundError:
        # if its folder went with it, the next event says so, and until then it is as gone as it is
        return os.path.isdir(folder)  # noqa: PTH112
    except OSError:
        return False
    if stat_module.S_ISLNK(info.st_mode) or stat_module.S_ISDIR(info.st_mode):
        return False
    if not rules.is_ignored(at):
        take(name, at, info, found.folders[folder][0], rules, found)
    return True


def _scan_file_root(root: ScanRoot, rules: ScanRules, found: Scan) -> bool:
    """Look at a root that was a file, or nothing, and is to be one still."""
    if root.path.is_dir():
        return False
    report = scan_root(root, rules, found)
    found.roots = [report if one.root == root else one for one in found.roots]
    return report.state in (RootState.OK, RootState.MISSING)

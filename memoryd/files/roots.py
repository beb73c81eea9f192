"""The roots of a workspace: where documents are searched, what a missing root means, and files outside of all roots.

Also finds the roots on file systems that other machines may write to, where a change causes no event. Linux lists
mounts in `/proc/self/mountinfo`, see proc_pid_mountinfo(5).
"""

import glob
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path

from msgspec import Struct

from memoryd.config.agents import Agent
from memoryd.config.team import TeamSection
from memoryd.domain.documents import (
    ROOT_FILES,
    ROOT_FOLDERS,
    OutsideCount,
    RelativePath,
    is_copy_at_top,
    is_document_name,
    is_hidden,
    is_person,
    is_utf8_name,
    person_of,
)
from memoryd.domain.expressions import expression, word_set
from memoryd.domain.media import MediaRules
from memoryd.domain.patterns import is_glob, matches
from memoryd.domain.syncplan import IndexedFile
from memoryd.files.ignore import IgnoreFile, IgnoreTimings, is_private_file
from memoryd.files.scanner import RootReport, RootState, Scan, ScanRoot, ScanRules


def workspace_roots(workspace: Path, extra_paths: Iterable[str], team: TeamSection | None = None) -> list[ScanRoot]:
    """Return the default roots and the configured extra ones; an extra path may begin with `~`, be relative, or a glob.

    A glob gives a root for each match, or one root of its own if nothing matches. The team's shared folders come last.
    """
    defaults = [ScanRoot(workspace / name) for name in (*ROOT_FILES, *ROOT_FOLDERS)]
    shared = [] if team is None else team_roots(team)
    return [*defaults, *(root for extra in extra_paths for root in _extra_roots(workspace, extra)), *shared]


def team_roots(team: TeamSection) -> list[ScanRoot]:
    """Return the shared notes of the other team members as roots, one folder for each person. Blocks."""
    notes, person = team.notes_folder, team.person
    try:
        with os.scandir(notes) as entries:
            people = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        people = []
    others = (name for name in people if is_person(name) and name != person)
    return [ScanRoot(notes / name, name_prefix=f"{name}:") for name in others]


def folders_by_prefix(roots: Iterable[ScanRoot]) -> dict[str, Path]:
    """Return the folder for each name prefix, such as `alice:`."""
    return {root.name_prefix: root.path for root in roots if root.name_prefix}


def base_of(path: RelativePath, workspace: Path, roots: Iterable[ScanRoot]) -> tuple[Path, str]:
    """Return the trusted folder that contains a document, and its path from there."""
    if person_of(path):
        for root in roots:
            if root.name_prefix and path.startswith(root.name_prefix):
                return root.path, path.removeprefix(root.name_prefix)
    if not path.startswith("../"):
        return workspace, path
    absolute = os.path.normpath(workspace / path)
    for root in roots:
        if absolute.startswith(f"{root.path}{os.sep}"):
            return root.path, os.path.relpath(absolute, root.path)
    return Path(absolute).parent, Path(absolute).name


def unseen_files(seen: Scan, known: Mapping[RelativePath, IndexedFile], rules: ScanRules) -> set[RelativePath]:
    """Return the indexed files whose absence from a scan does not prove that they were deleted.

    - The file is a missing root or lies below one. An optional root file, such as MEMORY.md, does not count.
    - The file, or a folder above it, could not be read.
    - The file was read from another device than the one its folder is on now: that was unmounted, or mounted over.
    """
    folders: list[str] = [path for path in seen.unreadable if path.endswith("/")]
    listed: set[str] = set(seen.unreadable)
    for report in seen.roots:
        if report.state is not RootState.OK:
            path = rules.name(report.root.path)
            folders.append(report.root.name_prefix or f"{path}/".removeprefix("./"))
            listed |= set() if report.root.is_optional else {path}
    under = tuple(folders)

    def is_out_of_sight(path: RelativePath, file: IndexedFile) -> bool:
        if path in listed or path.startswith(under):
            return True
        return _device_of(path, rules, seen) not in (None, file.stat.device)

    return {path for path, file in known.items() if path not in seen.files and is_out_of_sight(path, file)}


def vanished_roots(seen: Scan, known: Mapping[RelativePath, IndexedFile], workspace: Path) -> list[RootReport]:
    """Report each root that a glob matched earlier and no longer matches, if the index still has files of it.

    A matched file whose folder still exists is not reported: it was deleted.
    """
    patterns = {report.root.pattern for report in seen.roots} - {""}
    listed = tuple(f"{report.root.path}{os.sep}" for report in seen.roots if report.state is RootState.OK)
    absent = (path for path in known if path not in seen.files) if patterns else ()
    places = [place for path in absent if not (place := os.path.normpath(workspace / path)).startswith(listed)]
    missing: dict[str, str] = {}
    for place, pattern in product(places, patterns):
        folders = (str(folder) for folder in reversed((Path(place), *Path(place).parents)))
        outermost = next((folder for folder in folders if matches(pattern, folder)), None)
        # a file that the pattern matched itself, and whose folder still exists, was deleted
        if outermost and not (outermost == place and Path(place).parent.is_dir()):
            missing[outermost] = pattern
    return [
        RootReport(
            ScanRoot(Path(top), is_optional=False, pattern=pattern), RootState.MISSING, 0, f"{pattern} matched it"
        )
        for top, pattern in missing.items()
    ]


def _device_of(path: RelativePath, rules: ScanRules, seen: Scan) -> int | None:
    """Return the device of the innermost listed folder above a path, else that of the workspace.

    -1, which is no device, if the workspace was not listed; None for a path outside of it without a listed folder.
    """
    top, folder = str(rules.workspace), os.path.normpath(rules.place(path))
    while (folder := os.path.dirname(folder)) not in (top, os.sep):  # noqa: PTH120
        if folder in seen.folders:
            return seen.folders[folder][0]
    return None if folder == os.sep else seen.workspace_device or -1


def _extra_roots(workspace: Path, extra: str) -> list[ScanRoot]:
    path = Path(os.path.normpath(workspace / Path(extra).expanduser()))
    if not is_glob(str(path)):
        return [ScanRoot(path, is_optional=False, takes_media=True)]
    # Path.glob takes no absolute pattern
    paths = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))] or [path]  # noqa: PTH207
    return [ScanRoot(match, is_optional=False, takes_media=True, pattern=str(path)) for match in paths]


ReadMounts = Callable[[], str]
TABLE = Path("/proc/self/mountinfo")
_REMOTE = word_set("""
9p afs beegfs ceph cifs coda davfs drvfs glusterfs gpfs lustre ncpfs nfs nfs4 orangefs prl_fs smb3 smbfs vboxsf virtiofs
vmhgfs
""")
_LOCAL_FUSE = word_set("fuseblk fuse.bindfs fuse.gocryptfs fuse.encfs fuse.ecryptfs fuse.mergerfs")
_ESCAPE = expression(r"\\([0-7]{3})")


class Mount(Struct, frozen=True):
    """A mounted file system: its mount point and type."""

    point: str
    kind: str

    @property
    def is_remote(self) -> bool:
        """Whether other machines may write to it; assumed of an unknown FUSE type."""
        return self.kind in _REMOTE or (self.kind.startswith("fuse") and self.kind not in _LOCAL_FUSE)


def parse_mounts(table: str) -> list[Mount]:
    """Return the mounts in table order, skipping malformed lines; a later mount hides earlier ones at its point."""
    return [mount for line in table.splitlines() if (mount := _mount(line.split(" "))) is not None]


def remote_mounts(mounts: Sequence[Mount], paths: Iterable[str]) -> list[Mount]:
    """Return the remote mounts that contain the paths (absolute, without symlinks), each once."""
    containing = (_mount_of(path, mounts) for path in paths)
    return list(dict.fromkeys(mount for mount in containing if mount is not None and mount.is_remote))


def _mount(fields: list[str]) -> Mount | None:
    """Parse the fields of `36 35 98:0 /root /point options [optional …] - kind source options`; None if malformed."""
    if len(fields) < 10 or "-" not in fields[6:]:
        return None
    kind = fields[fields.index("-", 6) + 1]
    return Mount(_ESCAPE.sub(lambda code: chr(int(code[1], 8)), fields[4]), kind)


def _mount_of(path: str, mounts: Sequence[Mount]) -> Mount | None:
    """Return the innermost mount that contains a path; of several at one point, the latest."""
    above = [mount for mount in mounts if path == mount.point or path.startswith(mount.point.rstrip("/") + "/")]
    # reversed: max returns the first of equals
    return max(reversed(above), key=lambda mount: len(mount.point), default=None)


def read_mounts() -> str:
    """Return the mount table as text; empty if the system has none."""
    try:
        return TABLE.read_text(errors="surrogateescape")
    except OSError:
        return ""


def remote_reason(folders: Iterable[Path], read: ReadMounts) -> str:
    """Return why file events miss changes below these folders; empty if they do not."""
    mounts = remote_mounts(parse_mounts(read()), (os.path.realpath(folder) for folder in folders))
    if not mounts:
        return ""
    places = ", ".join(f"{mount.point} is {mount.kind}" for mount in mounts)
    return f"{places}, where no event reports what another machine changes"


def roots_and_rules(
    agent: Agent, *, max_file_bytes: int, media: MediaRules | None = None
) -> tuple[list[ScanRoot], ScanRules]:
    """Return the agent's roots and current rules; changed rules apply at once, without the grace period. Blocks."""
    search, workspace = agent.memory_search, Path(os.path.realpath(agent.workspace))
    now = IgnoreTimings(settle=0, grace=0)
    ruling = IgnoreFile(workspace, exclude=search.exclude, timings=now, follow_symlinks=search.follow_symlinks).read()
    roots = workspace_roots(workspace, search.extra_paths, agent.team)
    return roots, ScanRules(
        workspace=workspace,
        folders_by_prefix=folders_by_prefix(roots),
        is_ignored=ruling.is_ignored,
        hold=ruling.hold,
        excluded_folder=agent.index_path.parent,
        max_file_bytes=max_file_bytes,
        follow_symlinks=search.follow_symlinks,
        media=media,
    )


MAX_FILES = 1000
MAX_ENTRIES = 20_000
"""How many folder entries are checked in all, level by level from the top."""
_HEAD_BYTES = 64 * 1024


def count_outside(
    seen: Scan, rules: ScanRules, *, max_files: int = MAX_FILES, max_entries: int = MAX_ENTRIES
) -> OutsideCount:
    """Count the Markdown files below the workspace that a scan did not find; blocks, so run it in a thread.

    Hidden, ignored, private and unreadable files and symlinks do not count. While the privacy rules are in doubt
    (`hold`), nothing counts.
    """
    if rules.hold is not None or any(report.root.path == rules.workspace for report in seen.roots):
        return OutsideCount()
    known = {*seen.files, *(skipped.path for skipped in seen.skipped)}
    outside, checked = list[RelativePath](), 0
    for path in islice(_documents(rules, max_entries), max_entries):
        checked += 1
        if path is not None and path not in known and not _is_private(path, rules):
            outside.append(path)
        if len(outside) > max_files:
            break
    is_more = len(outside) > max_files or (len(outside) > 0 and checked == max_entries)
    return OutsideCount(len(outside[:max_files]), is_more, tuple(filter(is_copy_at_top, outside)))


def _documents(rules: ScanRules, max_entries: int) -> Iterator[RelativePath | None]:
    """Yield a value for each entry of all folders, level by level: the path if it is a document, else None."""
    waiting = deque([(str(rules.workspace), "")])
    while waiting:
        folder, prefix = waiting.popleft()
        try:
            with os.scandir(folder) as entries:
                listed = list(islice(entries, max_entries))
        except OSError:
            continue
        for entry in listed:
            path = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False) and _is_entered(path, entry, rules):
                waiting.append((entry.path, f"{path}/"))
            is_named_so = is_document_name(entry.name) and is_utf8_name(entry.name)
            is_document = is_named_so and entry.is_file(follow_symlinks=False) and not rules.is_ignored(path)
            yield RelativePath(path) if is_document else None


def _is_entered(path: str, entry: os.DirEntry[str], rules: ScanRules) -> bool:
    if is_hidden(entry.name) or not is_utf8_name(entry.name) or path in ROOT_FOLDERS:
        return False
    return entry.path != str(rules.excluded_folder) and not rules.is_ignored(f"{path}/")


def _is_private(path: str, rules: ScanRules) -> bool:
    """Return whether a note is marked private; True if it cannot be read."""
    try:
        return is_private_file(rules.workspace, path, head_bytes=_HEAD_BYTES)
    except OSError:
        return True

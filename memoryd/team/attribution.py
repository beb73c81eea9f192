"""Decide who wrote the lines of a team's files, and write the files to be indexed: a folder for each person.

A file belongs to the person in its name; git knows who wrote its lines.

A note is shown only in the version that its person wrote last. If others wrote into a log, only those memories are
shown that are the person's by `git blame`, and that are complete in the version the person wrote last. So a line that
was revoked and added again by another person, or shortened, is not shown. Git trusts the address that an author claims,
and anyone who may push can claim any. So this detects mistakes and plain forgeries; a team that needs more must let its
server check signatures.
"""

import contextlib
import errno
import os
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from memoryd.domain.documents import RESERVED, RelativePath
from memoryd.domain.memories.sharing import (
    CONFLICT,
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_MEMORIES,
    TEAM_FILE,
    SharedPath,
    TeamPeople,
    blank_lines,
    file_shown_as,
    is_unmerged,
    lines_of,
    shared_file,
)
from memoryd.errors import SidecarError
from memoryd.files.reading import decode
from memoryd.files.writing import make_private_folder, replace_file
from memoryd.team.git import OutputTooLargeError
from memoryd.team.own_files import files_below
from memoryd.team.repository import NOTES, REGULAR, TeamRepository, TreeFile, history_places

MAX_REPORTED = 20
"""Most withheld files that are reported individually."""
MAX_PERSON_BYTES = 16 * 1024 * 1024
"""Most bytes of all shown files of a person."""
MAX_BLAMED_BYTES = 128 * 1024
"""Largest log for which `git blame` is run."""
BLAME_SECONDS = 2.0
"""Time limit of `git blame` for one log."""
ALL_BLAME_SECONDS = 3.0
"""Time after which no further `git blame` is started; the remaining logs wait for the next time."""
NO_PLACE = "it is neither a log nor a note of a person"
NO_FILE = "it is no plain file"
NO_TEXT = "it is no text in UTF-8"
TOO_LARGE = f"it has more than {MAX_FILE_BYTES:,} bytes"
TOO_MUCH = f"{{}} shares more than {MAX_PERSON_BYTES:,} bytes"
TOO_MANY = f"{{}} shares more than {MAX_FILES:,} files"
TOO_OFTEN = "who wrote the files of {} cannot be looked up: their history is too long"
BELOW_A_FILE = "another file has the name of its folder"
UNKNOWN_PERSON = f"{TEAM_FILE} has no person called {{}}"
NO_PERSON = "no person may be called {}, which means something else in citations"
FOREIGN_LINES = "{} of its lines were not written by {}"
FOREIGN_NOTE = "another person than {} wrote into it"
LATER = "who wrote it is looked up with the next files"
_ALL = frozenset({0})
"""A set that means all lines."""


class ShownFile(Struct, frozen=True):
    """The place and the shown content of a file."""

    place: SharedPath
    data: bytes


class ShownFiles(Struct, frozen=True):
    """The shown files of a repository by their path in it, and a sentence for each withheld file."""

    files: Mapping[str, ShownFile] = {}
    withheld: tuple[str, ...] = ()
    is_complete: bool = True
    """Whether no file is waiting until its authors are known."""


class Attribution:
    """Decides what is shown of a commit, and caches the foreign lines of each version of a file."""

    def __init__(self, repository: TeamRepository) -> None:
        self._repository = repository
        self._foreign: dict[tuple[str, str, str], frozenset[int]] = {}
        """Lines by others, from 1; by path, blob, and the blob that the person left last."""
        self._people: TeamPeople | None = None
        self._commit: str | None = None
        """The commit up to which `_touches` is known."""
        self._touches: dict[str, Mapping[str, str]] = {}
        self._unlisted: frozenset[str] = frozenset()
        """Places with too long a history to list who touched their files."""

    async def shown(self, commit: str, tree: Mapping[str, TreeFile], people: TeamPeople) -> ShownFiles:
        """Return what is shown of a commit. Raises SidecarError."""
        if people != self._people:
            self._foreign, self._people, self._commit = {}, people, None
        places, withheld = _places(tree, people)
        await self._follow(commit, people)
        for path in [
            path for path, place in places.items() if history_places(place.person)[not place.is_log] in self._unlisted
        ]:
            withheld[path] = TOO_OFTEN.format(places.pop(path).person)
        foreign = await self._foreign_lines(commit, {path: tree[path] for path in places}, people)
        blobs = await self._repository.blobs(tree[path].blob for path in foreign)
        files = dict[str, ShownFile]()
        for path, place in places.items():
            if path not in foreign:
                withheld[path] = LATER
                continue
            text, why = _shown_text(blobs[tree[path].blob], place, foreign[path])
            if why:
                withheld[path] = why
            if text:
                files[path] = ShownFile(place, text.encode("utf-8", "replace"))
        return ShownFiles(files, withheld_sentences(withheld), LATER not in withheld.values())

    async def _follow(self, commit: str, people: TeamPeople) -> None:
        """Read who touched which file up to a commit. Raises SidecarError."""
        if commit == self._commit:
            return
        since = self._commit
        if since is not None and not await self._repository.is_ancestor(since, commit):
            since = None
        everywhere = [place for person in people.people for place in history_places(person)]
        new, unlisted = dict[str, Mapping[str, str]](), set(self._unlisted if since else ())
        try:
            new |= await self._repository.touches(commit, since, everywhere)
        except OutputTooLargeError:
            # list each place separately, so that a long history affects only its own person
            for place in everywhere:
                try:
                    new |= await self._repository.touches(commit, since, [place])
                except OutputTooLargeError:
                    unlisted.add(place)
        old = self._touches if since else {}
        self._touches = dict(old)
        # the newest first
        for path, touched in new.items():
            self._touches[path] = {**touched, **{m: b for m, b in old.get(path, {}).items() if m not in touched}}
        self._unlisted, self._commit = frozenset(unlisted), commit

    async def _foreign_lines(
        self, commit: str, files: Mapping[str, TreeFile], people: TeamPeople
    ) -> dict[str, frozenset[int]]:
        """Return the lines of each file that are not by its person. Files that must wait are left out."""
        foreign, begun = dict[str, frozenset[int]](), time.monotonic()
        known = dict[tuple[str, str, str], frozenset[int]]()
        for path, file in files.items():
            place, touched = shared_file(path), self._touches.get(path, {})
            assert place is not None
            left = next((blob for mail, blob in touched.items() if people.has_address(place.person, mail)), "")
            key = (path, file.blob, left)
            if left == file.blob and (
                not place.is_log or all(people.has_address(place.person, mail) for mail in touched)
            ):
                foreign[path] = frozenset()
            elif not place.is_log or not left or file.size > MAX_BLAMED_BYTES:
                foreign[path] = _ALL
            elif key in self._foreign:
                foreign[path] = known[key] = self._foreign[key]
            elif time.monotonic() - begun < ALL_BLAME_SECONDS:
                foreign[path] = known[key] = await self._blame(commit, path, file.blob, left, people)
        self._foreign = known
        return foreign

    async def _blame(self, commit: str, path: str, blob: str, left: str, people: TeamPeople) -> frozenset[int]:
        """Return the lines of a log that are not by its person; all lines if git fails."""
        place = shared_file(path)
        try:
            if place is None or await self._repository.size(left) > MAX_FILE_BYTES:
                return _ALL
            mails = await self._repository.blame(commit, path, BLAME_SECONDS)
            texts = await self._repository.blobs([blob, left] if left.strip("0") else [blob])
        except SidecarError:
            return _ALL
        text, own = [texts.get(version, b"").decode("utf-8", "replace") for version in (blob, left)]
        foreign = {at for at, mail in enumerate(mails, 1) if not people.has_address(place.person, mail)}
        return _hidden_lines(path, text, own, foreign)


def _hidden_lines(path: str, text: str, own: str, foreign: Set[int]) -> frozenset[int]:
    """Return the lines of a log to be hidden.

    These are lines that others wrote, lines missing in the person's last version `own`, and all lines of a memory that
    has such a line or is not complete in that version.
    """
    lines, own_lines = text.split("\n"), own.split("\n")
    hidden = set(foreign) | {at for at, line in enumerate(lines, 1) if line and line not in own_lines}
    own_memories = {"\n".join(own_lines[memory.start_line - 1 : memory.end_line]) for memory in lines_of(own, path)}
    for memory in lines_of(text, path):
        span = range(memory.start_line, memory.end_line + 1)
        memory_text = "\n".join(lines[memory.start_line - 1 : memory.end_line])
        if not hidden.isdisjoint(span) or memory_text not in own_memories:
            hidden |= set(span)
    return frozenset(hidden)


def _places(tree: Mapping[str, TreeFile], people: TeamPeople) -> tuple[dict[str, SharedPath], dict[str, str]]:
    """Return the places of files that may be shown, and the reasons for the others; both by path."""
    places, withheld = dict[str, SharedPath](), dict[str, str]()
    files, total = Counter[str](), Counter[str]()
    for path, file in tree.items():
        if path == TEAM_FILE:
            continue
        place = shared_file(path)
        if place is None:
            withheld[path] = _why_no_place(path, file, people)
        elif why := _why_not(place, file, people):
            withheld[path] = why
        elif files[place.person] >= MAX_FILES:
            withheld[path] = TOO_MANY.format(place.person)
        elif total[place.person] + file.size > MAX_PERSON_BYTES:
            withheld[path] = TOO_MUCH.format(place.person)
        else:
            files[place.person] += 1
            total[place.person] += file.size
            places[path] = place
    names = {(place.person, place.shown) for place in places.values()}
    for path, place in list(places.items()):
        parts = place.shown.split("/")
        if any((place.person, RelativePath("/".join(parts[:at]))) in names for at in range(1, len(parts))):
            withheld[path] = BELOW_A_FILE
            del places[path]
    return places, withheld


def _why_no_place(path: str, file: TreeFile, people: TeamPeople) -> str:
    person = path.removeprefix(NOTES)
    is_crowded = file.is_folder and path != person and person in people.people
    return TOO_MANY.format(person) if is_crowded else NO_PLACE


def _why_not(place: SharedPath, file: TreeFile, people: TeamPeople) -> str:
    if file.mode != REGULAR:
        return NO_FILE
    if place.person not in people.people:
        return UNKNOWN_PERSON.format(place.person)
    if place.person in RESERVED:
        return NO_PERSON.format(place.person)
    return TOO_LARGE if file.size > MAX_FILE_BYTES else ""


def _shown_text(data: bytes, place: SharedPath, foreign: Collection[int]) -> tuple[str, str]:
    """Return the shown part of a text, and the reason if something is hidden; either may be empty."""
    text, note = decode(data)
    if note:
        # decoding could change the line numbers, which git counts by bytes
        return "", NO_TEXT
    if is_unmerged(text):
        return "", CONFLICT
    if not foreign:
        return text, ""
    if not place.is_log or foreign == _ALL:
        return "", FOREIGN_NOTE.format(place.person)
    return blank_lines(text, foreign), FOREIGN_LINES.format(len(foreign), place.person)


def withheld_sentences(withheld: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for each file that is not completely shown, up to `MAX_REPORTED`, and the number of others."""
    sentences = [f"{path.encode('utf-8', 'replace').decode()!r}: {why}" for path, why in sorted(withheld.items())]
    more = len(sentences) - MAX_REPORTED
    return (*sentences[:MAX_REPORTED], *([f"{more:,} more files are not shown, or not whole"] if more > 0 else ()))


CROWDED = "{} shares more than {:,} memories: the newest are shown, and logs of the days before are not: {:,}"
UNWRITTEN = "{!r}: it cannot be written here: {}"
_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE)
"""Errors of the disk, which do not concern a single file only."""

FileMark = tuple[int, int, int, int]
"""Inode, size, modification and change time in ns; programs cannot set the change time."""


class TeamView:
    """Keeps a folder equal to the shown files. All methods block.

    The folder can be deleted at any time and is written again. Each file is replaced atomically, so that a reader sees
    the old or the new version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unwritten: tuple[str, ...] = ()
        """Files that were not written the last time, with the reason, such as a name too long for the disk."""
        self.files: Mapping[str, int] = {}
        """Number of shown files of each person."""
        self._known: dict[str, tuple[bytes, FileMark]] = {}
        """The bytes of each written file, and its mark, by which a change is detected."""

    def of_others(self, person: str) -> dict[tuple[str, str], tuple[bytes, bytes]]:
        """Return digest and bytes of each shown file of other people, by person and path on the server."""
        files = dict[tuple[str, str], tuple[bytes, bytes]]()
        for path, data in files_below(self.folder).items():
            name, _, shown = path.partition("/")
            if name != person and (place := file_shown_as(name, shown)) is not None:
                files[name, place] = sha256(data).digest(), data
        return files

    def write(self, shown: ShownFiles) -> bool:
        """Write changed files and remove those that are no longer shown. Return whether anything has changed.

        Raises SidecarError.
        """
        files, crowded = _within_limit(list(shown.files.values()))
        self.files = Counter(file.place.person for file in files)
        wanted = {f"{file.place.person}/{file.place.shown}": file.data for file in files}
        try:
            make_private_folder(self.folder)
            marks, has_changed = self._remove_others(wanted)
            unwritten, known = list[str](), self._known
            self._known = {}
            for path, data in wanted.items():
                mark = marks.get(path)
                if mark is not None and known.get(path) == (data, mark):
                    self._known[path] = data, mark
                    continue
                try:
                    has_changed |= self._write_file(self.folder / path, data)
                    self._known[path] = data, _mark(os.lstat(self.folder / path))
                except (OSError, ValueError) as exc:
                    if getattr(exc, "errno", 0) in _OF_THE_DISK:
                        raise
                    why = exc.strerror if isinstance(exc, OSError) else exc
                    unwritten.append(UNWRITTEN.format(path.encode("utf-8", "replace").decode(), why))
            self.unwritten = (*crowded, *unwritten)
        except OSError as exc:
            raise SidecarError(f"the notes of the team cannot be written: {exc}") from exc
        return has_changed

    def _write_file(self, path: Path, data: bytes) -> bool:
        try:
            if path.read_bytes() == data:
                return False
        except (FileNotFoundError, NotADirectoryError):
            for folder in reversed(path.relative_to(self.folder).parents):
                make_private_folder(self.folder / folder)
        replace_file(path, data)
        return True

    def _remove_others(self, wanted: Mapping[str, bytes]) -> tuple[dict[str, FileMark], bool]:
        """Remove unwanted files, including those in the place of a wanted folder, and empty folders.

        Return the marks of the remaining files, and whether anything was removed.
        """
        marks, folders, has_changed = dict[str, FileMark](), [""], False
        for prefix in folders:
            with os.scandir(self.folder / prefix) as entries:
                for entry in entries:
                    path = prefix + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{path}/")
                    elif path in wanted and not entry.is_symlink():
                        marks[path] = _mark(entry.stat(follow_symlinks=False))
                    else:
                        Path(entry.path).unlink(missing_ok=True)
                        has_changed = True
        for prefix in reversed(folders[1:]):
            # fails for a folder that is not empty, which stays
            with contextlib.suppress(OSError):
                (self.folder / prefix).rmdir()
        return marks, has_changed


def _mark(stat: os.stat_result) -> FileMark:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _within_limit(files: Sequence[ShownFile]) -> tuple[list[ShownFile], list[str]]:
    """Drop the oldest logs of people who share more than `MAX_MEMORIES`. Return the others, and a sentence for each."""
    memories, left_out = Counter[str](), Counter[str]()
    shown = [file for file in files if not file.place.is_log]
    logs = [file for file in files if file.place.is_log]
    for log in sorted(logs, key=lambda log: log.place.shown, reverse=True):
        memories[log.place.person] += log.data.count(b"\n- ")
        if memories[log.place.person] > MAX_MEMORIES:
            left_out[log.place.person] += 1
        else:
            shown.append(log)
    return shown, [CROWDED.format(person, MAX_MEMORIES, count) for person, count in sorted(left_out.items())]

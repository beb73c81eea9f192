"""Whose the lines of a team's files are, and the files that are indexed: a folder for each person.

The file says a person, and git says who wrote.

A note is shown as that person left it last, or not at all. Of a log into which others wrote, those memories are shown
that are the person's by `git blame`, and are whole in the log as the person left it last: so a line that was taken back
and is in the log again, or of which somebody took a part, is not shown. Git believes the address that an author gives;
whoever may push can give any. So this finds mistakes and plain forgeries, and a team that fears more lets its server
check signatures.
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
    file_shown_as,
    is_unmerged,
    lines_of,
    only_lines,
    shared_file,
)
from memoryd.errors import SidecarError
from memoryd.files.reading import decode
from memoryd.files.writing import make_private_folder, replace_file
from memoryd.team.git import OutputTooLargeError
from memoryd.team.own_files import files_below
from memoryd.team.repository import NOTES, REGULAR, TeamRepository, TreeFile, history_places

MAX_TOLD = 20
"""Files that are withheld of which it is told one by one."""
MAX_PERSON_BYTES = 16 * 1024 * 1024
"""Of all files of a person that are shown."""
MAX_BLAMED_BYTES = 128 * 1024
"""Of a log that git is asked about line by line."""
BLAME_SECONDS = 2.0
"""How long it is asked about one log."""
ALL_BLAME_SECONDS = 3.0
"""How long at one time it is asked about one more; the others wait for the next."""
NO_PLACE = "it is neither a log nor a note of a person"
NO_FILE = "it is no plain file"
NO_TEXT = "it is no text in UTF-8"
TOO_LARGE = f"it has more than {MAX_FILE_BYTES:,} bytes"
TOO_MUCH = f"{{}} shares more than {MAX_PERSON_BYTES:,} bytes"
TOO_MANY = f"{{}} shares more than {MAX_FILES:,} files"
TOO_OFTEN = "who wrote the files of {} cannot be looked up: their history is too long"
BELOW_A_FILE = "another file has the name of its folder"
NOBODY = f"{TEAM_FILE} names nobody called {{}}"
NO_PERSON = "nobody may be called {}, which means something else in citations"
FOREIGN_LINES = "{} of its lines were not written by {}"
FOREIGN_NOTE = "somebody else than {} wrote into it"
LATER = "who wrote it is looked up with the next files"
_ALL = frozenset({0})
"""Stands for every line."""


class ShownFile(Struct, frozen=True):
    """A file as it is to be shown."""

    place: SharedPath
    data: bytes


class ShownFiles(Struct, frozen=True):
    """What of a repository is shown, by its path there, and what is not."""

    files: Mapping[str, ShownFile] = {}
    withheld: tuple[str, ...] = ()
    is_whole: bool = True
    """Whether nothing is left that waits until it is known who wrote it."""


class Attribution:
    """Decides what of a commit is shown, and remembers of each file and its bytes whose lines they are."""

    def __init__(self, repository: TeamRepository) -> None:
        self._repository = repository
        self._foreign: dict[tuple[str, str, str], frozenset[int]] = {}
        """By path, blob and the blob as its person left it: the lines that are not theirs, from 1."""
        self._people: TeamPeople | None = None
        self._commit: str | None = None
        """Up to which it is known who touched what."""
        self._touches: dict[str, Mapping[str, str]] = {}
        self._unlisted: frozenset[str] = frozenset()
        """Places of whose files nobody knows who touched them."""

    async def shown(self, commit: str, tree: Mapping[str, TreeFile], people: TeamPeople) -> ShownFiles:
        """Return what of a commit is shown; raises SidecarError."""
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
        return ShownFiles(files, told(withheld), LATER not in withheld.values())

    async def _follow(self, commit: str, people: TeamPeople) -> None:
        """Learn who touched what up to a commit; raises SidecarError."""
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
            # whoever has the long history, it is the others' no more
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
        """Return of each file the lines that are not of its person; those that must wait are left out."""
        found, known, begun = (
            dict[str, frozenset[int]](),
            dict[tuple[str, str, str], frozenset[int]](),
            time.monotonic(),
        )
        for path, file in files.items():
            place, touched = shared_file(path), self._touches.get(path, {})
            assert place is not None
            left = next((blob for mail, blob in touched.items() if people.wrote(place.person, mail)), "")
            key = (path, file.blob, left)
            if left == file.blob and (not place.is_log or all(people.wrote(place.person, mail) for mail in touched)):
                found[path] = frozenset()
            elif not place.is_log or not left or file.size > MAX_BLAMED_BYTES:
                found[path] = _ALL
            elif key in self._foreign:
                found[path] = known[key] = self._foreign[key]
            elif time.monotonic() - begun < ALL_BLAME_SECONDS:
                found[path] = known[key] = await self._blamed(commit, path, file.blob, left, people)
        self._foreign = known
        return found

    async def _blamed(self, commit: str, path: str, blob: str, left: str, people: TeamPeople) -> frozenset[int]:
        """Return the lines of a log that are not of its person; all of them where git cannot say."""
        place = shared_file(path)
        try:
            if place is None or await self._repository.size(left) > MAX_FILE_BYTES:
                return _ALL
            mails = await self._repository.blame(commit, path, BLAME_SECONDS)
            texts = await self._repository.blobs([blob, left] if left.strip("0") else [blob])
        except SidecarError:
            return _ALL
        text, own = [texts.get(one, b"").decode("utf-8", "replace") for one in (blob, left)]
        foreign = {at for at, mail in enumerate(mails, 1) if not people.wrote(place.person, mail)}
        return _not_theirs(path, text, own, foreign)


def _not_theirs(path: str, text: str, own: str, foreign: Set[int]) -> frozenset[int]:
    """Return the lines of a log that others wrote, that its person's own does not hold, or of a memory with such."""
    lines, kept = text.split("\n"), own.split("\n")
    others = set(foreign) | {at for at, line in enumerate(lines, 1) if line and line not in kept}
    whole = {"\n".join(kept[one.start_line - 1 : one.end_line]) for one in lines_of(own, path)}
    for one in lines_of(text, path):
        span = range(one.start_line, one.end_line + 1)
        if not others.isdisjoint(span) or "\n".join(lines[one.start_line - 1 : one.end_line]) not in whole:
            others |= set(span)
    return frozenset(others)


def _places(tree: Mapping[str, TreeFile], people: TeamPeople) -> tuple[dict[str, SharedPath], dict[str, str]]:
    """Return the files that may be shown, and why the others are not; both by their paths."""
    places, withheld = dict[str, SharedPath](), dict[str, str]()
    files, total = Counter[str](), Counter[str]()
    for path, file in tree.items():
        place = shared_file(path)
        if place is None or (why := _why_not(place, file, people)):
            withheld |= {} if path == TEAM_FILE else {path: _why_no_place(path, file, people) if place is None else why}
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
        return NOBODY.format(place.person)
    if place.person in RESERVED:
        return NO_PERSON.format(place.person)
    return TOO_LARGE if file.size > MAX_FILE_BYTES else ""


def _shown_text(data: bytes, place: SharedPath, foreign: Collection[int]) -> tuple[str, str]:
    """Return what of a text is shown, empty if nothing, and why something is not."""
    text, note = decode(data)
    if note:
        # git counts the lines of bytes
        return "", NO_TEXT
    if is_unmerged(text):
        return "", CONFLICT
    if not foreign:
        return text, ""
    if not place.is_log or foreign == _ALL:
        return "", FOREIGN_NOTE.format(place.person)
    return only_lines(text, foreign), FOREIGN_LINES.format(len(foreign), place.person)


def told(withheld: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for each file that is not shown, or not all of it; of many the first ones."""
    shown = [f"{path.encode('utf-8', 'replace').decode()!r}: {why}" for path, why in sorted(withheld.items())]
    more = len(shown) - MAX_TOLD
    return (*shown[:MAX_TOLD], *([f"{more:,} more files are not shown, or not whole"] if more > 0 else ()))


CROWDED = "{} shares more than {:,} memories: the newest are shown, and logs of the days before are not: {:,}"
UNWRITTEN = "{!r}: it cannot be written here: {}"
_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE)
"""No fault of the one file that could not be written."""

FileMark = tuple[int, int, int, int]
"""Inode, size, and the nanoseconds of both times; nobody sets the last one back."""


class TeamView:
    """Keeps one folder equal to what is shown; all of it blocks.

    The folder can be deleted at any time and is made again. It is written file by file, so that a reader sees each as
    it was or as it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unwritten: tuple[str, ...] = ()
        """What was not written the last time, such as a name that is too long for the disk, and why."""
        self.files: Mapping[str, int] = {}
        """How many files of each person are shown."""
        self._known: dict[str, tuple[bytes, FileMark]] = {}
        """Of each file its bytes, and by what it is known that they are still those."""

    def of_others(self, person: str) -> dict[tuple[str, str], tuple[bytes, bytes]]:
        """Return the digest and the bytes of what is shown of others, by person and path, as the server named it."""
        found = dict[tuple[str, str], tuple[bytes, bytes]]()
        for path, data in files_below(self.folder).items():
            name, _, shown = path.partition("/")
            if name != person and (place := file_shown_as(name, shown)) is not None:
                found[name, place] = sha256(data).digest(), data
        return found

    def write(self, shown: ShownFiles) -> bool:
        """Write what is other than before, remove what is shown no more, and return whether anything was.

        Raises SidecarError.
        """
        files, crowded = _without_crowds(list(shown.files.values()))
        self.files = Counter(one.place.person for one in files)
        wanted = {f"{one.place.person}/{one.place.shown}": one.data for one in files}
        try:
            make_private_folder(self.folder)
            marks, is_other = self._remove_others(wanted)
            unwritten, known = list[str](), self._known
            self._known = {}
            for path, data in wanted.items():
                mark = marks.get(path)
                if mark is not None and known.get(path) == (data, mark):
                    self._known[path] = data, mark
                    continue
                try:
                    is_other |= self._write_one(self.folder / path, data)
                    self._known[path] = data, _mark(os.lstat(self.folder / path))
                except (OSError, ValueError) as exc:
                    if getattr(exc, "errno", 0) in _OF_THE_DISK:
                        raise
                    why = exc.strerror if isinstance(exc, OSError) else exc
                    unwritten.append(UNWRITTEN.format(path.encode("utf-8", "replace").decode(), why))
            self.unwritten = (*crowded, *unwritten)
        except OSError as exc:
            raise SidecarError(f"the notes of the team cannot be written: {exc}") from exc
        return is_other

    def _write_one(self, path: Path, data: bytes) -> bool:
        try:
            if path.read_bytes() == data:
                return False
        except (FileNotFoundError, NotADirectoryError):
            for folder in reversed(path.relative_to(self.folder).parents):
                make_private_folder(self.folder / folder)
        replace_file(path, data)
        return True

    def _remove_others(self, wanted: Mapping[str, bytes]) -> tuple[dict[str, FileMark], bool]:
        """Remove files that are not wanted, what stands in the place of a wanted folder, and empty folders.

        Return what is left, and whether anything was removed.
        """
        marks, folders, is_other = dict[str, FileMark](), [""], False
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
                        is_other = True
        for prefix in reversed(folders[1:]):
            # one that holds something stays
            with contextlib.suppress(OSError):
                (self.folder / prefix).rmdir()
        return marks, is_other


def _mark(stat: os.stat_result) -> FileMark:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _without_crowds(files: Sequence[ShownFile]) -> tuple[list[ShownFile], list[str]]:
    """Return files without the oldest logs of who shares more memories than anybody may, and a sentence of each."""
    memories, left_out = Counter[str](), Counter[str]()
    shown = [one for one in files if not one.place.is_log]
    for one in sorted((one for one in files if one.place.is_log), key=lambda one: one.place.shown, reverse=True):
        memories[one.place.person] += one.data.count(b"\n- ")
        if memories[one.place.person] > MAX_MEMORIES:
            left_out[one.place.person] += 1
        else:
            shown.append(one)
    return shown, [CROWDED.format(person, MAX_MEMORIES, logs) for person, logs in sorted(left_out.items())]

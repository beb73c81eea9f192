"""Whose the lines of a team's files are: the file says a person, and git says who wrote each line.

A line that somebody else wrote into the file of a person is not shown as theirs; a note that others wrote into is not
shown at all, since a part of it may say something else. Git believes the address that an author gives; whoever may push
can give any. So this finds mistakes and plain forgeries, and a team that fears more lets its server check signatures.
"""

from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct, field

from memoryd.domain.memories.sharing import (
    CONFLICT,
    MAX_FILE_BYTES,
    TEAM_FILE,
    SharedPath,
    TeamPeople,
    is_unmerged,
    only_lines,
    shared_file,
)
from memoryd.errors import SidecarError
from memoryd.files.reading import decode
from memoryd.team.repository import REGULAR, Authors, TeamRepository, TreeFile

MAX_TOLD: Final = 20
"""Files that are withheld of which it is told one by one."""
MAX_TOTAL_BYTES: Final = 64 * 1024 * 1024
"""Of all files that are shown."""
MAX_BLAMED: Final = 200
"""Files that git is asked about line by line at one time; the others wait for the next."""
NO_PLACE: Final = "it is neither a log nor a note of a person"
NO_FILE: Final = "it is no plain file"
NO_TEXT: Final = "it is no text in UTF-8"
TOO_LARGE: Final = f"it has more than {MAX_FILE_BYTES:,} bytes"
NOBODY: Final = f"{TEAM_FILE} names nobody called {{}}"
FOREIGN_LINES: Final = "{} of its lines were not written by {}"
FOREIGN_NOTE: Final = "somebody else than {} wrote into it"
LATER: Final = "who wrote it is looked up with the next files"


class ShownFile(Struct, frozen=True):
    """A file as it is to be shown."""

    place: SharedPath
    data: bytes


class ShownFiles(Struct, frozen=True):
    """What of a repository is shown, by its path there, and what is not."""

    files: Mapping[str, ShownFile] = field(default_factory=dict)
    withheld: tuple[str, ...] = ()


class Attribution:
    """Decides what of a commit is shown, and remembers of each file and its bytes whose lines they are."""

    def __init__(self, repository: TeamRepository) -> None:
        self._repository = repository
        self._foreign: dict[tuple[str, str], frozenset[int]] = {}
        """By path and blob: the lines that others wrote, from 1."""
        self._people: TeamPeople | None = None

    async def shown(self, commit: str, tree: Mapping[str, TreeFile], people: TeamPeople) -> ShownFiles:
        """Return what of a commit is shown; raises SidecarError."""
        if people != self._people:
            self._foreign, self._people = {}, people
        places, withheld = _places(tree, people)
        foreign = await self._foreign_lines(commit, {path: tree[path].blob for path in places}, people)
        self._foreign = {(path, tree[path].blob): lines for path, lines in foreign.items()}
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
        return ShownFiles(files, told(withheld))

    async def _foreign_lines(
        self, commit: str, blobs: Mapping[str, str], people: TeamPeople
    ) -> dict[str, frozenset[int]]:
        """Return of each file the lines that are not of its person; those that must wait are left out."""
        known = {path: self._foreign[path, blob] for path, blob in blobs.items() if (path, blob) in self._foreign}
        fresh = [path for path in blobs if path not in known]
        if not fresh:
            return known
        authors, blamed = await self._repository.authors(commit), 0
        for path in fresh:
            place = shared_file(path)
            person = place.person if place else ""
            mails = authors.by_path.get(path, frozenset())
            if mails and all(people.wrote(person, mail) for mail in mails):
                # nobody else ever touched it
                known[path] = frozenset()
            elif blamed < MAX_BLAMED:
                blamed += 1
                known[path] = await self._blamed(commit, path, person, authors, people)
        return known

    async def _blamed(
        self, commit: str, path: str, person: str, authors: Authors, people: TeamPeople
    ) -> frozenset[int]:
        """Return the lines that git says somebody else wrote; all of them where it cannot say."""
        try:
            commits = await self._repository.blame(commit, path)
        except SidecarError:
            return _ALL
        lines = enumerate(commits, 1)
        return frozenset(at for at, one in lines if not people.wrote(person, authors.by_commit.get(one, "")))


_ALL: Final = frozenset({0})
"""Stands for every line."""


def _places(tree: Mapping[str, TreeFile], people: TeamPeople) -> tuple[dict[str, SharedPath], dict[str, str]]:
    """Return the files that may be shown, and why the others are not; both by their paths."""
    places, withheld, total = dict[str, SharedPath](), dict[str, str](), 0
    for path, file in tree.items():
        if path == TEAM_FILE:
            continue
        place = shared_file(path)
        total += file.size
        if place is None:
            withheld[path] = NO_PLACE
        elif file.mode != REGULAR:
            withheld[path] = NO_FILE
        elif place.person not in people.people:
            withheld[path] = NOBODY.format(place.person)
        elif file.size > MAX_FILE_BYTES or total > MAX_TOTAL_BYTES:
            withheld[path] = TOO_LARGE
        else:
            places[path] = place
    return places, withheld


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

"""Sharing with a team: what may be shared, its place in the team's repository, and merging of two states.

    team.json                          the members of the team, and the e-mail addresses of each person
    memory/<date>-<person>.md          the memories that a person promoted, by the day on which each was recorded
    notes/<person>/memory/<path>       notes that a person shares by their path

Each file has one writer, so that changes of different people never conflict. Changes of one person on two machines are
merged by memories, not by lines of text.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import PERSON, PERSON_CHARS, RelativePath, person_of
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.edits import NoPlaceError, add_memories, with_lines
from memoryd.domain.memories.kinds import GLOBAL, TEAM, MemoryId, ShortId, short_id
from memoryd.domain.memories.line import OF_SESSION, Attributes, RetainedLine, render
from memoryd.domain.memories.sections import PAGES, PlacedLine, is_daily_log, memory_sections, scoped_spans
from memoryd.domain.redaction import secrets_in
from memoryd.domain.text.lines import encode_padded

TEAM_FILE = "team.json"
MAX_FILES = 20_000
"""Files of a person; if there are more, all are refused."""
MAX_FILE_BYTES = 1 << 20
MAX_MEMORIES = 50_000
"""Memories of a person; of more, only the newest are shown to others."""
MAX_PEOPLE = 500
_LOG = expression(rf"memory/(?P<day>\d{{4}}-\d{{2}}-\d{{2}})-(?P<person>{PERSON})\.md")
_SHOWN_LOG = expression(r"memory/(?P<day>\d{4}-\d{2}-\d{2})\.md")
_NOTE = expression(rf"notes/(?P<person>{PERSON})/(?P<path>memory/.+\.md)")
_NAME = expression(PERSON)
_MAIL = expression(r"[^\s<>@\x00-\x1f]{1,128}@[^\s<>@\x00-\x1f]{1,128}")
_UNSHOWN = expression(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\\:]")
_CONFLICT = expression(r"(?m)^(?:<{7}|>{7})(?: |$)")
_MAX_PATH = 240
"""Characters."""

SEVERAL_SCOPES = "its scope is {}: only what is for the whole workspace, or for this agent, is shared"
A_COLLEAGUES = "it is a colleague's already"
A_SECRET = "it holds what looks like a secret"
REPLACED = "it was replaced: promote what holds now"
A_LOG = "a daily log is not shared by its path: promote its memories one by one"
SCOPED_LINES = "it states memories that are not for the whole workspace"
NO_NAME = "only notes below memory/ with plain and short names are shared"
TOO_LARGE = "it is larger than a shared note may be"
CONFLICT = "it holds the marks of a merge that was not finished"


class SharedPath(Struct, frozen=True):
    """The owner of a file in the repository, and its path below the folder where others see it."""

    person: str
    shown: RelativePath
    is_log: bool


def shared_file(path: str) -> SharedPath | None:
    """Return the owner and shown path of a repository file; None if it is no log and no note of a person."""
    if len(path) > _MAX_PATH or _UNSHOWN.search(path):
        return None
    if log := _LOG.fullmatch(path):
        shown = RelativePath(f"memory/{log['day']}.md")
        return SharedPath(log["person"], shown, True) if _is_day(log["day"]) else None
    note = _NOTE.fullmatch(path)
    if note is None or not _is_plain(note["path"]) or is_daily_log(note["path"]):
        return None
    return SharedPath(note["person"], RelativePath(note["path"]), False)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def file_shown_as(person: str, shown: str) -> str | None:
    """Return the repository path of a file that is shown at a path below a person's folder; None if it is invalid."""
    day = _SHOWN_LOG.fullmatch(shown)
    path = f"memory/{day['day']}-{person}.md" if day else note_path(person, shown)
    return path if shared_file(path) is not None else None


def _is_plain(path: str) -> bool:
    """Return whether no part of a path is empty, hidden, or leads to another folder."""
    return all(part and not part.startswith(".") and part == part.strip() for part in path.split("/"))


def log_path(person: str, day: date) -> str:
    """Return the path of a person's promoted memories of a day."""
    return f"memory/{day.isoformat()}-{person}.md"


def note_path(person: str, path: str) -> str:
    """Return the path of a note that a person shares."""
    return f"notes/{person}/{path}"


def shown_log(path: str) -> RelativePath:
    """Return the path under which a log is parsed: that of a daily log."""
    place = shared_file(path)
    assert place is not None
    return place.shown


def lines_of(text: str, path: str) -> tuple[PlacedLine, ...]:
    """Return the memories in a log of the repository."""
    return memory_sections(encode_padded(text), shown_log(path)).lines


def is_unmerged(text: str) -> bool:
    """Return whether a text has conflict marks of git."""
    return _CONFLICT.search(text) is not None


def why_not_promoted(memory: Memory, agent: str) -> str:
    """Return why this agent must not share a memory; empty if it may."""
    scope = memory.scope
    if scope == TEAM or any(person_of(source.path) for source in memory.sources):
        return A_COLLEAGUES
    if not _is_shareable(scope, agent):
        return SEVERAL_SCOPES.format(scope)
    return A_SECRET if secrets_in(render(memory.line)) else ""


def shareable_ids(book: Book, agent: str) -> set[MemoryId]:
    """Return the ids, as shared, of this agent's own valid memories that may be shared; secrets are not checked.

    A memory that only looks like an older version is valid unless a line says otherwise: nothing is withdrawn by a
    guess.
    """
    own, older = book.own.memories.values(), superseded_in(book)
    return {promoted(memory.line).id for memory in own if memory.id not in older and _is_shareable(memory.scope, agent)}


def superseded_in(book: Book) -> set[MemoryId | None]:
    """Return the own memories that a line declares to be superseded."""
    marked = [book.own.memories[memory_id] for memory_id in book.marked & book.own.memories.keys()]
    named = {book.of_short(name) for memory in marked for name in memory.line.attributes.supersedes}
    return named | {memory.id for memory in marked if memory.line.attributes.superseded}


def _is_shareable(scope: str, agent: str) -> bool:
    return scope in ("", GLOBAL, f"agent:{agent}")


def why_not_shared(path: str, text: str) -> str:
    """Return why a note must not be shared by its path; empty if it may."""
    if is_daily_log(path):
        return A_LOG
    # must be valid for any person's name, whose length is limited
    if shared_file(note_path("a" * PERSON_CHARS, path)) is None:
        return NO_NAME
    if len(text.encode("utf-8", "surrogatepass")) > MAX_FILE_BYTES:
        return TOO_LARGE
    if secrets_in(path) or secrets_in(text):
        return A_SECRET
    if is_unmerged(text):
        return CONFLICT
    # covers also prose below the head of a scoped item
    scopes = {span.scope for span in scoped_spans(encode_padded(text), default=PAGES.get(RelativePath(path)))}
    return SCOPED_LINES if scopes - {"", GLOBAL} else ""


def promoted(line: RetainedLine, supersedes: Iterable[ShortId] = ()) -> RetainedLine:
    """Return a memory in its shared form: without scope, pin and session tags, referencing shared memories only."""
    own = line.attributes
    attributes = Attributes(
        confidence=own.confidence,
        importance=own.importance,
        at=own.at,
        provenance=own.provenance,
        tags=tuple(tag for tag in own.tags if not tag.startswith(OF_SESSION)),
        supersedes=tuple(dict.fromkeys(supersedes)),
    )
    return replace(line, attributes=attributes)


def shared_names(line: RetainedLine, book: Book, shared: Collection[MemoryId]) -> list[ShortId]:
    """Return the shared memories that a memory supersedes, by their short ids as shared."""
    known = (book.of_short(short) for short in line.attributes.supersedes)
    ids = (promoted(book.memories[memory].line).id for memory in known if memory is not None)
    return [short_id(memory) for memory in ids if memory in shared]


def with_promoted(text: str, path: str, lines: Iterable[RetainedLine]) -> str:
    """Return a log with memories added that it does not state already; raise NoPlaceError."""
    return add_memories(text, shown_log(path), list(lines)).text


def without_memories(text: str, path: str, ids: Collection[MemoryId]) -> str:
    """Return a log without these memories, empty if it would state none; raise NoPlaceError."""
    remaining = with_lines(text, shown_log(path), lambda line: None if line.id in ids else line)
    return remaining if lines_of(remaining, path) else ""


def merged_log(path: str, before: str, ours: str, theirs: str) -> str:
    """Return their version of a log with our additions and removals since the base version; raise NoPlaceError.

    NoPlaceError is also raised for a text with conflict marks, whose memories are undefined.
    """
    if is_unmerged(theirs):
        raise NoPlaceError(f"{path}: {CONFLICT}")
    base = {placed.line.id for placed in lines_of(before, path)}
    own = [placed.line for placed in lines_of(ours, path)]
    added = [line for line in own if line.id not in base]
    removed = base - {line.id for line in own}
    remaining = without_memories(theirs, path, removed) if removed else theirs
    return with_promoted(remaining, path, added) if added else remaining


def blank_lines(text: str, foreign: Collection[int]) -> str:
    """Return a log with its foreign lines (from 1) blanked; the numbers of the others do not change."""
    lines = text.split("\n")
    return "\n".join("" if number in foreign else line for number, line in enumerate(lines, 1))


class TeamPeople(Struct, frozen=True):
    """A team: its name, and the e-mail addresses of each member in git."""

    name: str
    people: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, data: bytes) -> "TeamPeople":
        """Return the team in `team.json`; raise ValueError if it is invalid."""
        try:
            content = json.loads(data.decode("utf-8"))
            name, people = content["name"], content["people"]
            members = {str(person): tuple(map(str, mails)) for person, mails in people.items()}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
            raise ValueError(f"{TEAM_FILE} is not the file of a team") from exc
        mails = [mail for addresses in members.values() for mail in addresses]
        if not isinstance(name, str) or not _NAME.fullmatch(name) or len(members) > MAX_PEOPLE:
            raise ValueError(f"{TEAM_FILE} names no team")
        if not all(map(_NAME.fullmatch, members)) or not all(map(_MAIL.fullmatch, mails)):
            raise ValueError(f"{TEAM_FILE} has a name or an address that cannot be read")
        return cls(name, members)

    def write(self) -> bytes:
        """Return the bytes of `team.json`, the same for the same team."""
        people = {person: sorted(mails) for person, mails in sorted(self.people.items())}
        return f"{json.dumps({'name': self.name, 'people': people}, indent=2, ensure_ascii=False)}\n".encode()

    def with_person(self, person: str, mail: str) -> "TeamPeople":
        """Return the team with a person added, or an address added to a member."""
        mails = dict.fromkeys((*self.people.get(person, ()), mail))
        return replace(self, people={**self.people, person: tuple(mails)})

    def has_address(self, person: str, mail: str) -> bool:
        """Return whether an address belongs to a person."""
        return mail.casefold() in map(str.casefold, self.people.get(person, ()))

"""What may be shared with a team, where it lies in the repository of the team, and how two states of it are merged.

    team.json                          who is in the team, and by which e-mail addresses each person is known
    memory/<date>-<person>.md          the memories that a person promoted, by the day on which each was recorded
    notes/<person>/memory/<path>       notes that a person shares by their path

Each file has one writer, so that what two people write never meets. What one person writes on two machines is merged
by memories, and not by lines of text.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import PERSON, PERSON_CHARS, RelativePath, person_of
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.edits import NoPlaceError, retained_in, with_lines
from memoryd.domain.memories.kinds import GLOBAL, TEAM, MemoryId, ShortId, short_id
from memoryd.domain.memories.line import OF_SESSION, Attributes, RetainedLine, render
from memoryd.domain.memories.sections import PAGES, PlacedLine, is_daily_log, memory_sections, scoped_spans
from memoryd.domain.redaction import secrets_in
from memoryd.domain.text.lines import padded

TEAM_FILE = "team.json"
MAX_FILES = 20_000
"""Of a person; more is refused as a whole."""
MAX_FILE_BYTES = 1 << 20
MAX_MEMORIES = 50_000
"""Of a person; of more the newest are shown to the others."""
MAX_PEOPLE = 500
_LOG = expression(rf"memory/(?P<day>\d{{4}}-\d{{2}}-\d{{2}})-(?P<person>{PERSON})\.md")
_SHOWN_LOG = expression(r"memory/(?P<day>\d{4}-\d{2}-\d{2})\.md")
_NOTE = expression(rf"notes/(?P<person>{PERSON})/(?P<path>memory/.+\.md)")
_NAME = expression(PERSON)
_MAIL = expression(r"[^\s<>@\x00-\x1f]{1,128}@[^\s<>@\x00-\x1f]{1,128}")
_UNSHOWN = expression(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\\:]")
_CONFLICT = expression(r"(?m)^(?:<{7}|>{7})(?: |$)")
_MAX_PATH = 240
"""Signs."""

SEVERAL_SCOPES = "its scope is {}: only what is for the whole workspace, or for this agent, is shared"
A_COLLEAGUES = "it is a colleague's already"
A_SECRET = "it holds what looks like a secret"
REPLACED = "it was replaced: promote what holds now"
A_LOG = "a daily log is not shared by its path: promote its memories one by one"
SCOPED_LINES = "it states memories that are for somebody else than the whole workspace"
NO_NAME = "only notes below memory/ with plain and short names are shared"
TOO_LARGE = "it is larger than a shared note may be"
CONFLICT = "it holds the marks of a merge that was not finished"


class SharedPath(Struct, frozen=True):
    """Whose a file of the repository is, and where it is shown below the folder of that person."""

    person: str
    shown: RelativePath
    is_log: bool


def shared_file(path: str) -> SharedPath | None:
    """Read the path of a file of the repository; None for what is no log and no note of a person."""
    if len(path) > _MAX_PATH or _UNSHOWN.search(path):
        return None
    if found := _LOG.fullmatch(path):
        return (
            SharedPath(found["person"], RelativePath(f"memory/{found['day']}.md"), True)
            if _is_day(found["day"])
            else None
        )
    found = _NOTE.fullmatch(path)
    if found is None or not _is_plain(found["path"]) or is_daily_log(found["path"]):
        return None
    return SharedPath(found["person"], RelativePath(found["path"]), False)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def file_shown_as(person: str, shown: str) -> str | None:
    """Return the path of the file that is shown so below the folder of a person; None where none can be."""
    day = _SHOWN_LOG.fullmatch(shown)
    path = f"memory/{day['day']}-{person}.md" if day else note_path(person, shown)
    return path if shared_file(path) is not None else None


def _is_plain(path: str) -> bool:
    """Tell whether no part of a path is empty, hidden, or leads elsewhere."""
    return all(part and not part.startswith(".") and part == part.strip() for part in path.split("/"))


def log_path(person: str, day: date) -> str:
    """Return where the memories of a day lie that a person promoted."""
    return f"memory/{day.isoformat()}-{person}.md"


def note_path(person: str, path: str) -> str:
    """Return where a note lies that a person shares."""
    return f"notes/{person}/{path}"


def shown_log(path: str) -> RelativePath:
    """Return the path by which the lines of a log are read: that of a daily log."""
    place = shared_file(path)
    assert place is not None
    return place.shown


def lines_of(text: str, path: str) -> tuple[PlacedLine, ...]:
    """Return the memories that a log of the repository states."""
    return memory_sections(padded(text), shown_log(path)).lines


def is_unmerged(text: str) -> bool:
    """Tell whether a text holds the marks that git leaves where it could not merge."""
    return _CONFLICT.search(text) is not None


def why_not_promoted(memory: Memory, agent: str) -> str:
    """Return why a memory must not be shared by this agent; empty if it may."""
    scope = memory.scope
    if scope == TEAM or any(person_of(source.path) for source in memory.sources):
        return A_COLLEAGUES
    if not _is_shareable(scope, agent):
        return SEVERAL_SCOPES.format(scope)
    return A_SECRET if secrets_in(render(memory.line)) else ""


def standing(book: Book, agent: str) -> set[MemoryId]:
    """Return the ids under which this agent's own memories may be shared that hold, secrets not looked for.

    What looks like an older version holds as long as no line says so: it is not taken from others by a guess.
    """
    own, older = book.own.memories.values(), replaced_in(book)
    return {promoted(memory.line).id for memory in own if memory.id not in older and _is_shareable(memory.scope, agent)}


def replaced_in(book: Book) -> set[MemoryId | None]:
    """Return the own memories of which a line says that another one took their place."""
    marked = [book.own.memories[one] for one in book.marked & book.own.memories.keys()]
    named = {book.of_short(name) for memory in marked for name in memory.line.attributes.supersedes}
    return named | {memory.id for memory in marked if memory.line.attributes.superseded}


def _is_shareable(scope: str, agent: str) -> bool:
    return scope in ("", GLOBAL, f"agent:{agent}")


def why_not_shared(path: str, text: str) -> str:
    """Return why a note must not be shared by its path; empty if it may."""
    if is_daily_log(path):
        return A_LOG
    # whoever shares it: a name has at most so many signs
    if shared_file(note_path("a" * PERSON_CHARS, path)) is None:
        return NO_NAME
    if len(text.encode("utf-8", "surrogatepass")) > MAX_FILE_BYTES:
        return TOO_LARGE
    if secrets_in(path) or secrets_in(text):
        return A_SECRET
    if is_unmerged(text):
        return CONFLICT
    # also prose below the head of an item that is for somebody
    scopes = {one.scope for one in scoped_spans(padded(text), default=PAGES.get(RelativePath(path)))}
    return SCOPED_LINES if scopes - {"", GLOBAL} else ""


def promoted(line: RetainedLine, supersedes: Iterable[ShortId] = ()) -> RetainedLine:
    """Return a memory as it is shared: for all, unpinned, naming no session, and no memories but shared ones."""
    said = line.attributes
    kept = Attributes(
        confidence=said.confidence,
        importance=said.importance,
        at=said.at,
        provenance=said.provenance,
        tags=tuple(tag for tag in said.tags if not tag.startswith(OF_SESSION)),
        supersedes=tuple(dict.fromkeys(supersedes)),
    )
    return replace(line, attributes=kept)


def shared_names(line: RetainedLine, book: Book, shared: Collection[MemoryId]) -> list[ShortId]:
    """Return what a memory supersedes of those that are shared, by the ids that these have there."""
    known = (book.of_short(one) for one in line.attributes.supersedes)
    ids = (promoted(book.memories[one].line).id for one in known if one is not None)
    return [short_id(one) for one in ids if one in shared]


def with_promoted(text: str, path: str, lines: Iterable[RetainedLine]) -> str:
    """Return a log with memories in it that it does not state already; raise NoPlaceError."""
    return retained_in(text, shown_log(path), list(lines)).text


def without(text: str, path: str, ids: Collection[MemoryId]) -> str:
    """Return a log without these memories, empty if it states none then; raise NoPlaceError."""
    left = with_lines(text, shown_log(path), lambda line: None if line.id in ids else line)
    return left if lines_of(left, path) else ""


def merged_log(path: str, before: str, ours: str, theirs: str) -> str:
    """Return a log of theirs with what ours adds to and takes from the one before; raise NoPlaceError.

    Raise it also for a text that somebody left half merged, of which nobody knows what it states.
    """
    if is_unmerged(theirs):
        raise NoPlaceError(f"{path}: {CONFLICT}")
    was = {one.line.id for one in lines_of(before, path)}
    added = [one.line for one in lines_of(ours, path) if one.line.id not in was]
    gone = was - {one.line.id for one in lines_of(ours, path)}
    left = without(theirs, path, gone) if gone else theirs
    return with_promoted(left, path, added) if added else left


def only_lines(text: str, foreign: Collection[int]) -> str:
    """Return a log with its foreign lines, counted from 1, left empty: the others keep their numbers."""
    lines = text.split("\n")
    return "\n".join("" if number in foreign else line for number, line in enumerate(lines, 1))


class TeamPeople(Struct, frozen=True):
    """A team: its name, and the e-mail addresses by which git knows each person."""

    name: str
    people: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, data: bytes) -> "TeamPeople":
        """Read `team.json`; raise ValueError for one that is none."""
        try:
            found = json.loads(data.decode("utf-8"))
            name, people = found["name"], found["people"]
            read = {str(person): tuple(map(str, mails)) for person, mails in people.items()}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
            raise ValueError(f"{TEAM_FILE} is not the file of a team") from exc
        mails = [one for each in read.values() for one in each]
        if not isinstance(name, str) or not _NAME.fullmatch(name) or len(read) > MAX_PEOPLE:
            raise ValueError(f"{TEAM_FILE} names no team")
        if not all(map(_NAME.fullmatch, read)) or not all(map(_MAIL.fullmatch, mails)):
            raise ValueError(f"{TEAM_FILE} names somebody in a way that cannot be read")
        return cls(name, read)

    def write(self) -> bytes:
        """Return the bytes of `team.json`, the same for the same team."""
        people = {person: sorted(mails) for person, mails in sorted(self.people.items())}
        return f"{json.dumps({'name': self.name, 'people': people}, indent=2, ensure_ascii=False)}\n".encode()

    def with_person(self, person: str, mail: str) -> "TeamPeople":
        """Return the team with somebody in it."""
        mails = dict.fromkeys((*self.people.get(person, ()), mail))
        return replace(self, people={**self.people, person: tuple(mails)})

    def wrote(self, person: str, mail: str) -> bool:
        """Tell whether an address is one of a person's."""
        return mail.casefold() in map(str.casefold, self.people.get(person, ()))

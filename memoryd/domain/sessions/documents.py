"""The files of the question-and-answer store: the main document, a file for each session, and retention of answers.

The main file is the reference's document, `version, structure, sessions[].qa_sequence[], index.by_topic / by_recency /
by_semantic_hash, metadata`. Its indexes and totals are always computed from the sessions. A session of more than 50
turns is a *stub*: it names a file instead of holding turns; its turns are still in the indexes.

The file of a session is its object of `sessions[]`, one turn per line. memoryd adds keys to those of the reference. In
a session: `agent`, `key` (the session key), `remember: false` if it is marked so, `end` if it becomes a memory when it
ends, and `summed_up`, the last turn of its summary. In a turn: `marked: true` if its answer is marked.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import SessionId, turn_address
from memoryd.domain.sessions.json_values import (
    DamagedDocumentError,
    ForeignDocumentError,
    as_count,
    as_list,
    as_object,
    as_seq,
    as_share,
    as_text,
    as_time,
    dumps,
    loads,
    others,
)
from memoryd.domain.sessions.turns import Extra, Session, SessionEnd, Turn

THRESHOLD = 0.6
TURNS = 5
"""Default number of turns of a sequence."""
ARCHIVE_AFTER = timedelta(days=30)
MAX_BYTES = 256 << 20
"""Most bytes of all files of one workspace."""


class AnswerRetention(Struct, frozen=True):
    """The significance above which an answer is kept, topics that are always kept, and the age for archiving."""

    threshold: float = THRESHOLD
    interests: frozenset[str] = frozenset()
    archive_after: timedelta = ARCHIVE_AFTER

    def keeps(self, significance: float, topics: Collection[str]) -> bool:
        """Return whether an answer is kept: its significance is above the threshold, or a topic is of interest."""
        interests = {interest.lower() for interest in self.interests}
        return significance > self.threshold or any(topic.lower() in interests for topic in topics)

    def is_old(self, last_activity: datetime, now: datetime) -> bool:
        """Return whether a session is archived: its last turn is older than `archive_after`."""
        return now - last_activity > self.archive_after

    def pruned(self, session: Session, *, drops_marked: bool = False) -> Session:
        """Return the session without the answers that are not kept. Questions and marked answers stay.

        With `drops_marked`, marked answers are treated like any other.
        """
        return replace(session, turns=tuple(self._prune_turn(turn, drops_marked) for turn in session.turns))

    def _prune_turn(self, turn: Turn, drops_marked: bool) -> Turn:
        if self.keeps(turn.significance, turn.topics) or (turn.is_marked and not drops_marked):
            return turn
        return replace(turn, answer=None, is_marked=False)


class Totals(Struct, frozen=True):
    """Counts of turns and of kept answers, and their ratio to two digits; the ratio is 0 without turns."""

    turns: int = 0
    answers: int = 0

    @property
    def ratio(self) -> float:
        return round(self.answers / self.turns, 2) if self.turns else 0.0


def totals(counted: Iterable[tuple[int, int]]) -> Totals:
    """Add up pairs of turns and kept answers."""
    turns, answers = map(sum, zip((0, 0), *counted, strict=True))
    return Totals(turns, answers)


VERSION = 1
STRUCTURE = "sequence-indexed-qa"
MAX_TURNS = 50
"""A session with more turns is a stub."""

_TOP = frozenset({"version", "structure", "sessions", "index", "metadata"})
_INDEX = frozenset({"by_topic", "by_recency", "by_semantic_hash"})
_METADATA = frozenset({"total_qa_pairs", "stored_answers", "compression_ratio", "last_updated"})


class TurnMark(Struct, frozen=True):
    """The index entries of a turn; its topics are sorted."""

    seq: int
    question_hash: str = ""
    topics: tuple[str, ...] = ()


class SessionStub(Struct, frozen=True):
    """A session stored in its own file: what is known without reading that file. `session` has no turns."""

    session: Session
    file: str
    """Path relative to the folder of the main file."""
    turns: int
    answers: int
    last_activity: datetime
    marks: tuple[TurnMark, ...]

    @property
    def head(self) -> Session:
        """The session without its turns."""
        return self.session

    @property
    def begun(self) -> datetime:
        """Time of creation; the first turn may be older, but its time is only in the session's file."""
        return self.session.created


_Fields = Mapping[str, tuple[str, Callable[[object, str], object], object]]
"""For each JSON key: the name of its field, the function that reads its value, and the default of a missing key."""
Entry = Session | SessionStub
"""A session in the main file."""


class QaDocument(Struct, frozen=True):
    """All sessions, and the unknown keys of the main file, which other programs wrote."""

    entries: tuple[Entry, ...] = ()
    extra: Extra = {}
    index_extra: Extra = {}
    metadata_extra: Extra = {}


def entry_of(entry: Entry) -> Entry:
    """Return the entry of a session in the main file: a stub if it has more than `MAX_TURNS` turns."""
    if isinstance(entry, SessionStub) or len(entry.turns) <= MAX_TURNS:
        return entry
    return stub_of(entry, "sessions", marks_of(entry))


def stub_of(session: Session, folder: str, marks: tuple[TurnMark, ...] = ()) -> SessionStub:
    """Return the stub of a session whose file is in this folder."""
    return SessionStub(
        session=replace(session, turns=()),
        file=f"{folder}/{session.id}.json",
        turns=len(session.turns),
        answers=session.answers,
        last_activity=session.last_activity,
        marks=marks,
    )


def marks_of(entry: Entry) -> tuple[TurnMark, ...]:
    """Return the index entries of the turns of a session, without turns that have neither hash nor topics."""
    if isinstance(entry, SessionStub):
        return entry.marks
    marks = (TurnMark(turn.seq, turn.question_hash, tuple(sorted(set(turn.topics)))) for turn in entry.turns)
    return tuple(mark for mark in marks if mark.question_hash or mark.topics)


def topic_places(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """Return the addresses of the turns of each topic, in the order of the sessions. A topic is on one line."""
    places: dict[str, list[str]] = {}
    for entry in entries:
        for mark in marks_of(entry):
            for topic in mark.topics:
                # a tag written by hand may hold line breaks
                places.setdefault(" ".join(topic.split()), []).append(turn_address(entry.head.id, mark.seq))
    return places


def parse_document(data: bytes) -> QaDocument:
    """Parse the main file. Raises ForeignDocumentError or DamagedDocumentError."""
    value = loads(data)
    if not isinstance(value, dict) or value.get("structure") != STRUCTURE:
        raise ForeignDocumentError(f"its structure is not {STRUCTURE}")
    if value.get("version") != VERSION:
        raise ForeignDocumentError(f"its version is {value.get('version')!r}, and {VERSION} is what we know")
    index = as_object(value.get("index", {}), "index")
    metadata = as_object(value.get("metadata", {}), "metadata")
    rows = as_list(value.get("sessions"), "sessions")
    stubs = {row.get("session_id") for row in rows if isinstance(row, dict) and "file" in row}
    marks = _marks_by_session(index, stubs)
    entries = tuple(_entry(row, f"sessions[{at}]", marks) for at, row in enumerate(rows))
    ids = [entry.head.id for entry in entries]
    if len(set(ids)) < len(ids):
        raise DamagedDocumentError("sessions has a session twice")
    return QaDocument(entries, others(value, _TOP), others(index, _INDEX), others(metadata, _METADATA))


def render_document(document: QaDocument, rendered: Mapping[SessionId, str] | None = None) -> str:
    """Return the text of the main file. `rendered` has texts that `render_session` already made, by session."""
    known = rendered or {}
    rows = (_render_entry(entry, known) for entry in document.entries)
    sessions = ",\n".join(rows)
    index = {**_render_index(document.entries), **{key: dumps(value) for key, value in document.index_extra.items()}}
    parts = {
        "version": str(VERSION),
        "structure": dumps(STRUCTURE),
        "sessions": f"[\n{sessions}\n]" if sessions else "[]",
        "index": "{" + ",\n".join(f"{dumps(key)}: {text}" for key, text in index.items()) + "}",
        "metadata": dumps({**_render_metadata(document.entries), **document.metadata_extra}),
        **{key: dumps(value) for key, value in document.extra.items()},
    }
    return "{\n" + ",\n".join(f"{dumps(key)}: {text}" for key, text in parts.items()) + "\n}\n"


def _render_entry(entry: Entry, rendered: Mapping[SessionId, str]) -> str:
    if isinstance(entry, Session):
        return rendered.get(entry.id) or render_session(entry)
    ours = {
        "file": entry.file,
        "turns": entry.turns,
        "stored_answers": entry.answers,
        "last_activity": rfc3339(entry.last_activity),
    }
    # the keys of a stub come before the empty qa_sequence, which readers of the reference's format expect
    return render_session(entry.session)[: -len(', "qa_sequence": []}')] + f', {dumps(ours)[1:-1]}, "qa_sequence": []}}'


def _render_index(entries: Sequence[Entry]) -> Mapping[str, str]:
    by_topic: defaultdict[str, list[str]] = defaultdict(list)
    by_hash: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        name = dumps(entry.head.id)
        for mark in marks_of(entry):
            place = f'{{"session": {name}, "seq": {mark.seq}}}'
            for topic in mark.topics:
                by_topic[topic].append(place)
            if mark.question_hash:
                by_hash[mark.question_hash].append(place)
    newest_first = sorted(entries, key=lambda entry: entry.last_activity, reverse=True)
    # the last turn of each session that has one
    recent = (
        {"session": entry.head.id, "seq": marks[-1].seq, "timestamp": rfc3339(entry.last_activity)}
        for entry in newest_first
        if (marks := entry.turns if isinstance(entry, Session) else entry.marks)
    )
    return {
        "by_topic": _render_map((topic, _render_list(places)) for topic, places in sorted(by_topic.items())),
        "by_recency": _render_list(map(dumps, recent)),
        # the reference has an object, not a list, for a hash of only one turn
        "by_semantic_hash": _render_map(
            (name, places[0] if len(places) == 1 else _render_list(places)) for name, places in by_hash.items()
        ),
    }


def _render_map(rows: Iterable[tuple[str, str]]) -> str:
    members = ",\n".join(f"{dumps(key)}: {text}" for key, text in rows)
    return f"{{\n{members}\n}}" if members else "{}"


def _render_list(places: Iterable[str]) -> str:
    return f"[{', '.join(places)}]"


def _render_metadata(entries: Sequence[Entry]) -> Mapping[str, object]:
    all_turns = totals(counted(entry) for entry in entries)
    last = max((entry.last_activity for entry in entries), default=None)
    return {
        "total_qa_pairs": all_turns.turns,
        "stored_answers": all_turns.answers,
        "compression_ratio": all_turns.ratio,
        "last_updated": rfc3339(last) if last else None,
    }


def counted(entry: Entry) -> tuple[int, int]:
    """Return the number of turns and of kept answers of a session."""
    return (entry.turns, entry.answers) if isinstance(entry, SessionStub) else (len(entry.turns), entry.answers)


def _entry(value: object, where: str, marks: Mapping[str, tuple[TurnMark, ...]]) -> Entry:
    row = as_object(value, where)
    if "session_id" not in row or "qa_sequence" not in row:
        raise DamagedDocumentError(f"{where} has no session_id with a qa_sequence")
    if "file" not in row or row["qa_sequence"]:
        return _session(row, f"{where}.")
    head = {key: value for key, value in row.items() if key not in _STUB_FIELDS}
    session = _session({**head, "qa_sequence": []}, f"{where}.")
    return SessionStub(session=session, marks=marks.get(session.id, ()), **_fields(row, f"{where}.", _STUB_FIELDS))


def _marks_by_session(index: Mapping[str, object], stubs: Container[object]) -> Mapping[str, tuple[TurnMark, ...]]:
    """Return the index entries of the turns of each stub."""
    hashes: dict[tuple[str, int], str] = {}
    tags: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for name, places in as_object(index.get("by_semantic_hash", {}), "index.by_semantic_hash").items():
        for place in places if isinstance(places, list) else [places]:
            hashes[_place(place)] = name
    for topic, places in as_object(index.get("by_topic", {}), "index.by_topic").items():
        for place in as_list(places, "index.by_topic"):
            tags[_place(place)].append(topic)
    marks: defaultdict[str, list[TurnMark]] = defaultdict(list)
    for session, seq in sorted(place for place in {*hashes, *tags} if place[0] in stubs):
        place = session, seq
        marks[session].append(TurnMark(seq, hashes.get(place, ""), tuple(sorted(tags.get(place, ())))))
    return {session: tuple(of_session) for session, of_session in marks.items()}


def _place(value: object) -> tuple[str, int]:
    row = as_object(value, "a place of the index")
    return as_text(row.get("session"), "session of a place"), as_seq(row.get("seq"), "seq of a place")


_END = "\n]}"


def parse_session(data: bytes) -> Session:
    """Parse the file of a session. Raises ForeignDocumentError if it holds no session, or DamagedDocumentError."""
    value = loads(data)
    if not isinstance(value, dict) or "session_id" not in value or "qa_sequence" not in value:
        raise ForeignDocumentError("it has no session_id with a qa_sequence")
    return _session(value, "")


def render_session(session: Session, before: tuple[Session, str] | None = None) -> str:
    """Return the JSON object of a session, without a final newline.

    `before` is an earlier state with its text. If since then only the last turn has changed or turns were added, the
    rest of the text is reused.
    """
    if before is not None and _continues(before[0], session):
        unchanged = before[1].removesuffix(f"{_render_turns(before[0].turns[-1:])}{_END}")
        return f"{unchanged}{_render_turns(session.turns[len(before[0].turns) - 1 :])}{_END}"
    turns = _render_turns(session.turns)
    ours = {
        "agent": session.agent,
        "key": session.key,
        "remember": None if session.is_remembered else False,
        "end": session.end.value,
        "summed_up": session.summed_up,
    }
    shown = {key: value for key, value in ours.items() if value or value is False}
    head = dumps({"session_id": session.id, "created": rfc3339(session.created), **shown, **session.extra})[:-1]
    return f'{head}, "qa_sequence": [\n{turns}{_END}' if turns else f'{head}, "qa_sequence": []}}'


def _session(value: Mapping[str, object], where: str) -> Session:
    """Return the session of a JSON object; `where` names its place in error messages."""
    rows = as_list(value["qa_sequence"], f"{where}qa_sequence")
    turns = tuple(_turn(row, f"{where}qa_sequence[{at}]") for at, row in enumerate(rows))
    if any(turn.seq >= following.seq for turn, following in pairwise(turns)):
        raise DamagedDocumentError(f"{where}qa_sequence is not in the order of seq")
    return Session(
        turns=turns,
        summed_up=as_seq(value["summed_up"], f"{where}summed_up") if "summed_up" in value else 0,
        extra=others(value, {*_SESSION_FIELDS, "summed_up", "qa_sequence"}),
        **_fields(value, where, _SESSION_FIELDS),
    )


def _render_turns(turns: Iterable[Turn]) -> str:
    return ",\n".join(dumps(_render_turn(turn)) for turn in turns)


def _continues(before: Session, session: Session) -> bool:
    """Return whether a session differs from its earlier state only in the last turn and the turns after it."""
    unchanged = len(before.turns) - 1
    if not 0 <= unchanged < len(session.turns) or session.turns[:unchanged] != before.turns[:unchanged]:
        return False
    return replace(before, turns=()) == replace(session, turns=())


def _turn(value: object, where: str) -> Turn:
    row = as_object(value, where)
    return Turn(extra=others(row, _TURN_FIELDS.keys()), **_fields(row, f"{where}.", _TURN_FIELDS))


def _fields(row: Mapping[str, object], where: str, fields: _Fields) -> dict[str, Any]:
    return {name: read(row.get(key, absent), f"{where}{key}") for key, (name, read, absent) in fields.items()}


def _answer(value: object, where: str) -> str | None:
    return None if value is None else as_text(value, where)


def _end(value: object, where: str) -> SessionEnd:
    try:
        return SessionEnd(as_text(value, where))
    except ValueError as exc:
        raise DamagedDocumentError(f"{where} is none of open, owed, told") from exc


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise DamagedDocumentError(f"{where} is neither true nor false")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    return tuple(as_text(text, f"{where}[{at}]") for at, text in enumerate(as_list(value, where)))


_SESSION_FIELDS: _Fields = {
    "session_id": ("id", as_text, None),
    "created": ("created", as_time, None),
    "agent": ("agent", as_text, ""),
    "key": ("key", as_text, ""),
    "remember": ("is_remembered", _flag, True),
    "end": ("end", _end, ""),
}
_STUB_FIELDS: _Fields = {
    "file": ("file", as_text, None),
    "turns": ("turns", as_count, None),
    "stored_answers": ("answers", as_count, None),
    "last_activity": ("last_activity", as_time, None),
}
_TURN_FIELDS: _Fields = {
    "seq": ("seq", as_seq, None),
    "q": ("question", as_text, None),
    "timestamp": ("timestamp", as_time, None),
    "a": ("answer", _answer, None),
    "a_significance": ("significance", as_share, 0),
    "q_tokens": ("tokens", _texts, []),
    "q_hash": ("question_hash", as_text, ""),
    "topic_tags": ("topics", _texts, []),
    "marked": ("is_marked", _flag, False),
}


def _render_turn(turn: Turn) -> Mapping[str, object]:
    return {
        "seq": turn.seq,
        "q": turn.question,
        "q_tokens": turn.tokens,
        "q_hash": turn.question_hash,
        "a": turn.answer,
        # the reference writes 0, not 0.0
        "a_significance": int(turn.significance) if turn.significance.is_integer() else turn.significance,
        "timestamp": rfc3339(turn.timestamp),
        **({"topic_tags": turn.topics} if turn.topics else {}),
        **({"marked": True} if turn.is_marked else {}),
        **turn.extra,
    }

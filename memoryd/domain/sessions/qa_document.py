"""The main file: the reference's document of all sessions with its indexes, as a value and as text.

`version, structure, sessions[].qa_sequence[], index.by_topic / by_recency / by_semantic_hash, metadata`. Indexes and
totals are made from the sessions, whatever stood there. A session of more than 50 turns is a *stub*: it has no turns
there, names its file, and its turns stand in the indexes all the same.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from memoryd.domain.sessions.json_values import (
    DamagedDocumentError,
    ForeignDocumentError,
    as_count,
    as_list,
    as_object,
    as_seq,
    as_text,
    as_time,
    dumps,
    loads,
    others,
    told_time,
)
from memoryd.domain.sessions.keeping import totals
from memoryd.domain.sessions.session_document import render_session, session_of
from memoryd.domain.sessions.turns import Extra, Session, SessionId

VERSION: Final = 1
STRUCTURE: Final = "sequence-indexed-qa"
MAX_TURNS: Final = 50
"""A session of more turns is a stub."""

_TOP: Final = frozenset({"version", "structure", "sessions", "index", "metadata"})
_INDEX: Final = frozenset({"by_topic", "by_recency", "by_semantic_hash"})
_METADATA: Final = frozenset({"total_qa_pairs", "stored_answers", "compression_ratio", "last_updated"})
_STUB: Final = frozenset(
    {"session_id", "created", "agent", "key", "remember", "end", "file", "turns", "stored_answers", "last_activity"}
) | {"qa_sequence"}


@dataclass(frozen=True, slots=True)
class TurnMark:
    """What the indexes say of a turn; its topics in order."""

    seq: int
    question_hash: str = ""
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionStub:
    """A session that stands in a file of its own: what is known without reading it. `session` has no turns."""

    session: Session
    file: str
    """Relative to the folder of the main file."""
    turns: int
    answers: int
    last_activity: datetime
    marks: tuple[TurnMark, ...]


@dataclass(frozen=True, slots=True)
class QaDocument:
    """All sessions, and what others wrote beside them."""

    entries: tuple[Session | SessionStub, ...] = ()
    extra: Extra = field(default_factory=dict)
    index_extra: Extra = field(default_factory=dict)
    metadata_extra: Extra = field(default_factory=dict)


def entry_of(session: Session) -> Session | SessionStub:
    """Return how a session stands in the main file."""
    if len(session.turns) <= MAX_TURNS:
        return session
    bare = replace(session, turns=())
    last = session.last_activity
    return SessionStub(
        bare, f"sessions/{session.id}.json", len(session.turns), session.answers, last, marks_of(session)
    )


def marks_of(entry: Session | SessionStub) -> tuple[TurnMark, ...]:
    """Return what the indexes say of the turns of a session, those of which they say nothing left out."""
    if isinstance(entry, SessionStub):
        return entry.marks
    marks = (TurnMark(turn.seq, turn.question_hash, tuple(sorted(set(turn.topics)))) for turn in entry.turns)
    return tuple(mark for mark in marks if mark.question_hash or mark.topics)


def parse_document(data: bytes) -> QaDocument:
    """Return the document of the main file; raises ForeignDocumentError or DamagedDocumentError."""
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
    ids = [_session(entry).id for entry in entries]
    if len(set(ids)) < len(ids):
        raise DamagedDocumentError("sessions has a session twice")
    return QaDocument(entries, others(value, _TOP), others(index, _INDEX), others(metadata, _METADATA))


def render_document(document: QaDocument, rendered: Mapping[SessionId, str] | None = None) -> str:
    """Return the text of the main file; `rendered` holds what `render_session` gave for some of the sessions."""
    known = rendered or {}
    rows = (_told_entry(entry, known) for entry in document.entries)
    sessions = ",\n".join(rows)
    index = {**_told_index(document.entries), **{key: dumps(one) for key, one in document.index_extra.items()}}
    parts = {
        "version": str(VERSION),
        "structure": dumps(STRUCTURE),
        "sessions": f"[\n{sessions}\n]" if sessions else "[]",
        "index": "{" + ",\n".join(f"{dumps(key)}: {text}" for key, text in index.items()) + "}",
        "metadata": dumps({**_told_metadata(document.entries), **document.metadata_extra}),
        **{key: dumps(one) for key, one in document.extra.items()},
    }
    return "{\n" + ",\n".join(f"{dumps(key)}: {text}" for key, text in parts.items()) + "\n}\n"


def _session(entry: Session | SessionStub) -> Session:
    return entry.session if isinstance(entry, SessionStub) else entry


def _last(entry: Session | SessionStub) -> datetime:
    return entry.last_activity


def _told_entry(entry: Session | SessionStub, rendered: Mapping[SessionId, str]) -> str:
    if isinstance(entry, Session):
        return rendered.get(entry.id) or render_session(entry)
    told = {
        "file": entry.file,
        "turns": entry.turns,
        "stored_answers": entry.answers,
        "last_activity": told_time(entry.last_activity),
    }
    # the keys of a stub stand before the empty sequence, which readers of the reference's shape expect
    return render_session(entry.session)[: -len(', "qa_sequence": []}')] + f', {dumps(told)[1:-1]}, "qa_sequence": []}}'


def _told_index(entries: Sequence[Session | SessionStub]) -> Mapping[str, str]:
    by_topic: defaultdict[str, list[str]] = defaultdict(list)
    by_hash: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        name = dumps(_session(entry).id)
        for mark in marks_of(entry):
            place = f'{{"session": {name}, "seq": {mark.seq}}}'
            for topic in mark.topics:
                by_topic[topic].append(place)
            if mark.question_hash:
                by_hash[mark.question_hash].append(place)
    return {
        "by_topic": _told_map((topic, _told_list(places)) for topic, places in sorted(by_topic.items())),
        "by_recency": _told_list(_recent(entries)),
        # the reference has an object for a hash of one turn
        "by_semantic_hash": _told_map(
            (name, places[0] if len(places) == 1 else _told_list(places)) for name, places in by_hash.items()
        ),
    }


def _told_map(rows: Iterable[tuple[str, str]]) -> str:
    told = ",\n".join(f"{dumps(key)}: {text}" for key, text in rows)
    return f"{{\n{told}\n}}" if told else "{}"


def _told_list(places: Iterable[str]) -> str:
    return f"[{', '.join(places)}]"


def _recent(entries: Sequence[Session | SessionStub]) -> Iterable[str]:
    """Yield the last turn of each session that has one, the newest first."""
    for entry in sorted(entries, key=_last, reverse=True):
        marks = entry.turns if isinstance(entry, Session) else entry.marks
        if marks:
            place = {"session": _session(entry).id, "seq": marks[-1].seq, "timestamp": told_time(entry.last_activity)}
            yield dumps(place)


def _told_metadata(entries: Sequence[Session | SessionStub]) -> Mapping[str, object]:
    whole = totals(counted(entry) for entry in entries)
    last = max(map(_last, entries), default=None)
    return {
        "total_qa_pairs": whole.turns,
        "stored_answers": whole.answers,
        "compression_ratio": whole.ratio,
        "last_updated": told_time(last) if last else None,
    }


def counted(entry: Session | SessionStub) -> tuple[int, int]:
    """Return how many turns a session has, and how many answers are kept."""
    return (entry.turns, entry.answers) if isinstance(entry, SessionStub) else (len(entry.turns), entry.answers)


def _entry(value: object, where: str, marks: Mapping[str, tuple[TurnMark, ...]]) -> Session | SessionStub:
    row = as_object(value, where)
    if "session_id" not in row or "qa_sequence" not in row:
        raise DamagedDocumentError(f"{where} has no session_id with a qa_sequence")
    if "file" not in row or row["qa_sequence"]:
        return session_of(row, f"{where}.")
    head = {
        key: one
        for key, one in row.items()
        if key not in _STUB or key in ("session_id", "created", "agent", "key", "end")
    }
    kept = {**head, "remember": row.get("remember", True), "qa_sequence": []}
    session = session_of(kept, f"{where}.")
    return SessionStub(
        session=session,
        file=as_text(row["file"], f"{where}.file"),
        turns=as_count(row.get("turns"), f"{where}.turns"),
        answers=as_count(row.get("stored_answers"), f"{where}.stored_answers"),
        last_activity=as_time(row.get("last_activity"), f"{where}.last_activity"),
        marks=marks.get(session.id, ()),
    )


def _marks_by_session(index: Mapping[str, object], stubs: Container[object]) -> Mapping[str, tuple[TurnMark, ...]]:
    """Return what the indexes say of the turns of each stub."""
    hashes: dict[tuple[str, int], str] = {}
    tags: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for name, places in as_object(index.get("by_semantic_hash", {}), "index.by_semantic_hash").items():
        for place in places if isinstance(places, list) else [places]:
            hashes[_place(place)] = name
    for topic, places in as_object(index.get("by_topic", {}), "index.by_topic").items():
        for place in as_list(places, "index.by_topic"):
            tags[_place(place)].append(topic)
    found: defaultdict[str, list[TurnMark]] = defaultdict(list)
    for session, seq in sorted(place for place in {*hashes, *tags} if place[0] in stubs):
        place = session, seq
        found[session].append(TurnMark(seq, hashes.get(place, ""), tuple(sorted(tags.get(place, ())))))
    return {session: tuple(marks) for session, marks in found.items()}


def _place(value: object) -> tuple[str, int]:
    row = as_object(value, "a place of the index")
    return as_text(row.get("session"), "session of a place"), as_seq(row.get("seq"), "seq of a place")

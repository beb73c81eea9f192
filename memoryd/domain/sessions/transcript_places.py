"""How far the turns of a transcript were taken: it stands in the session itself, so that one write keeps both."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from memoryd.domain.sessions.session_ids import MAX_BYTES, safe_id
from memoryd.domain.sessions.transcripts.tails import START, Tail, read_tail, written_tail
from memoryd.domain.sessions.turns import Session, SessionId

PLACE: Final = "transcript"
"""The key of a session that has the place."""
_DIGEST: Final = 8
_NAME: Final = re.compile(rf"transcript-.+-[0-9a-f]{{{_DIGEST}}}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TranscriptPlace:
    """Turns asked on a line up to `line` are taken for good; reading goes on behind `tail`, which is not later."""

    file: str
    """The name that the transcript is told by."""
    tail: Tail = START
    seen: Tail = START
    """How far it was read: by this is told whether what was taken is still what the transcript says."""
    line: int = 0
    open_seq: int = 0
    """The turn of the first question behind `line`, which was taken before it ended, and is replaced; 0: none was."""
    is_again: bool = False
    """Whether the transcript was rewritten since its first turn was taken: what is found may be there already."""


def place_of(session: Session) -> TranscriptPlace | None:
    """Return how far the transcript of a session was taken, None if it is of none; the start where that is damaged."""
    told = session.extra.get(PLACE)
    if told is None:
        return None
    file = told.get("file") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(file, str):
        return TranscriptPlace("", is_again=True)
    line, open_seq = told.get("line"), told.get("open", 0)
    if type(line) is not int or type(open_seq) is not int or not line >= 0 <= open_seq:
        return TranscriptPlace(file, is_again=True)
    tail, seen = (read_tail(str(told.get(key))) for key in ("tail", "seen"))
    return TranscriptPlace(file, tail, seen, line, open_seq, told.get("again") is True)


def told_place(place: TranscriptPlace) -> Mapping[str, object]:
    """Return what a session keeps of a place."""
    return {
        "file": place.file,
        "line": place.line,
        **({"open": place.open_seq} if place.open_seq else {}),
        **({"again": True} if place.is_again else {}),
        "tail": written_tail(place.tail),
        "seen": written_tail(place.seen),
    }


def transcript_session(agent: str, file: str) -> SessionId:
    """Return the name of the session of a transcript, always the same, of one agent: `transcript-<name>-<hash>`."""
    stem = file.removesuffix(".jsonl")
    digest = sha256(f"{agent}\0{file}".encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    name = safe_id(f"transcript-{stem}").encode()[: MAX_BYTES - _DIGEST - 1].decode("utf-8", "ignore")
    return safe_id(f"{name.rstrip('-_')}-{digest}")


def is_transcript_session(name: SessionId) -> bool:
    """Tell whether a session of a transcript, of whichever agent, may be named so: it is kept free for that."""
    return _NAME.fullmatch(name) is not None


def transcript_key(file: str) -> str:
    """Return what such a session has for a session key."""
    return f"{PLACE}:{file}"

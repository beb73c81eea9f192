"""From the bytes of a transcript's line to what it says, and from its first lines to whose transcript it is."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from memoryd.domain.sessions.transcripts.claude_records import claude_said
from memoryd.domain.sessions.transcripts.openclaw_records import is_of_generated_session, openclaw_said
from memoryd.domain.sessions.transcripts.utterances import LeftOut, TranscriptFormat, Utterance

LOOKED_AT: Final = 64
"""Lines by which a format is recognised."""
_CLAUDE_KEYS: Final = {"summary": "leafUuid", "file-history-snapshot": "messageId", "queue-operation": "sessionId"}
"""What Claude Code writes before anybody speaks, and a key of it."""
_SPACE: Final = b"\0 \t\r\n"
"""Around a record; a crash may leave zeros where a program wrote on afterwards."""
MAX_VALUES: Final = 200_000
"""So many values of a line are parsed, which take some 40 MB at most; a message of a person or a model has a few."""

Record = Mapping[str, object]


def record_of(line: bytes) -> Record | LeftOut:
    """Return the JSON object of a line, or why there is none; what is no UTF-8 becomes U+FFFD."""
    data = line.removeprefix(b"\xef\xbb\xbf").strip(_SPACE)
    if not data:
        return LeftOut.NO_MESSAGE
    if _values(data) > MAX_VALUES and _values(_outside_strings(data)) > MAX_VALUES:
        return LeftOut.TOO_MANY_VALUES
    try:
        record = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return LeftOut.UNREADABLE
    return record if isinstance(record, dict) else LeftOut.UNREADABLE


def _values(data: bytes) -> int:
    """Return how many values a text may have, by what opens a list or an object, or parts two values."""
    return sum(map(data.count, (b"[", b"{", b",")))


def _outside_strings(data: bytes) -> bytes:
    """Return what stands outside of strings, and inside too if they are very many."""
    # what is escaped first, in pairs from the left: then each quote begins or ends a string
    bare = data.replace(rb"\\", b"").replace(rb"\"", b"")
    return data if bare.count(b'"') > 2 * MAX_VALUES else b"".join(bare.split(b'"')[::2])


def said(record: Record, whose: TranscriptFormat) -> Utterance | LeftOut:
    """Return what a record of a transcript of a format says."""
    return openclaw_said(record) if whose is TranscriptFormat.OPENCLAW else claude_said(record)


def is_generated_from(record: Record, whose: TranscriptFormat) -> bool:
    """Tell whether what comes behind a record is of a session that nobody spoke in."""
    return whose is TranscriptFormat.OPENCLAW and is_of_generated_session(record)


def recognised(records: Iterable[Record | LeftOut]) -> TranscriptFormat | None:
    """Return whose transcript begins with these records, None while none of them tells."""
    return next(filter(None, map(_told_by, records)), None)


def _told_by(record: Record | LeftOut) -> TranscriptFormat | None:
    if isinstance(record, LeftOut):
        return None
    kind, message = record.get("type"), record.get("message")
    if kind == "message" and isinstance(message, dict) and isinstance(message.get("role"), str):
        return TranscriptFormat.OPENCLAW
    if kind == "session" and isinstance(record.get("id"), str) and record.keys() & {"version", "cwd"}:
        return TranscriptFormat.OPENCLAW
    if kind in ("user", "assistant") and isinstance(message, dict) and "content" in message:
        return TranscriptFormat.CLAUDE_CODE
    if isinstance(record.get("isSidechain"), bool) and isinstance(record.get("sessionId"), str):
        return TranscriptFormat.CLAUDE_CODE
    if isinstance(kind, str) and isinstance(record.get(_CLAUDE_KEYS.get(kind, "")), str):
        return TranscriptFormat.CLAUDE_CODE
    return None

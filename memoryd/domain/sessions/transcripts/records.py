"""The records of transcripts in any format: names of files, times, text blocks, speakers, utterances fit to keep.

And when a transcript that grows is read on. OpenClaw does so after enough growth, where 0 means any, or after a
compaction; we also read when a conversation rests, so that its end is not read with the next one.

A time is RFC 3339, or seconds or milliseconds since 1970. An utterance is made harmless, without secrets, on one line,
and no longer than a person reads.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from memoryd.domain.documents import Speaker, is_hidden
from memoryd.domain.expressions import expression
from memoryd.domain.redaction import redacted
from memoryd.domain.sessions.turns import AHEAD, EARLIEST, LATEST
from memoryd.domain.text.sanitizing import with_cuts, without_cuts


class TranscriptFormat(StrEnum):
    """Whose transcript it is."""

    OPENCLAW = "openclaw"
    CLAUDE_CODE = "claude-code"


class Utterance(Struct, frozen=True):
    """What somebody said in one line of a transcript: harmless, redacted, white space folded, never empty."""

    speaker: Speaker
    text: str
    time: datetime | None = None
    """With its zone; None where the line tells none that makes sense."""
    is_cut: bool = False
    """Whether more was said than is kept of one utterance."""

    @property
    def line(self) -> str:
        """The line of indexed text: `User: …`."""
        return f"{self.speaker}: {self.text}"


class LeftOut(StrEnum):
    """Why a line says nothing."""

    NO_MESSAGE = "no message"
    """A header, a tool's result, an event, an empty line."""
    DROPPED = "dropped"
    """A message that no person and no model said: generated, silent, of a side chain."""
    UNREADABLE = "unreadable"
    """No JSON object, or a message without the form of one."""
    TOO_MANY_VALUES = "too many values"
    """More than are parsed: each costs many times the bytes that it has in its line."""


_SPEAKERS = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}


def speaker_of(role: object) -> Speaker | None:
    """Return who has a role, None for tools, systems and what is no role."""
    return _SPEAKERS.get(role) if isinstance(role, str) else None


def text_blocks(content: object) -> list[str] | None:
    """Return the texts of a message's content: the one of a string, or of its text blocks; None if it is neither.

    No more than `MAX_RAW_CHARS` characters of each, and of all together.
    """
    if isinstance(content, str):
        return [shortened(content, MAX_RAW_CHARS)]
    if not isinstance(content, list):
        return None
    texts, left = list[str](), MAX_RAW_CHARS
    for block in content:
        text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
        if isinstance(text, str) and left > 0:
            texts.append(shortened(text, left))
            left -= len(text)
    return texts


def inner(record: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Return an object inside of a record, an empty one if there is none."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def uttered(speaker: Speaker, text: str) -> Utterance | LeftOut:
    """Return what is kept of a text, or that nothing of it is."""
    kept = spoken_text(text)
    return Utterance(speaker, kept, is_cut=len(text) > MAX_CHARS) if kept else LeftOut.DROPPED


_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
"""No program that keeps transcripts is as old: a time before it is a clock that nobody set."""
_SECONDS_BELOW = 1e11
"""A smaller number counts seconds, not milliseconds: as milliseconds it would be before March 1973."""


def first_time(*records: Mapping[str, object]) -> datetime | None:
    """Return the first `timestamp` of the records that makes sense, None if there is none."""
    return next(filter(None, (as_instant(record.get("timestamp")) for record in records)), None)


def as_instant(value: object) -> datetime | None:
    """Return an instant from 2000 to before 2262 with its zone, UTC where none is told; None for anything else."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            time = EARLIEST + timedelta(milliseconds=value * 1000 if value < _SECONDS_BELOW else value)
        else:
            return None
        return time if _FIRST <= time < LATEST else None
    except (ValueError, OverflowError):
        return None


def believed(time: datetime | None, now: datetime) -> datetime | None:
    """Return when something was said, None if that is more than a day after `now`: as of a turn that is reported."""
    return time if time is not None and time <= now + AHEAD else None


MAX_CHARS = 1 << 18
"""So much of one utterance is kept: longer ones are files that were pasted."""
MAX_RAW_CHARS = 1 << 20
"""So much of one message is looked at, with all that programs put around it."""
_MARGIN = 4096


def folded(text: str) -> str:
    """Return a text on one line: each run of white space, line separators of Unicode too, is one space."""
    return " ".join(text.split())


def shortened(text: str, max_chars: int) -> str:
    """Return the beginning of a text, cut at an end of a line or else a word, so that no half of a secret stays.

    Where neither comes in the last 4,096 characters these are left out whole.
    """
    if len(text) <= max_chars:
        return text
    least = max(0, max_chars - _MARGIN)
    end = max(text.rfind("\n", least, max_chars), least)
    if end == least:
        end = max(text.rfind(" ", least, max_chars), least)
    return text[:end]


def spoken_text(text: str) -> str:
    """Return what is kept of a text: harmless, redacted, folded; at most `MAX_CHARS` characters."""
    masked = without_cuts(shortened(with_cuts(text), MAX_CHARS))
    one_line = folded(masked)
    # folding joins lines: a command and its password may have stood on two
    return one_line if one_line == masked else redacted(one_line)


SUFFIX = ".jsonl"
_INSTANT = r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d{3})?Z"
_ARCHIVE = expression(rf".+\.jsonl\.(?:reset|deleted)\.{_INSTANT}", re.DOTALL)
"""What OpenClaw calls a session that was begun anew, or deleted: said all the same."""
_DERIVED = expression(
    r".+\.(?:trajectory|checkpoint\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl", re.DOTALL | re.IGNORECASE
)
"""What it makes of a session beside it: the same words once more."""


def is_transcript_name(name: str) -> bool:
    """Tell whether a file of this name is a transcript; backups, checkpoints and trajectories are none."""
    if is_hidden(name) or _DERIVED.fullmatch(name):
        return False
    return (name.endswith(SUFFIX) and len(name) > len(SUFFIX)) or _ARCHIVE.fullmatch(name) is not None


def session_of(name: str) -> str:
    """Return the name of the session whose transcript, or archive of one, a file is."""
    return name.split(SUFFIX)[0]


_COMPACTION = expression(rb'"type"\s*:\s*"compaction"|"subtype"\s*:\s*"compact_boundary"')
"""A record that a program writes when it has shortened what its model sees; inside a text the quotes are escaped."""


class ReadingRule(Struct, frozen=True):
    """How much must have come: bytes or lines; `idle` seconds without any more will do, too."""

    bytes: int = 100_000
    lines: int = 50
    idle: float = 300.0
    after_compaction: bool = True


class Growth(Struct, frozen=True):
    """What came since a transcript was read, and for how many seconds nothing has."""

    bytes: int
    lines: int
    rested: float
    is_compacted: bool = False


def is_due(growth: Growth, rule: ReadingRule) -> bool:
    """Tell whether a transcript is to be read on now."""
    if growth.bytes > 0 and (growth.bytes >= rule.bytes or growth.lines >= max(1, rule.lines)):
        return True
    return growth.rested >= rule.idle or (growth.is_compacted and rule.after_compaction)


def rests_in(growth: Growth, rule: ReadingRule) -> float | None:
    """Return in how many seconds a transcript has rested long enough, None if nothing has come to it."""
    return max(0.0, rule.idle - growth.rested) if growth.bytes > 0 else None


def tells_compaction(data: bytes) -> bool:
    """Tell whether a record of a compaction stands in these lines."""
    return _COMPACTION.search(data) is not None

"""Records of transcripts in any format: file names, times, text blocks, speakers, and utterances ready to store.

It also decides when a growing transcript is read. OpenClaw reads after a compaction, or after enough growth, where 0
means any growth. memoryd also reads when a conversation rests, so that its end is not delayed until the next one.

A time is RFC 3339, or seconds or milliseconds since 1970. An utterance is harmless, without secrets, on one line, and
limited in length.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from memoryd.domain.documents import Speaker, is_hidden
from memoryd.domain.expressions import expression
from memoryd.domain.redaction import redact
from memoryd.domain.sessions.turns import AHEAD, EARLIEST, LATEST
from memoryd.domain.text.sanitizing import with_cuts, without_cuts


class TranscriptFormat(StrEnum):
    """The program that wrote a transcript."""

    OPENCLAW = "openclaw"
    CLAUDE_CODE = "claude-code"


class Utterance(Struct, frozen=True):
    """The message in one line of a transcript: harmless, redacted, white space folded, never empty."""

    speaker: Speaker
    text: str
    time: datetime | None = None
    """Time with its zone; None if the line has no plausible time."""
    is_cut: bool = False
    """Whether the message was longer than `MAX_CHARS`."""

    @property
    def line(self) -> str:
        """The line of indexed text: `User: …`."""
        return f"{self.speaker}: {self.text}"


class LeftOut(StrEnum):
    """The reason why a line has no utterance."""

    NO_MESSAGE = "no message"
    """A header, a tool's result, an event, or an empty line."""
    DROPPED = "dropped"
    """A message by neither a person nor a model: generated, silent, or from a side chain."""
    UNREADABLE = "unreadable"
    """Not a JSON object, or a malformed message."""
    TOO_MANY_VALUES = "too many values"
    """More JSON values than are parsed: each takes far more memory than its bytes in the line."""


_SPEAKERS = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}


def speaker_of(role: object) -> Speaker | None:
    """Return the speaker of a role, None for tools, systems and invalid roles."""
    return _SPEAKERS.get(role) if isinstance(role, str) else None


def text_blocks(content: object) -> list[str] | None:
    """Return the texts of a message's content, which is a string or a list of blocks; None if it is neither.

    All texts together have at most `MAX_RAW_CHARS` characters.
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
    """Return the object at a key of a record, an empty one if there is none."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def make_utterance(speaker: Speaker, text: str) -> Utterance | LeftOut:
    """Return the utterance to store for a text, `DROPPED` if nothing remains of it."""
    stored = spoken_text(text)
    return Utterance(speaker, stored, is_cut=len(text) > MAX_CHARS) if stored else LeftOut.DROPPED


_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
"""Earliest plausible time. No program that writes transcripts is older: an earlier time comes from a clock not set."""
_SECONDS_BELOW = 1e11
"""A smaller number is in seconds, not milliseconds: as milliseconds it would be before March 1973."""


def first_time(*records: Mapping[str, object]) -> datetime | None:
    """Return the first plausible `timestamp` of the records, None if there is none."""
    return next(filter(None, (as_instant(record.get("timestamp")) for record in records)), None)


def as_instant(value: object) -> datetime | None:
    """Return a time from 2000 to before 2262 with its zone, by default UTC; None for any other value."""
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


def plausible_time(time: datetime | None, now: datetime) -> datetime | None:
    """Return a time, None if it is more than a day after `now`: the limit for turns sent to the API, too."""
    return time if time is not None and time <= now + AHEAD else None


MAX_CHARS = 1 << 18
"""Most characters stored of an utterance: longer ones are pasted files."""
MAX_RAW_CHARS = 1 << 20
"""Most characters read of a message, with the text that programs add to it."""
_MARGIN = 4096


def folded(text: str) -> str:
    """Return a text on one line: each run of white space, including Unicode line separators, becomes a space."""
    return " ".join(text.split())


def shortened(text: str, max_chars: int) -> str:
    """Return the beginning of a text, cut at the end of a line or else of a word, so that no half of a secret remains.

    If the last 4,096 characters have neither, all of them are dropped.
    """
    if len(text) <= max_chars:
        return text
    least = max(0, max_chars - _MARGIN)
    end = max(text.rfind("\n", least, max_chars), least)
    if end == least:
        end = max(text.rfind(" ", least, max_chars), least)
    return text[:end]


def spoken_text(text: str) -> str:
    """Return the stored form of a text: harmless, redacted, folded, at most `MAX_CHARS` characters."""
    masked = without_cuts(shortened(with_cuts(text), MAX_CHARS))
    text = folded(masked)
    # redact again: folding joins lines, and a command and its password may have been on two
    return text if text == masked else redact(text)


SUFFIX = ".jsonl"
_INSTANT = r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d{3})?Z"
_ARCHIVE = expression(rf".+\.jsonl\.(?:reset|deleted)\.{_INSTANT}", re.DOTALL)
"""OpenClaw's names for a session that was reset or deleted; its messages are still read."""
_DERIVED = expression(
    r".+\.(?:trajectory|checkpoint\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl", re.DOTALL | re.IGNORECASE
)
"""Files that OpenClaw derives from a session; they repeat its words."""


def is_transcript_name(name: str) -> bool:
    """Return whether a file of this name is a transcript; backups, checkpoints and trajectories are not."""
    if is_hidden(name) or _DERIVED.fullmatch(name):
        return False
    return (name.endswith(SUFFIX) and len(name) > len(SUFFIX)) or _ARCHIVE.fullmatch(name) is not None


def session_of(name: str) -> str:
    """Return the name of the session of a transcript or an archived transcript."""
    return name.split(SUFFIX)[0]


_COMPACTION = expression(rb'"type"\s*:\s*"compaction"|"subtype"\s*:\s*"compact_boundary"')
"""A record of a compaction of the model's context. Quotes inside a text are escaped, so texts do not match."""


class ReadingRule(Struct, frozen=True):
    """When to read a transcript: after this many new bytes or lines, or after `idle` seconds without growth."""

    bytes: int = 100_000
    lines: int = 50
    idle: float = 300.0
    after_compaction: bool = True


class Growth(Struct, frozen=True):
    """Growth of a transcript since the last read, and the seconds since it last grew."""

    bytes: int
    lines: int
    rested: float
    is_compacted: bool = False


def is_due(growth: Growth, rule: ReadingRule) -> bool:
    """Return whether a transcript is to be read now."""
    if growth.bytes > 0 and (growth.bytes >= rule.bytes or growth.lines >= max(1, rule.lines)):
        return True
    return growth.rested >= rule.idle or (growth.is_compacted and rule.after_compaction)


def rests_in(growth: Growth, rule: ReadingRule) -> float | None:
    """Return the seconds until a transcript has rested long enough, None if it has not grown."""
    return max(0.0, rule.idle - growth.rested) if growth.bytes > 0 else None


def tells_compaction(data: bytes) -> bool:
    """Return whether these lines have a record of a compaction."""
    return _COMPACTION.search(data) is not None

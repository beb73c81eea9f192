"""The status of a note from its front matter: `status` and `stale_after` of the Open Knowledge Format 0.2.

https://github.com/GoogleCloudPlatform/knowledge-catalog/blob/main/okf/SPEC.md, sections 5.4 and 5.5; other programs
write `superseded` for the same. The index stores marks rather than flags, because a note may become stale later.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.markdown import FRONT_MATTER_CHARS, front_matter
from memoryd.domain.text.sanitizing import Flag


class NoteStatus(Struct, frozen=True):
    """The explanation shown for a note that is not fully valid, and the factor for its score."""

    because: str
    weight: float


STATUS_EFFECTS: Mapping[Flag, NoteStatus] = {
    Flag.DEPRECATED: NoteStatus("its front matter says that it is deprecated, so it counts half", 0.5),
    Flag.SUPERSEDED: NoteStatus("its front matter says that it is superseded, so it counts half", 0.5),
    Flag.STALE: NoteStatus("it is past the day of its stale_after, so it counts half", 0.5),
    Flag.DRAFT: NoteStatus("its front matter says that it is a draft, so it counts three quarters", 0.75),
}
"""One row per flag; all output and ranking use it."""
_STATUSES = {str(flag): flag for flag in STATUS_EFFECTS if flag is not Flag.STALE}
_STALE_AFTER = "stale after "
_STATED = expression(r"^(status|stale_after)[ \t]*:[ \t]*\S", re.MULTILINE)
_SEPARATOR = ", "
_KEYS = (b"status", b"stale_after")


def status_marks(data: bytes) -> str:
    """Return the status marks of a note, UTF-8 that ends in `PADDING`, as the index stores them; usually empty."""
    head = data[: min(4 * FRONT_MATTER_CHARS, len(data) - len(PADDING))]
    if not head.removeprefix(b"\xef\xbb\xbf").startswith(b"---") or not any(key in head for key in _KEYS):
        return ""
    text = head.decode("utf-8", "replace")
    read = front_matter(text)
    # a block that is too long or not closed is not parsed
    stated = _STATED.findall(text[: read.end] if read.end else text.partition("\n\n")[0])
    unread = [f"{key} cannot be read" for key in dict.fromkeys(stated) if key not in read.values]
    return _SEPARATOR.join((*_marks(read.values), *unread))


def _marks(values: Mapping[str, object]) -> Iterator[str]:
    status, after = values.get("status"), values.get("stale_after")
    if isinstance(status, str) and status.strip().lower() in _STATUSES:
        yield status.strip().lower()
    elif status is not None and not isinstance(status, str):
        yield "status is no word"
    if isinstance(after, str):
        with suppress(ValueError):
            after = datetime.fromisoformat(after.strip())
    if isinstance(after, date):
        # a datetime is also a date: its day counts, as written
        yield f"{_STALE_AFTER}{after.isoformat()[:10]}"
    elif after is not None:
        yield "stale_after is no date"


def current_flags(marks: str, today: date) -> tuple[Flag, ...]:
    """Return the flags of a note on a day, from its marks, which may include marks of other kinds."""
    if not marks:
        return ()
    mark_set = {*marks.split(_SEPARATOR)}
    stale = any(mark.startswith(_STALE_AFTER) and mark.removeprefix(_STALE_AFTER) <= str(today) for mark in mark_set)
    return tuple(flag for flag in STATUS_EFFECTS if flag in mark_set or (flag is Flag.STALE and stale))


def is_outdated(flags: tuple[Flag, ...]) -> bool:
    """Return whether a note is no longer valid; a draft may become valid."""
    return any(flag is not Flag.DRAFT for flag in flags)


def status_weight(flags: tuple[Flag, ...]) -> float:
    """Return the factor for the score of a note, 0 to 1."""
    return min((STATUS_EFFECTS[flag].weight for flag in flags), default=1.0)


def without_status(marks: str) -> str:
    """Return the marks that report something unusual, which the owner should check."""
    return _SEPARATOR.join(
        mark for mark in marks.split(_SEPARATOR) if mark not in _STATUSES and not mark.startswith(_STALE_AFTER)
    )

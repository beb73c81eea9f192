"""Whether a note still holds, as its front matter says: `status` and `stale_after` of the Open Knowledge Format 0.2.

https://github.com/GoogleCloudPlatform/knowledge-catalog/blob/main/okf/SPEC.md, sections 5.4 and 5.5; `superseded` is a
word of other writers for the same. The index keeps marks, for the day on which a note becomes stale may be ahead.
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


class NoteStanding(Struct, frozen=True):
    """What is told of a note that does not hold in full, and what is left of its score."""

    because: str
    weight: float


STANDINGS: Mapping[Flag, NoteStanding] = {
    Flag.DEPRECATED: NoteStanding("its front matter says that it is deprecated, so it counts half", 0.5),
    Flag.SUPERSEDED: NoteStanding("its front matter says that it is superseded, so it counts half", 0.5),
    Flag.STALE: NoteStanding("it is past the day of its stale_after, so it counts half", 0.5),
    Flag.DRAFT: NoteStanding("its front matter says that it is a draft, so it counts three quarters", 0.75),
}
"""One row for each flag: every output and every ranking has it from here."""
_STATUSES = {str(flag): flag for flag in STANDINGS if flag is not Flag.STALE}
_STALE_AFTER = "stale after "
_NO_DAY = "stale_after is no date"
_NO_WORD = "status is no word"
_STATED = expression(r"^(status|stale_after)[ \t]*:[ \t]*\S", re.MULTILINE)
_SEPARATOR = ", "
_KEYS = (b"status", b"stale_after")


def standing_marks(data: bytes) -> str:
    """Return what a note, UTF-8 that ends in `PADDING`, says of itself, as the index keeps it; mostly nothing."""
    head = data[: min(4 * FRONT_MATTER_CHARS, len(data) - len(PADDING))]
    if not head.removeprefix(b"\xef\xbb\xbf").startswith(b"---") or not any(key in head for key in _KEYS):
        return ""
    text = head.decode("utf-8", "replace")
    read = front_matter(text)
    # of a block that is too long, or that nobody closed, nothing is read
    stated = _STATED.findall(text[: read.end] if read.end else text.partition("\n\n")[0])
    unread = [f"{key} cannot be read" for key in dict.fromkeys(stated) if key not in read.values]
    return _SEPARATOR.join((*_marks(read.values), *unread))


def _marks(values: Mapping[str, object]) -> Iterator[str]:
    status, after = values.get("status"), values.get("stale_after")
    if isinstance(status, str) and status.strip().lower() in _STATUSES:
        yield status.strip().lower()
    elif status is not None and not isinstance(status, str):
        yield _NO_WORD
    if isinstance(after, str):
        with suppress(ValueError):
            after = datetime.fromisoformat(after.strip())
    if isinstance(after, date):
        # a moment is one, too: its day counts, as written
        yield f"{_STALE_AFTER}{after.isoformat()[:10]}"
    elif after is not None:
        yield _NO_DAY


def standing_of(marks: str, today: date) -> tuple[Flag, ...]:
    """Return the flags of a note on a day, by its marks, among which those of other kinds may stand."""
    if not marks:
        return ()
    found = {*marks.split(_SEPARATOR)}
    stale = any(one.startswith(_STALE_AFTER) and one.removeprefix(_STALE_AFTER) <= str(today) for one in found)
    return tuple(flag for flag in STANDINGS if flag in found or (flag is Flag.STALE and stale))


def is_over(standing: tuple[Flag, ...]) -> bool:
    """Tell whether a note holds no longer; a draft may come to hold."""
    return any(flag is not Flag.DRAFT for flag in standing)


def weight_of(standing: tuple[Flag, ...]) -> float:
    """Return what is left of the score of a note, 0 to 1."""
    return min((STANDINGS[flag].weight for flag in standing), default=1.0)


def without_standing(marks: str) -> str:
    """Return the marks that tell of something odd, which its owner should look at."""
    return _SEPARATOR.join(
        one for one in marks.split(_SEPARATOR) if one not in _STATUSES and not one.startswith(_STALE_AFTER)
    )

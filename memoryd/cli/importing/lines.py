"""The lines of an import: memories and notes with their place in the source, or why one cannot be imported.

This module reads lines of JSON, as an export writes them; all other sources are converted into the same lines.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Set
from datetime import date, datetime, timedelta
from typing import IO, Any

from msgspec import Struct

from memoryd.domain.documents import IMPORTED
from memoryd.wire import LISTED_MAX

LINE_BYTES_MAX = 256 * 1024
BATCH = LISTED_MAX
"""Lines of one request, as many as are allowed: each request reads the complete logs of its days."""
BATCH_DAYS = 100
"""Days of one request: each is a log that is written, so that a request is answered soon."""
BATCH_BYTES = 400_000
"""Bytes of one request, so that it stays within its limit even with escaped characters."""
TOO_LONG = f"it is longer than {LINE_BYTES_MAX // 1024} kB"
_SECONDS_MAX = 100_000_000_000
"""A larger time is in milliseconds."""


class ImportLine(Struct, frozen=True):
    """One entry of a source: a memory, a note with its `path`, or the `trouble` that keeps it from being either."""

    number: int = 0
    memory: dict[str, Any] | None = None
    trouble: str = ""
    bytes: int = 0
    where: str = ""
    """The file, and the place in it, if lines have no numbers."""
    note: dict[str, str] | None = None
    same_as: str = ""
    """The place of an earlier line with the same content."""

    @property
    def days(self) -> Set[str]:
        """The files that it changes: the days of a memory, "" for today if it has none; the path of a note."""
        if self.note is not None:
            return {self.note["path"]}
        days = self.memory.get("days") if self.memory is not None else None
        return {str(day) for day in days} if days and isinstance(days, list) else {""}

    @property
    def place(self) -> str:
        """Its place in the source, in words."""
        return self.where or f"line {self.number}"

    @property
    def sample(self) -> str:
        """Its content in one line, for a dry run."""
        if self.note is not None:
            return self.note["path"]
        memory: Mapping[str, Any] = self.memory or {}
        return " ".join(map(str, [*memory.get("days", [])[:1], memory.get("kind", "note"), memory.get("text", "")]))


def import_lines(file: IO[bytes]) -> Iterator[ImportLine]:
    """Yield the lines of a JSON Lines file; skip empty lines, and do not read too long ones into memory."""
    number = 0
    while raw := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(raw) > LINE_BYTES_MAX:
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(LINE_BYTES_MAX + 1)
            yield ImportLine(number, trouble=f"{TOO_LONG}, which no memory is")
        elif raw.strip():
            yield _import_line(number, raw)


def _import_line(number: int, raw: bytes) -> ImportLine:
    try:
        value = json.loads(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError) as exc:
        return ImportLine(number, trouble=f'it is no JSON, as {{"text": …}}: {exc}')
    if not isinstance(value, dict):
        return ImportLine(number, trouble='it is no object, as {"text": …}')
    # the source lines of the exported memory mean nothing here, and may be long
    value.pop("sources", None)
    return ImportLine(number, value, bytes=len(raw))


def batches(lines: Iterable[ImportLine]) -> Iterator[list[ImportLine]]:
    """Group lines into batches, each of which fits into one request."""
    batch: list[ImportLine] = []
    size, days = 0, set[str]()
    for line in lines:
        size, days = size + line.bytes, days | line.days
        # lines of many days are best sent together, because each batch rewrites the logs of its days
        has_many_days = len(batch) >= BATCH_DAYS and len(days) > BATCH_DAYS
        if batch and (len(batch) == BATCH or size > BATCH_BYTES or has_many_days):
            yield batch
            batch, size, days = [], line.bytes, set(line.days)
        batch.append(line)
    if batch:
        yield batch


def expected_changes(lines: Iterable[ImportLine]) -> tuple[int, int]:
    """Return the maximum number of changes of an import, one for each day of a batch and each note, and its bytes."""
    changes = content = 0
    for batch in batches(lines):
        changes += len({day for line in batch if not line.trouble and not line.same_as for day in line.days})
        content += sum(line.bytes for line in batch)
    return changes, content


def memory_line(
    where: str, text: object, when: object, *, source: str, kind: str = "note", about: object = None
) -> ImportLine:
    """Return a memory of another program, with the name of the program as tag, and the day of `when` if there is one.

    Returns a line with the trouble if the text is empty or too long, or the time cannot be read.
    """
    if not isinstance(text, str) or not text.strip():
        return ImportLine(trouble="it says nothing", where=where)
    size = len(text.encode("utf-8", "replace"))
    if size > LINE_BYTES_MAX:
        return ImportLine(trouble=f"{TOO_LONG}, which no memory is", where=where)
    try:
        days = [] if when in (None, "") else [str(day_of(when))]
    except ValueError as exc:
        return ImportLine(trouble=str(exc), where=where)
    entities = [about.strip()] if isinstance(about, str) and about.strip() else []
    memory = {"text": text, "kind": kind, "entities": entities, "saidBy": "import", "tags": [source], "days": days}
    return ImportLine(memory=memory, bytes=size + 200, where=where)


def note_line(where: str, path: str, text: bytes, *, source: str) -> ImportLine:
    """Return a note of another program, in a folder named after the program, or a line with the trouble."""
    if len(text) > LINE_BYTES_MAX:
        return ImportLine(trouble=f"{TOO_LONG}: put it into the workspace yourself", where=where)
    try:
        content = text.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return ImportLine(trouble="it is no UTF-8 text", where=where)
    if not content.strip():
        return ImportLine(trouble="it says nothing", where=where)
    return ImportLine(bytes=len(text), where=where, note={"path": f"{IMPORTED}{source}/{path}", "text": content})


def day_of(when: object) -> date:
    """Return the local day of a time: an ISO 8601 text, or seconds or milliseconds since 1970.

    Raises ValueError if the time cannot be read, or is more than a day ahead.
    """
    try:
        if isinstance(when, str):
            moment = datetime.fromisoformat(when.strip())
        elif isinstance(when, int | float) and not isinstance(when, bool):
            moment = datetime.fromtimestamp(when / 1000 if abs(when) > _SECONDS_MAX else when).astimezone()
        else:
            raise ValueError
        day = moment.astimezone().date()
    except (ValueError, OverflowError, OSError) as exc:
        raise ValueError(f"its time cannot be read: {str(when)[:40]!r}") from exc
    if day > datetime.now().astimezone().date() + timedelta(days=1):
        raise ValueError(f"its time lies ahead: {day}")
    return day

"""What an import sends: memories and notes one by one, each with its place in the source, and why one is none.

Lines of JSON, as an export has them, are read here; every other source makes the same of what it holds.
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
"""As many as one request may have: each has the logs of its days read as a whole."""
BATCH_DAYS = 100
"""Each is a log that is written, so that a request has its answer soon."""
BATCH_BYTES = 400_000
"""So that a request stays within its limit, however its letters are written."""
TOO_LONG = f"it is longer than {LINE_BYTES_MAX // 1024} kB"
_SECONDS_MAX = 100_000_000_000
"""A greater number of seconds is one of milliseconds."""


class ImportLine(Struct, frozen=True):
    """One thing of a source: a memory, or a note with its `path`, or why it is none of both."""

    number: int = 0
    memory: dict[str, Any] | None = None
    trouble: str = ""
    bytes: int = 0
    where: str = ""
    """Its place where lines have no numbers: a file, and the place in it."""
    note: dict[str, str] | None = None
    same_as: str = ""
    """The place of an earlier one that says the same."""

    @property
    def days(self) -> Set[str]:
        """What is written once for it: the days on which it was said, "" for one without, of today; a note."""
        if self.note is not None:
            return {self.note["path"]}
        given = self.memory.get("days") if self.memory is not None else None
        return {str(day) for day in given} if given and isinstance(given, list) else {""}

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return self.where or f"line {self.number}"

    @property
    def sample(self) -> str:
        """What it says, in short."""
        if self.note is not None:
            return self.note["path"]
        memory: Mapping[str, Any] = self.memory or {}
        return " ".join(map(str, [*memory.get("days", [])[:1], memory.get("kind", "note"), memory.get("text", "")]))


def import_lines(file: IO[bytes]) -> Iterator[ImportLine]:
    """Read lines one by one, none of them whole that is too long; empty ones are passed over."""
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
        return ImportLine(number, trouble=f"it is no JSON: {exc}")
    if not isinstance(value, dict):
        return ImportLine(number, trouble='it is no object, as {"text": …}')
    # where a memory stood says nothing here, and may be long
    return ImportLine(number, {key: one for key, one in value.items() if key != "sources"}, bytes=len(raw))


def batches(lines: Iterable[ImportLine]) -> Iterator[list[ImportLine]]:
    """Put lines together, as many as one request may hold."""
    batch: list[ImportLine] = []
    size, days = 0, set[str]()
    for line in lines:
        size, days = size + line.bytes, days | line.days
        # what was said on many days is best sent together, for each batch writes their logs once more
        has_many_days = len(batch) >= BATCH_DAYS and len(days) > BATCH_DAYS
        if batch and (len(batch) == BATCH or size > BATCH_BYTES or has_many_days):
            yield batch
            batch, size, days = [], line.bytes, set(line.days)
        batch.append(line)
    if batch:
        yield batch


def expected_changes(lines: Iterable[ImportLine]) -> tuple[int, int]:
    """Return how many changes an import makes at most, one for each day of a batch and each note, and its bytes."""
    changes = content = 0
    for batch in batches(lines):
        changes += len({day for line in batch if not line.trouble and not line.same_as for day in line.days})
        content += sum(line.bytes for line in batch)
    return changes, content


def memory_line(
    where: str, text: object, when: object, *, source: str, kind: str = "note", about: object = None
) -> ImportLine:
    """Return what another program remembers, with the name of that program, and the day on which it was said."""
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
    """Return a note of another program, in the folder of the name of that program."""
    if len(text) > LINE_BYTES_MAX:
        return ImportLine(trouble=f"{TOO_LONG}: put it into the workspace yourself", where=where)
    try:
        whole = text.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return ImportLine(trouble="it is no UTF-8 text", where=where)
    if not whole.strip():
        return ImportLine(trouble="it says nothing", where=where)
    note = {"path": f"{IMPORTED}{source}/{path}", "text": whole}
    return ImportLine(bytes=len(text), where=where, note=note)


def day_of(when: object) -> date:
    """Return the day of a time, here: an ISO 8601 text, or seconds or milliseconds since 1970; raises ValueError."""
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

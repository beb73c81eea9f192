"""The lines of a file that is imported, a batch at a time; a line that is none is told by its number."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

LINE_BYTES_MAX: Final = 256 * 1024
BATCH: Final = 100
BATCH_BYTES: Final = 400_000
"""So that a request stays within its limit, however its letters are written."""


@dataclass(frozen=True, slots=True)
class ImportLine:
    """A line of the file: a memory as it stands there, or why it is none."""

    number: int
    memory: dict[str, Any] | None
    trouble: str = ""
    bytes: int = 0


def import_lines(file: IO[bytes]) -> Iterator[ImportLine]:
    """Read lines one by one, none of them whole that is too long; empty ones are passed over."""
    number = 0
    while raw := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(raw) > LINE_BYTES_MAX:
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(LINE_BYTES_MAX + 1)
            yield ImportLine(number, None, f"it is longer than {LINE_BYTES_MAX // 1024} kB, which no memory is")
        elif raw.strip():
            yield _line(number, raw)


def batches(lines: Iterator[ImportLine]) -> Iterator[list[ImportLine]]:
    """Put lines together, as many as one request may hold."""
    batch: list[ImportLine] = []
    size = 0
    for line in lines:
        if batch and (len(batch) == BATCH or size + line.bytes > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += line.bytes
    if batch:
        yield batch


def expected_changes(file: IO[bytes]) -> tuple[int, int]:
    """Return how many changes an import of a file makes at most, one for each day of a batch, and its bytes."""
    changes = octets = 0
    for batch in batches(import_lines(file)):
        told = [line.memory.get("days") for line in batch if line.memory is not None]
        days = {str(day) for one in told for day in (one if isinstance(one, list) else ())}
        # those without a day are of today
        changes += len(days) + any(not one for one in told)
        octets += sum(line.bytes for line in batch)
    return changes, octets


def _line(number: int, raw: bytes) -> ImportLine:
    try:
        found = json.loads(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError) as exc:
        return ImportLine(number, None, f"it is no JSON: {exc}")
    if not isinstance(found, dict):
        return ImportLine(number, None, 'it is no object, as {"text": …}')
    # where a memory stood says nothing here, and may be long
    return ImportLine(number, {key: value for key, value in found.items() if key != "sources"}, bytes=len(raw))

"""What is remembered of exports: how far each transcript was exported, and where the exports lie."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.transcripts.reading import START, Tail, read_tail, written_tail
from memoryd.files.writing import replace_file

RECORD: Final = "exports.json"


@dataclass(frozen=True, slots=True)
class Exported:
    """How far a transcript was read; its export holds its lines up to `lines`, the last one that says something."""

    transcript: str
    tail: Tail = START
    lines: int = 0
    last_ns: int = 0
    """When its last message was said."""
    written: tuple[int, int, int] | None = None
    """Inode, size and time of the export; None while there is none: nothing was said, or all of it is too old."""
    is_more: bool = False
    """Whether there was more to read."""

    def is_intact(self, stat: FileStat | None) -> bool:
        """Tell whether an export is the one that was written."""
        return self.written is not None and stat is not None and identity(stat) == self.written


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """The exports of an agent, by the names of their files, and their folder; empty where none were ever made."""

    folder: str = ""
    exported: Mapping[str, Exported] = field(default_factory=dict)


def identity(stat: FileStat) -> tuple[int, int, int]:
    """Return what tells one state of an export from another."""
    return stat.inode, stat.size, stat.mtime_ns


class ExportRecordFile:
    """The record of one agent on disk. It can be lost: everything is exported again then, and the marks tell ours."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> ExportRecord:
        """Return what is remembered; nothing if the file is not there or damaged."""
        try:
            held = json.loads(self.path.read_bytes())
            exported = {name: _parsed(value) for name, value in held["exports"].items()}
            return ExportRecord(str(held["folder"]), exported)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return ExportRecord()

    def save(self, record: ExportRecord) -> None:
        """Write the record whole; raises OSError."""
        exports = {name: _told(one) for name, one in record.exported.items()}
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(self.path, json.dumps({"folder": record.folder, "exports": exports}).encode())


def _told(one: Exported) -> dict[str, object]:
    return {
        "transcript": one.transcript,
        "tail": written_tail(one.tail),
        "lines": one.lines,
        "last": one.last_ns,
        "written": one.written,
        "more": one.is_more,
    }


def _parsed(value: Mapping[str, object]) -> Exported:
    tail, written = read_tail(str(value["tail"])), value["written"]
    known = Exported(str(value["transcript"]))
    lines, last = value["lines"], value["last"]
    if not isinstance(lines, int) or not isinstance(last, int):
        return known
    held = tuple(int(one) for one in written) if isinstance(written, list) else None
    known = replace(known, tail=tail, lines=lines, last_ns=last, is_more=value["more"] is True)
    return replace(known, written=(held[0], held[1], held[2])) if held else known

"""A download that has begun: NAME.part, and NAME.part.json that says what it is a part of."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from memoryd.files.writing import replace_file


@dataclass(frozen=True, slots=True)
class PartNote:
    """Of which file, and which version of it, a part is."""

    spec: str
    url: str
    validator: str
    """A strong ETag or a Last-Modified date for If-Range; empty if the server gave neither."""
    sha256: str | None
    size: int | None


class PartFile:
    """The beginning of `target`, kept beside it until it is whole."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.part.json")

    def bytes(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def note(self) -> PartNote | None:
        """Return what the part is of; None if nobody knows, and then it is worthless."""
        try:
            return PartNote(**json.loads(self._note.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def keep_note(self, note: PartNote) -> None:
        replace_file(self._note, json.dumps(asdict(note)).encode())

    def open_at(self, start: int) -> BinaryIO:
        """Return the part opened to grow from `start`; what lay behind is cut off."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(descriptor, start)
        os.lseek(descriptor, start, os.SEEK_SET)
        return os.fdopen(descriptor, "wb", buffering=0)

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def publish(self) -> None:
        """Put the part in the target's place, on the disk before it is seen there."""
        with self.path.open("rb") as stream:
            os.fsync(stream.fileno())
        self.path.replace(self.target)
        self._note.unlink(missing_ok=True)

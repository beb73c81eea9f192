"""What one round of the indexer reads under, and reading by it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.media import modality_of
from memoryd.domain.syncplan import Known
from memoryd.files.scanner import Scan
from memoryd.index.reading import LARGE_BYTES, Reader, Reading, ReadStatus
from memoryd.index.yielding import in_turns


@dataclass(frozen=True, slots=True)
class Work:
    """What one round reads under: the scan, and what is held of each file, of a renamed one under its new name."""

    seen: Scan
    reader: Reader
    held: Mapping[RelativePath, Known]
    came_from: Mapping[RelativePath, RelativePath]
    """The old path of each file that may be a renamed one."""
    afresh: bool

    def is_large(self, path: RelativePath) -> bool:
        """Tell whether a file is to be cut aside."""
        return self.seen.files[path].size > LARGE_BYTES and modality_of(path) is None

    def is_move(self, reading: Reading) -> bool:
        """Tell whether a file that may be a renamed one holds what the old one held."""
        if reading.path not in self.came_from or reading.status not in (ReadStatus.SAME, ReadStatus.CHANGED):
            return False
        return reading.read_stamp.sha256 == self.held[reading.path].digest


def read_under_the_rules(work: Work, batch: Sequence[RelativePath]) -> list[Reading]:
    """Read files; if the privacy rules changed before that was done, nothing may follow from it."""
    readings = [work.reader.read(path, work.held.get(path)) for path in in_turns(batch)]
    if not batch or work.reader.rules.is_current():
        return readings
    return [replace(reading, status=ReadStatus.AGAIN) for reading in readings]


def may_follow(reading: Reading, work: Work) -> bool:
    """Tell whether what was read a while ago may be done still; what is to be kept may have become private."""
    reader = work.reader
    return reader.is_still_public(reading.path) if reading.status is ReadStatus.CHANGED else reader.rules.is_current()

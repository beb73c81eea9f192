"""Checkpoints: the write-ahead log is moved into the database, and cut, under a mark that outlives a crash.

Until it is cut, a file that was partly or wholly brought up to date makes sense together with its log only: with a
shorter log it would be a mixture of two states, which no check of structure finds. SQLite may take it that nobody
touches the log; a state directory that people tidy up may not.
"""

import contextlib
from pathlib import Path

import apsw
import structlog

from memoryd.errors import DamagedDatabase

log = structlog.get_logger(__name__)

LOG_FRAMES = 500
"""How many frames (pages) the log may grow by before it is moved."""
CUT_TIMEOUT_MS = 200
"""How long the writer waits for readers so that it can cut the log."""


def mark_of(path: Path) -> Path:
    """Return the path of the mark, which holds how many frames of the log are being moved."""
    return path.with_name(f"{path.name}-checkpoint")


class Checkpoints:
    """The checkpoints of one database, made by its writer: `look`, `attach`, then `run` at will, at last `finish`."""

    def __init__(self, path: Path) -> None:
        self._mark = mark_of(path)
        self._log = path.with_name(f"{path.name}-wal")
        self._frames = 0
        self._moving = 0
        self._due_at = LOG_FRAMES

    def look(self) -> None:
        """See what the last checkpoint left, before the file is opened; raises DamagedDatabase when its log is gone."""
        self._frames, self._moving, self._due_at = 0, _read_count(self._mark), LOG_FRAMES
        if self._moving and not self._log.exists():
            raise DamagedDatabase("the write-ahead log was lost in the middle of a checkpoint")
        if self._moving and not self._log.stat().st_size:
            self._unmark()

    def attach(self, writer: apsw.Connection) -> None:
        """Take over from SQLite's own checkpoints; raises DamagedDatabase when the last one lost a part of its log."""
        if self._moving and writer.wal_checkpoint()[0] < self._moving:
            raise DamagedDatabase("the write-ahead log was damaged in the middle of a checkpoint")
        writer.set_wal_hook(self._on_commit)

    def run(self, writer: apsw.Connection) -> None:
        """Move the log into the file and cut it to nothing; raises BusyError while a reader needs it."""
        self._moving = self._moving or self._frames
        self._mark.write_text(str(self._moving))
        writer.wal_checkpoint(None, apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._frames, self._due_at = 0, LOG_FRAMES
        self._unmark()

    def run_if_due(self, writer: apsw.Connection, busy_timeout_ms: int) -> None:
        """Do it when the log is long; if a reader or the disk stands in the way, when it is longer still."""
        if self._frames < self._due_at:
            return
        self._due_at = self._frames + LOG_FRAMES
        writer.set_busy_timeout(CUT_TIMEOUT_MS)
        try:
            self.run(writer)
        except (apsw.Error, OSError) as exc:
            log.debug("checkpoint put off", reason=str(exc), frames=self._frames)
        finally:
            writer.set_busy_timeout(busy_timeout_ms)

    def finish(self, writer: apsw.Connection) -> None:
        """Do it for the last time and close; SQLite then removes the log."""
        with contextlib.suppress(apsw.Error, OSError):
            self.run(writer)
        writer.close()
        if not self._log.exists():
            self._unmark()

    def _on_commit(self, _writer: apsw.Connection, _name: str, frames: int) -> int:
        self._frames = frames
        if self._moving and frames < self._moving:
            # It began anew, which it does only when all of it has been moved.
            self._unmark()
        return apsw.SQLITE_OK

    def _unmark(self) -> None:
        self._moving = 0
        with contextlib.suppress(OSError):
            self._mark.unlink(missing_ok=True)


def _read_count(mark: Path) -> int:
    try:
        return int(mark.read_text() or "0")
    except (OSError, ValueError):
        return 0

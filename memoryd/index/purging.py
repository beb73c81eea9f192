"""Taking documents out of the index, and of what may be private every trace."""

import os
import time
from collections.abc import Sequence, Set
from concurrent.futures import Executor
from pathlib import Path

import structlog

from memoryd.domain.documents import RelativePath
from memoryd.domain.syncplan import SyncPlan
from memoryd.index.file_table import FileTable
from memoryd.index.reading import Reader
from memoryd.index.sync_reporter import SyncReporter
from memoryd.index.threads import in_thread
from memoryd.index.withdrawn import Withdrawn
from memoryd.index.yielding import with_pauses
from memoryd.store.index.database import Database

log = structlog.get_logger(__name__)

PUT_OFF_SECONDS = 2.0
"""How long a rewriting, which takes a tenth of a second for 10 MB of notes and more on a busy machine, gives way to
questions."""


class Purger:
    """Removes documents. `has_patterns` says whether there are names that the rules of the present round hide."""

    def __init__(
        self,
        *,
        database: Database,
        executor: Executor,
        workspace: Path,
        table: FileTable,
        withdrawn: Withdrawn,
        reporter: SyncReporter,
    ) -> None:
        self.has_patterns = False
        self._database = database
        self._executor = executor
        self._workspace = workspace
        self._table = table
        self._withdrawn = withdrawn
        self._reporter = reporter
        self._owed_since: float | None = None

    @property
    def is_owing(self) -> bool:
        """Whether words of what is private now may still lie in the file of the index."""
        return self._owed_since is not None

    def owe(self) -> None:
        """Note that they may."""
        if self._owed_since is None:
            self._owed_since = time.monotonic()

    async def remove(self, paths: Sequence[RelativePath], *, hidden: Set[RelativePath]) -> None:
        """Remove these from the index, as far as they are in it, and forget them; raises StoreError.

        `hidden`: those of them that are there, and not for us.
        """
        indexed = [path for path in paths if path in self._table.indexed]
        if indexed:
            # nobody is told of them from here on: between the two lines the index may hold them for seconds, and
            # if it cannot be written, it does so until it can be
            self._withdrawn.add(indexed)
            await self._erase(indexed, hidden)
            self._withdrawn.release(indexed)
            self._reporter.note_commit()
            log.debug("files removed", count=len(indexed), first=indexed[0])
        self._table.forget(paths)

    async def withdraw(self, todo: SyncPlan, reader: Reader) -> None:
        """Let nobody be told of what is private now, though the index cannot be written."""
        suspects = [(path, path) for path in todo.read] + list(todo.rename)
        held = [(old, new) for old, new in suspects if old in self._table.indexed]
        private = await in_thread(
            self._executor, lambda: [old for old, new in with_pauses(held) if reader.says_private(new)]
        )
        if self._withdrawn.add([*private, *(path for path in todo.remove if path in self._table.indexed)]):
            self._reporter.note_purge()

    async def drop_remains(self, *, is_asked: bool) -> None:
        """Rewrite the keyword index without what was purged, once for all of it, and cut the log that had it.

        Vectors of texts that no note holds any more go too: they may be of an earlier version of what is private now.
        `is_asked`, a question waits for the next round: then it is put off, for a while. Nobody is told of what is
        left, whoever asks.
        """
        since = self._owed_since
        if since is None or (is_asked and time.monotonic() - since < PUT_OFF_SECONDS):
            return
        await self._database.documents.drop_remains()
        self._reporter.note_purge()
        # after the rewriting, which the log holds too; if it fails, all of it is still owed
        await self._database.checkpoint()
        self._owed_since = None

    async def _erase(self, indexed: Sequence[RelativePath], hidden: Set[RelativePath]) -> None:
        """Remove files; of what may be private now, not even a vector may stay.

        That is what is hidden, and what is gone while there are places that are kept out: it may have been moved there.
        """
        # the disk is not asked again what is there: what comes back from here on is read by the next round
        moved = await in_thread(self._executor, lambda: [path for path in indexed if self._may_be_moved_away(path)])
        private = {*moved, *(path for path in indexed if path in hidden)}
        gone = [path for path in indexed if path not in private]
        await self._database.documents.remove(gone, purged=list(private))
        if private:
            self.owe()
            # after the removal: what somebody loads anew before it would hold them again
            self._reporter.note_purge()
        else:
            await self._database.checkpoint()

    def _may_be_moved_away(self, path: RelativePath) -> bool:
        # an extra folder that vanished as a whole was unmounted, or is no longer wanted
        is_out_of_sight = path.startswith("../") and not os.path.lexists((self._workspace / path).parent)
        return (self.has_patterns or self._table.has_left_out) and not is_out_of_sight

"""What the indexer tells the outside: it keeps the state that status shows, and passes on what happened."""

import time
from collections.abc import Sequence, Set
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from memoryd.domain.counters import Pace
from memoryd.domain.documents import RelativePath, SkippedFile
from memoryd.domain.syncplan import Grace, is_mass_removal
from memoryd.errors import StoreError
from memoryd.files.scanner import Scan, ScanRules
from memoryd.index.file_table import FileTable
from memoryd.index.look import Look
from memoryd.index.planning import Planned, Waiting
from memoryd.index.sync_state import IndexEvents, Removal, SyncState
from memoryd.wire import Event

log = structlog.get_logger(__name__)


class SyncReporter:
    """Holds the `SyncState` of one workspace; whoever reads it has a value that does not change."""

    def __init__(self, events: IndexEvents, table: FileTable, grace: Grace) -> None:
        self.state = SyncState()
        self.waiting = Waiting()
        self.unread: set[RelativePath] = set()
        self.pace = Pace()
        """What is still to be read, as of the last look; it changes under whoever keeps it."""
        self.has_again = False
        """Whether some of them are to be read at the next look only."""
        self.has_links = False
        """Whether documents may change without an event, as they lie behind links."""
        self._table = table
        self._events = events
        self._grace = grace

    def count_from(self, generation: int) -> None:
        """Count the changes that are committed on from those of an indexer before."""
        self.state = replace(self.state, generation=generation)

    @property
    def held(self) -> int:
        """How many files wait until somebody can say whether they are private."""
        return self._table.held

    def note_look(self, look: Look) -> None:
        """Note what was on disk."""
        self.has_links = look.seen.has_links
        self._update(remote=look.remote)
        if look.only is None:
            self._events.on_scan(look.seen)

    def note_rules(self, rules: ScanRules) -> None:
        """Note what the privacy rules say."""
        self._update(notice=rules.notice)
        if rules.hold != self.state.hold:
            self._update(hold=rules.hold)
            # what may be embedded changes with it
            self._events.on_commit()

    def note_plan(self, look: Look, planned: Planned, queued: Set[RelativePath]) -> None:
        """Note what is to be done, beside the large files that are `queued`: a plan for some files is none for them."""
        todo = planned.todo
        self.waiting, self.has_again = planned.waiting, False
        still_queued = (queued & look.seen.files.keys()) - {*todo.read}
        self.unread = {*todo.read, *(new for _, new in todo.rename), *still_queued}
        self._update(
            last_scan_at=datetime.now(UTC) if look.only is None else self.state.last_scan_at,
            roots=tuple(look.seen.roots),
            pending_files=len(todo.read) + len(todo.rename) + len(todo.remove) + len(still_queued),
            is_dirty=bool(still_queued) or not todo.is_empty or not todo.is_settled,
        )
        if not todo.is_empty:
            self._events.publish(Event.SYNC, {"state": "started", "pendingFiles": self.state.pending_files})

    def note_removed(self, count: int) -> None:
        """Note that so many files less are to be removed."""
        self._update(pending_files=self.state.pending_files - count)

    def note_read(self, paths: Sequence[RelativePath]) -> None:
        """Note that these files were read."""
        self.unread.difference_update(paths)
        self.pace.note(time.monotonic(), len(paths))
        self._update(pending_files=self.state.pending_files - len(paths))

    def note_done(
        self, seen: Scan, planned: Planned, *, again: Sequence[RelativePath], queued: Set[RelativePath]
    ) -> None:
        """Note the end of a round that leaves files to be read `again`, and large ones `queued`."""
        todo, files, stay = planned.todo, len(self._table.indexed), f"they stay in the index for {self._grace.root:g} s"
        out_of_sight = f"{planned.out_of_sight} notes are out of sight with their folder or disk; {stay}"
        self.unread, self.has_again = {*again, *queued}, bool(again)
        self._update(
            skipped=(*seen.skipped, *(SkippedFile(path, why) for path, why in self._table.reasons.items())),
            pending_files=len(again) + len(queued) + self._table.held,
            is_dirty=bool(again or queued) or not todo.is_settled,
            last_sync_at=datetime.now(UTC),
            trouble=out_of_sight if planned.out_of_sight else None,
        )
        removed = len(todo.remove)
        if not todo.is_empty:
            log.info("synced", read=len(todo.read), renamed=len(todo.rename), removed=removed, files=files)
            self._events.publish(Event.SYNC, {"state": "finished", "pendingFiles": self.state.pending_files})
        if is_mass_removal(removed, files):
            self._note_mass_removal(Removal(datetime.now(UTC), removed, files))

    def note_commit(self) -> None:
        """Note that the index holds something else than before."""
        self._update(generation=self.state.generation + 1)
        self._events.on_commit()

    def note_release(self) -> None:
        """Note that nothing is withheld any more, since the index could be written: what waited for it may go on."""
        self._events.on_commit()

    def note_purge(self) -> None:
        """Have everybody forget texts that go from the index, or nobody may be told of."""
        self._events.on_purge()

    def note_trouble(self, exc: StoreError) -> None:
        """Note why the index could not be written."""
        if self.state.trouble != str(exc):
            log.warning("index cannot be written", reason=str(exc))
        self._update(trouble=str(exc), is_dirty=True)

    def _note_mass_removal(self, removal: Removal) -> None:
        log.warning("most notes were deleted", files=removal.files, left=removal.left)
        self._update(mass_removal=removal)
        self._events.publish(Event.SYNC, {"state": "mass removal", "files": removal.files, "left": removal.left})

    def _update(self, **changes: object) -> None:
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]  # replace checks the names

"""What a question waits for: that the index knows of the changes which were made before it was asked."""

import asyncio
from dataclasses import dataclass

from memoryd.index.demands import Demands
from memoryd.index.sync_reporter import SyncReporter
from memoryd.index.unseen import NOTHING, Changes


@dataclass(frozen=True, slots=True)
class CatchingUp:
    """Has what changed looked at, for questions, and counts what that leaves."""

    demands: Demands
    reporter: SyncReporter

    async def catch_up(self, seconds: float, *, is_heard: bool) -> int:
        """Have the disk looked at if it changed, and the small notes among what changed read, within these seconds.

        `is_heard` says that all changes in the watched folders were told by events. Return how many documents the index
        does not hold as they were on disk at the call, as far as is known; without time, nothing is looked at. A
        document that is gone is none of them: `Indexer.gone` names it, and no answer tells of it.
        """
        # what links lead to may lie in folders that are not watched, and links on the way, too
        is_heard = is_heard and not self.reporter.has_links
        if is_heard and not self._needs_look():
            # a round that goes on may have looked already, and reads now what this question wants to find
            ticket = self.demands.ticket
        elif seconds > 0:
            ticket = self.demands.ask(is_heard=is_heard)
        else:
            return self._pending(self.demands.unseen.changes)
        try:
            async with asyncio.timeout(seconds):
                await self.demands.answered(ticket)
        except TimeoutError:
            return max(self._pending(self.demands.unseen.changes), int(not is_heard))
        # what was told since the look began is younger than the question, unless no plan came of it
        return self._pending(self.demands.unseen.changes if self.demands.has_failed else NOTHING)

    def _pending(self, changes: Changes) -> int:
        waiting, unread = self.reporter.waiting, self.reporter.unread
        names = (waiting.unsettled | waiting.emptied | changes.names) - unread
        count = len(unread) + len(names) + self.reporter.held + waiting.out_of_sight
        return max(count, int(changes.is_vague or self.reporter.state.last_sync_at is None))

    def _needs_look(self) -> bool:
        """Tell whether the look that was taken last, or is taken now, is not enough."""
        if self.demands.unseen.is_waiting or self.reporter.has_again or self.reporter.waiting.unsettled:
            return True
        # a look that is taken for nobody leaves young notes for later
        return bool(self.demands.unseen.changes) and not self.demands.is_asked

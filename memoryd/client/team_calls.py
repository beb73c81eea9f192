"""Calls on a memory that others write, too: that of a team, and a folder on several machines."""

from typing import Final

from memoryd.client.connection import DaemonConnection
from memoryd.replies.changes import ConflictSettledReply, ConflictsReply
from memoryd.replies.team import TeamPromoteReply, TeamReply, TeamRevokeReply

EXCHANGE_MS: Final = 240_000
"""How long an exchange may take where a network is slow."""


class TeamCalls(DaemonConnection):
    """Those of Client."""

    def promote_memory(self, target: str, *, dry_run: bool = False, agent: str | None = None) -> TeamPromoteReply:
        """Share a memory with the team, or say what would be shared; shared twice it is there once.

        Raises NotFound, Denied for what must not be shared, and but for the owner.
        """
        body = {"target": target, "dryRun": dry_run, "agent": agent}
        return self._send(TeamPromoteReply, "/team/promote", body, wait_ms=EXCHANGE_MS)

    def revoke_memory(self, target: str, *, dry_run: bool = False, agent: str | None = None) -> TeamRevokeReply:
        """Take a memory of one's own back from the team; raises NotFound, Denied."""
        body = {"target": target, "dryRun": dry_run, "agent": agent}
        return self._send(TeamRevokeReply, "/team/revoke", body, wait_ms=EXCHANGE_MS)

    def sync_team(self, *, agent: str | None = None) -> TeamReply:
        """Bring in what others shared, and send what waits; the reply says what failed."""
        return self._send(TeamReply, "/team/sync", {"agent": agent}, wait_ms=EXCHANGE_MS)

    def conflicts(self, *, agent: str | None = None) -> ConflictsReply:
        """List the notes of which there are two versions at once; raises Denied but for the owner."""
        return self._fetch(ConflictsReply, "/conflicts", {"agent": agent})

    def settle_conflict(self, path: str, keep: str, *, agent: str | None = None) -> ConflictSettledReply:
        """Keep the `original`, the `copy` or the lines of `both`; raises NotFound, InvalidRequest, Denied."""
        return self._send(ConflictSettledReply, "/conflicts/settle", {"path": path, "keep": keep, "agent": agent})

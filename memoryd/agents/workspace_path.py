"""The configured path of a workspace, which may lead through symlinks that come to lead elsewhere."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

from memoryd.agents.workspace_index import WorkspaceIndex
from memoryd.search.protocol import Freshness

ELSEWHERE = "the path of the workspace leads to another folder than when memoryd was started; restart memoryd"


@dataclass(slots=True)
class WorkspacePath:
    """Asks, for one agent, whether its path still leads to the folder that the index is of."""

    configured: Path
    index: WorkspaceIndex
    _leads_elsewhere: bool = False

    def leads_elsewhere(self) -> bool:
        """Tell whether it leads to another folder, or to none while that of the index is there. Blocks: two stats."""
        return self._may_lead_elsewhere and _identity(self.configured) != _identity(self.index.rules.workspace)

    async def catch_up(self, seconds: float) -> int:
        """Do what `WorkspaceIndex.catch_up` does; what lies elsewhere is at least one file that is lacking."""
        lacking = await self.index.catch_up(seconds)
        if self._may_lead_elsewhere and seconds > 0:
            try:
                async with asyncio.timeout(seconds):
                    self._leads_elsewhere = await asyncio.to_thread(self.leads_elsewhere)
            except TimeoutError:
                # its disk does not answer
                return max(1, lacking)
        return max(int(self._leads_elsewhere), lacking)

    def freshness(self) -> Freshness:
        """Return what the index still owes the disk, and why it stays so if the path leads elsewhere."""
        owed = self.index.freshness()
        return replace(owed, hold=ELSEWHERE) if self._leads_elsewhere else owed

    @property
    def _may_lead_elsewhere(self) -> bool:
        """Whether there were symlinks on the way at the start; through later ones every look goes anyway."""
        return self.configured != self.index.rules.workspace


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        info = folder.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino

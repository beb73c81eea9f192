"""What an agent's memory does when a session begins."""

from memoryd.config.sync import SyncSection
from memoryd.index.indexer import Indexer


class AgentSessions:
    """The sessions of one agent."""

    def __init__(self, settings: SyncSection, indexer: Indexer) -> None:
        self._settings = settings
        self._indexer = indexer

    def start(self) -> bool:
        """Begin a session; return whether the index looks at the disk now, in the background."""
        if self._settings.on_session_start:
            self._indexer.demand()
        return self._settings.on_session_start

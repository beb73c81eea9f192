"""What an agent's memory does when a session begins."""

from collections.abc import Callable

from memoryd.config.memory_search import SyncSection
from memoryd.index.indexer import Indexer


class AgentSessions:
    """The sessions of one agent."""

    def __init__(self, settings: SyncSection, indexer: Indexer, read_conversations: Callable[[], object]) -> None:
        self._settings = settings
        self._indexer = indexer
        self._read_conversations = read_conversations

    def start(self) -> bool:
        """Begin a session; return whether the index looks at the disk now, in the background."""
        if self._settings.on_session_start:
            self._indexer.demand()
            # the end of the session before is found in this one
            self._read_conversations()
        return self._settings.on_session_start

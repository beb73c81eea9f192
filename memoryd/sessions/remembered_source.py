"""A source without the conversations that are withheld by name, so that their rows go and none is read."""

from collections.abc import Mapping
from dataclasses import replace

from memoryd.domain.documents import RelativePath
from memoryd.sessions.conversation_source import ConversationSource, ReadStep, SourceLook
from memoryd.sessions.withheld_conversations import WithheldConversations


class RememberedSource:
    """What `inner` has, less what is withheld; raises StoreUnavailable until that is known."""

    def __init__(self, inner: ConversationSource, withheld: WithheldConversations) -> None:
        self.prefix = inner.prefix
        self._inner = inner
        self._withheld = withheld

    def look(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceLook:
        """Say what there is; what was read and is withheld by now is not, so that its rows go."""
        found = self._inner.look(read, is_forced=is_forced)
        hidden = {path for path in found.present if self._withheld.names(path)}
        return replace(found, present=found.present - hidden, due=[path for path in found.due if path not in hidden])

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read on what may be read; nothing of what is withheld since the look."""
        return None if self._withheld.names(path) else self._inner.read_on(path, tail)

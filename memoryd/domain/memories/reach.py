"""Whose memories somebody may see: every question is asked by an agent, in a channel, or by the owner for an agent."""

from dataclasses import dataclass
from typing import Final

from memoryd.domain.memories.scopes import reaches

_OF_AGENT: Final = "agent:"


@dataclass(frozen=True, slots=True)
class MemoryReach:
    """Who asks: an agent, in a channel (None: in none); or the owner for it, who sees what it may see anywhere."""

    agent: str
    channel: str | None = None
    is_owner: bool = False

    def admits(self, scope: str) -> bool:
        """Tell whether a memory of this scope may be told.

        What reads as no scope is for the owner alone, who can mend it; no one is told what is another agent's.
        """
        return reaches(scope, self.agent, self.channel) or (self.is_owner and not self._is_anothers(scope))

    def _is_anothers(self, scope: str) -> bool:
        plain = scope.strip().lower()
        if not plain.startswith(_OF_AGENT):
            return False
        whose, _, _ = plain.removeprefix(_OF_AGENT).partition(":")
        return whose.strip() != self.agent

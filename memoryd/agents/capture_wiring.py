"""From a workspace and its settings to what captures memories of what is said to its agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from memoryd.agents.conversations import AgentConversations
from memoryd.agents.loops import NamedLoop
from memoryd.agents.owners_time import owners_time
from memoryd.agents.workspace_memories import WorkspaceMemories
from memoryd.config.resolved import Agent
from memoryd.domain.memories.capture.capture import CaptureRules
from memoryd.memory.capture.capturing import CaptureParts, CaptureSettings, Capturing
from memoryd.memory.capture.delivered_spans import DeliveredSpans
from memoryd.memory.retaining import Retaining


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceCapture:
    """What captures for the agents on one workspace."""

    capturing: Capturing
    delivered: DeliveredSpans

    def loops(self, name: str) -> list[NamedLoop]:
        """Name what keeps it at work."""
        return [(f"capture {name}", self.capturing.run), (f"delivered spans {name}", self.delivered.run)]


def workspace_capture(
    agents: Sequence[Agent], shared: WorkspaceMemories, conversations: Mapping[str, AgentConversations]
) -> WorkspaceCapture:
    """Make what captures for these agents; the first one's settings hold."""
    section = agents[0].memory.capture
    delivered = DeliveredSpans()
    settings = CaptureSettings(
        is_enabled=section.enabled,
        rules=CaptureRules(identifiers=section.identifiers, in_groups=section.in_groups),
    )
    time = owners_time(agents[0].memory)
    parts = CaptureParts(
        journal=shared.journal,
        retaining=Retaining(shared.journal, time.today),
        tombstones=shared.tombstones,
        delivered=delivered,
        book=shared.book.now,
        is_withheld=partial(_is_withheld, conversations),
        day=lambda at: time.day(at.timestamp()),
    )
    return WorkspaceCapture(capturing=Capturing(settings, parts), delivered=delivered)


async def _is_withheld(conversations: Mapping[str, AgentConversations], agent: str, session_key: str) -> bool:
    """Tell whether a session is not to be remembered; raises StoreUnavailable while nobody knows."""
    marks = conversations[agent].withheld
    await marks.load()
    return marks.has_key(session_key)

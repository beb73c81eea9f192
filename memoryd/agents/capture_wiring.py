"""From a workspace and its settings to what captures memories of what is said to its agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from memoryd.agents.conversations import AgentConversations
from memoryd.agents.left_behind import LeftBehind
from memoryd.agents.loops import NamedLoop
from memoryd.agents.owners_time import owners_time
from memoryd.agents.searchable import caught_up_book
from memoryd.agents.workspace_memories import WorkspaceMemories
from memoryd.agents.workspace_qa import WorkspaceQa
from memoryd.config.agents import Agent
from memoryd.domain.memories.capture.capture import CaptureRules
from memoryd.memory.capture.capturing import IN_FLIGHT, Capturing
from memoryd.memory.capture.message_capture import CaptureParts, CaptureSettings
from memoryd.memory.capture.queue import AwaitedMessages, DeliveredSpans
from memoryd.memory.llm import Distiller
from memoryd.memory.retaining import Retaining
from memoryd.store.ledger.capture import AwaitedRows, DeliveredRows


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceCapture:
    """What captures for the agents on one workspace."""

    capturing: Capturing
    delivered: DeliveredSpans
    left_behind: LeftBehind | None
    """What a stop left in line; None where nothing is written."""
    has_model: bool = False

    def loops(self, name: str) -> list[NamedLoop]:
        """Name what keeps it at work."""
        loops: list[NamedLoop] = [
            (f"capture {name}", self.capturing.run),
            (f"delivered spans {name}", self.delivered.run),
        ]
        if self.left_behind is not None:
            loops.append((f"captures left behind {name}", self.left_behind.run))
        if self.has_model:
            loops += [(f"distilling {name} {seat}", self.capturing.run_distilling) for seat in range(1, IN_FLIGHT + 1)]
        return loops


def workspace_capture(
    agents: Sequence[Agent],
    shared: WorkspaceMemories,
    conversations: Mapping[str, AgentConversations],
    qa: WorkspaceQa | None,
) -> WorkspaceCapture:
    """Make what captures for these agents; the first one's settings hold."""
    section = agents[0].memory.capture
    delivered = DeliveredSpans(DeliveredRows(shared.ledger, str(shared.name)))
    settings = CaptureSettings(
        is_enabled=section.enabled,
        rules=CaptureRules(identifiers=section.identifiers, in_groups=section.in_groups),
    )
    time = owners_time(agents[0].memory)
    parts = CaptureParts(
        journal=shared.journal,
        retaining=Retaining(shared.journal, time.today, shared.stated),
        tombstones=shared.tombstones,
        delivered=delivered,
        book=partial(caught_up_book, shared.index, shared.book),
        is_withheld=partial(_is_withheld, conversations),
        stated=shared.stated,
        awaited=AwaitedMessages(AwaitedRows(shared.ledger, str(shared.name))),
        day=lambda at: time.day(at.timestamp()),
        distiller=None if shared.text is None else Distiller(shared.text),
    )
    capturing = Capturing(settings, parts)
    is_written = qa is not None and section.enabled and not agents[0].memory.read_only
    return WorkspaceCapture(
        capturing=capturing,
        delivered=delivered,
        left_behind=LeftBehind(capturing, qa, shared.ledger) if qa is not None and is_written else None,
        has_model=shared.text is not None,
    )


async def _is_withheld(conversations: Mapping[str, AgentConversations], agent: str, session_key: str) -> bool:
    """Tell whether a session is not to be remembered; raises StoreUnavailable while nobody knows."""
    marks = conversations[agent].withheld
    await marks.load()
    return marks.has_key(session_key)

"""The arm that answers from the conversations of one agent, and how its index is at the moment."""

from typing import Final

from memoryd.agents.conversations import AgentConversations
from memoryd.config.memory_search import MemorySearchSection
from memoryd.domain.ranking.fusion import Weights
from memoryd.qmd.conversations import ExportedSearch, JoinedConversations
from memoryd.search.combined import NOTHING_TO_ASK, ConversationArm, OnceTold
from memoryd.search.protocol import Arm, ArmState

NO_TRANSCRIPTS: Final = (
    "transcripts are not read: set memorySearch.experimental.sessionMemory to true, "
    'with "sessions" in memorySearch.sources'
)
STILL_READING: Final = "conversations are still being read"


def conversation_arm(
    conversations: AgentConversations,
    settings: MemorySearchSection,
    *,
    exports: ExportedSearch | None,
    weights: Weights,
) -> ConversationArm:
    """Return what answers from an agent's conversations; where none are kept, it says what to set."""
    index = conversations.search if conversations.is_wanted else None
    if exports is None:
        told = None if index is None else OnceTold(index)
        return ConversationArm(told, lambda: _standing(conversations, settings))
    joined = JoinedConversations(index=index, exports=exports, weights=weights)

    def standing() -> Arm:
        if index is None:
            return Arm(ArmState.OK) if exports.is_wanted else NOTHING_TO_ASK
        arm = _standing(conversations, settings)
        return Arm(ArmState.OK) if exports.is_wanted and arm.reason == NO_TRANSCRIPTS else arm

    return ConversationArm(OnceTold(joined), standing)


def _standing(conversations: AgentConversations, settings: MemorySearchSection) -> Arm:
    """Say what the index lacks; one that cannot be read at all says so when it is asked."""
    if trouble := conversations.trouble:
        return Arm(ArmState.PARTIAL, trouble)
    if not all(feeder.is_settled for feeder in conversations.feeders):
        return Arm(ArmState.PARTIAL, STILL_READING)
    if pending := conversations.lane.pending:
        reason = f"{pending} {'passage has' if pending == 1 else 'passages have'} no vector yet"
        return Arm(ArmState.PARTIAL, reason)
    is_reading = settings.experimental.session_memory and "sessions" in settings.sources
    return Arm(ArmState.OK, "" if is_reading else NO_TRANSCRIPTS)

"""From an agent and what it keeps to what may be done with the messages of its conversations."""

from memoryd.agents.late_messages import LateMessages
from memoryd.agents.own_parts import OwnParts
from memoryd.agents.owners_time import owners_time
from memoryd.agents.retained import Retained
from memoryd.agents.session_memories import SessionMemories
from memoryd.agents.summing_up import SummingUp
from memoryd.agents.turn_capture import TurnCapture
from memoryd.agents.turn_commands import TurnCommands
from memoryd.agents.turn_log import TurnLog
from memoryd.agents.turns import AgentTurns
from memoryd.agents.workspace_parts import WorkspaceParts
from memoryd.config.agents import Agent
from memoryd.memory.llm import Prose
from memoryd.memory.retaining import Retaining


def agent_turns(agent: Agent, shared: WorkspaceParts, own: OwnParts, retained: Retained) -> AgentTurns:
    """Return what takes the messages of an agent."""
    log = TurnLog(agent.id, own.qa, shared.around.qas.get(agent.id))
    capture = TurnCapture(agent.id, retained.capture, is_alone=shared.is_alone, is_read_only=agent.memory.read_only)
    sessions = _sessions(agent, shared, log, capture)
    return AgentTurns(
        agent=agent,
        log=log,
        commands=TurnCommands(agent.id, retained, sessions, agent.turns.recall_final_k),
        capture=capture,
        sessions=sessions,
        retained=retained,
        max_query_bytes=shared.around.limits.max_query_bytes,
        clock=owners_time(agent.memory).now,
        late=LateMessages(log.shared),
    )


def _sessions(agent: Agent, shared: WorkspaceParts, log: TurnLog, capture: TurnCapture) -> SessionMemories:
    memories, time = shared.memories, owners_time(agent.memory)
    return SessionMemories(
        agent=agent.id,
        shared=log.shared,
        journal=memories.journal,
        retaining=Retaining(memories.journal, time.today),
        summing=SummingUp(Prose(memories.text), memories.book, memories.tombstones, memories.stated),
        is_withheld=log.is_withheld,
        scope=capture.scope,
        day=time.day,
        now=time.now,
        in_groups=agent.memory.capture.in_groups,
    )

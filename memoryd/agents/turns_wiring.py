"""From an agent and what it keeps to what may be done with the messages of its conversations."""

from memoryd.agents.own_parts import OwnParts
from memoryd.agents.owners_time import owners_time
from memoryd.agents.retained import Retained
from memoryd.agents.turn_commands import TurnCommands
from memoryd.agents.turn_log import TurnLog
from memoryd.agents.turns import AgentTurns
from memoryd.agents.workspace_parts import WorkspaceParts
from memoryd.config.resolved import Agent


def agent_turns(agent: Agent, shared: WorkspaceParts, own: OwnParts, retained: Retained) -> AgentTurns:
    """Return what takes the messages of an agent."""
    return AgentTurns(
        agent=agent,
        log=TurnLog(agent.id, own.qa, shared.around.qas.get(agent.id)),
        commands=TurnCommands(agent.id, retained, agent.turns.recall_final_k),
        retained=retained,
        max_query_bytes=shared.around.limits.max_query_bytes,
        clock=owners_time(agent.memory).now,
    )

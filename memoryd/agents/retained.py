"""What may be asked of one agent's retained memories: an object for each use.

Each use is a class of its own, in a module of its own beside this one.
"""

from dataclasses import dataclass

from memoryd.agents.capture import AgentCapture
from memoryd.agents.changes import AgentChanges
from memoryd.agents.core_editing import AgentCore
from memoryd.agents.document_edits import AgentDocumentEdits
from memoryd.agents.documents import AgentDocuments
from memoryd.agents.entities import AgentEntities
from memoryd.agents.opinions import AgentOpinions
from memoryd.agents.recall import AgentRecall
from memoryd.agents.reflecting import ReflectUse
from memoryd.agents.retaining import AgentRetaining
from memoryd.agents.transfer import AgentTransfer
from memoryd.agents.verifying import AgentVerifying
from memoryd.config.agents import Agent
from memoryd.memory.book import MemoryBook
from memoryd.memory.forgetting.forgetting import MemoryForgetting
from memoryd.memory.journal import Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """The retained memories of one agent."""

    agent: Agent
    book: MemoryBook
    """Of the workspace: what of it reaches the agent, its scopes say."""
    journal: Journal
    """What writes into its workspace."""
    retaining: AgentRetaining
    forgetting: MemoryForgetting
    """Of the workspace."""
    verifying: AgentVerifying
    opinions: AgentOpinions
    core: AgentCore
    entities: AgentEntities
    changes: AgentChanges
    reflect: ReflectUse
    """Reflect over the workspace, and what it proposes."""
    recall: AgentRecall
    capture: AgentCapture
    """What is learned of what is said to it."""
    documents: AgentDocuments
    document_edits: AgentDocumentEdits
    transfer: AgentTransfer

    @property
    def trouble(self) -> str:
        """What of it its owner should look at; empty if nothing."""
        return "; ".join(
            filter(None, [*self.journal.trouble, self.forgetting.trouble, self.reflect.reflecting.trouble])
        )

"""Who calls the tools: the agent and session that the program was started for, and the room that an answer has."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from memoryd.client import Client
from memoryd.mcp.reaching import Reaching

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """Who asks, as the daemon is told with every question; `max_tokens` bounds each answer."""

    reaching: Reaching
    agent: str | None
    session_key: str | None
    max_tokens: int

    async def ask(self, question: Callable[[Client], Answer]) -> Answer:
        """Return what the daemon answers; the question changes nothing."""
        return await self.reaching.ask(question)

    async def write(self, change: Callable[[Client], Answer]) -> Answer:
        """Return what came of a change, which is never sent twice."""
        return await self.reaching.ask(change, repeatable=False)

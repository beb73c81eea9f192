"""What one agent may have learned from what is said to it."""

from collections.abc import Iterable
from dataclasses import dataclass

from memoryd.memory.capture.capturing import Capturing
from memoryd.memory.capture.queue import CaptureOutcome, CaptureTask, DeliveredSpans


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCapture:
    """Capture for one agent; `capturing` and `delivered` are of its workspace."""

    agent: str
    scope: str = ""
    """Whom a memory of its owner's words is for; empty where it is alone on its workspace."""
    capturing: Capturing
    delivered: DeliveredSpans

    async def take(self, text: str, *, answer_before: str = "", is_dry: bool = False) -> CaptureOutcome:
        """Capture a message of the owner, or say only what would be kept; raises as `Capturing.capture` does."""
        task = CaptureTask(agent=self.agent, text=text, answer_before=answer_before, scope=self.scope)
        if is_dry:
            return CaptureOutcome(await self.capturing.dry_run(task))
        return await self.capturing.capture(task)

    def note_delivered(self, session_key: str, texts: Iterable[str]) -> None:
        """Note what of the memory a session was told; it is not learned from its echo."""
        self.delivered.note(self.agent, session_key, texts)

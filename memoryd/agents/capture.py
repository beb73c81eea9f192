"""What one agent may have learned from what is said to it."""

from collections.abc import Iterable
from dataclasses import dataclass

from memoryd.memory.capture.capturing import Capturing
from memoryd.memory.capture.delivered_spans import DeliveredSpans


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCapture:
    """Capture for one agent; `capturing` and `delivered` are of its workspace."""

    agent: str
    capturing: Capturing
    delivered: DeliveredSpans

    def note_delivered(self, session_key: str, texts: Iterable[str]) -> None:
        """Note what of the memory a session was told; it is not learned from its echo."""
        self.delivered.note(self.agent, session_key, texts)

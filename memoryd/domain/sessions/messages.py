"""One message of a conversation as whoever keeps it going tells of it."""

from dataclasses import dataclass
from enum import StrEnum


class MessageRole(StrEnum):
    """Who says it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class MessageEventType(StrEnum):
    """What happened in the conversation."""

    FAILURE = "failure"
    """The agent got stuck, or a tool failed again and again."""
    END = "end"
    """The conversation is over."""
    COMPACT = "compact"
    """The agent is about to shorten what it holds of it."""


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """What happened, in words, and the tool that it happened with; both may be empty."""

    type: MessageEventType
    text: str = ""
    tool: str = ""

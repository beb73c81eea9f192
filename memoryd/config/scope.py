"""Who may ask: ordered rules over session keys, in the shape of OpenClaw's `session.sendPolicy`."""

from typing import Annotated, Literal

from pydantic import Field

from memoryd.config.section import Section, Text

Action = Literal["allow", "deny"]
ChatType = Literal["direct", "group", "channel"]


class RuleMatch(Section):
    """What a session must have for the rule to apply; every field given must fit."""

    channel: Text | None = None
    chat_type: ChatType | None = None
    key_prefix: Text | None = None
    raw_key_prefix: Text | None = None


class Rule(Section):
    """One rule; the first that applies decides."""

    action: Action
    match: RuleMatch = RuleMatch()


Rules = Annotated[tuple[Rule, ...], Field(strict=False)]


class Scope(Section):
    """Rules and what holds when none applies; by default only direct chats may ask."""

    default: Action = "deny"
    rules: Rules = (Rule(action="allow", match=RuleMatch(chat_type="direct")),)


class MemoryScope(Scope):
    """The rules of every backend."""

    require_session_key: bool = False

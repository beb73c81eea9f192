"""Who may ask: ordered rules over session keys, in the shape of OpenClaw's `session.sendPolicy`."""

from typing import Annotated, Literal

from pydantic import Field

from memoryd.config.section import Section, Text
from memoryd.domain import access

ActionName = Literal["allow", "deny"]
ChatTypeName = Literal["direct", "group", "channel"]


class AccessMatchSection(Section):
    """What a session must have for the rule to apply; every field given must fit."""

    channel: Text | None = None
    chat_type: ChatTypeName | None = None
    key_prefix: Text | None = None
    raw_key_prefix: Text | None = None

    def to_access(self) -> access.Match:
        """Return it as the domain has it."""
        return access.Match(
            channel=self.channel,
            chat_type=None if self.chat_type is None else access.ChatType(self.chat_type),
            key_prefix=self.key_prefix,
            raw_key_prefix=self.raw_key_prefix,
        )


class AccessRuleSection(Section):
    """One rule; the first that applies decides."""

    action: ActionName
    match: AccessMatchSection = AccessMatchSection()


AccessRuleSections = Annotated[tuple[AccessRuleSection, ...], Field(strict=False)]


class AccessSection(Section):
    """Rules and what holds when none applies; by default only direct chats may ask."""

    default: ActionName = "deny"
    rules: AccessRuleSections = (AccessRuleSection(action="allow", match=AccessMatchSection(chat_type="direct")),)

    def to_access(self) -> access.RuleList:
        """Return it as the domain has it."""
        rules = tuple(access.Rule(access.Action(rule.action), rule.match.to_access()) for rule in self.rules)
        return access.RuleList(rules, access.Action(self.default))


class MemoryAccessSection(AccessSection):
    """The rules of every backend."""

    require_session_key: bool = False

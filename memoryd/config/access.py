"""Who may ask: ordered rules over session keys, in the shape of OpenClaw's `session.sendPolicy`."""

from typing import Literal

from memoryd.config.section import Many, Section, Text
from memoryd.domain import access

ActionName = Literal["allow", "deny"]
ChatTypeName = Literal["direct", "group", "channel"]


class AccessMatchSection(Section):
    """What a session must have for the rule to apply; every field given must fit."""

    channel: Text | None = None
    """The channel of the session, such as `discord`."""
    chat_type: ChatTypeName | None = None
    """The kind of chat of the session."""
    key_prefix: Text | None = None
    """How the session key begins, without its `agent:<id>:`."""
    raw_key_prefix: Text | None = None
    """How the whole session key begins, with its `agent:<id>:`."""

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
    """What holds for the sessions that fit."""
    match: AccessMatchSection = AccessMatchSection()
    """Which sessions fit; all of them if nothing is given."""


AccessRuleSections = Many[AccessRuleSection]


class AccessSection(Section):
    """Rules and what holds when none applies; by default only direct chats may ask."""

    default: ActionName = "deny"
    """What holds for a session that fits no rule."""
    rules: AccessRuleSections = (AccessRuleSection(action="allow", match=AccessMatchSection(chat_type="direct")),)
    """Who may ask, by session key; the first rule that fits decides, and unset only direct chats may."""

    def to_access(self) -> access.RuleList:
        """Return it as the domain has it."""
        rules = tuple(access.Rule(access.Action(rule.action), rule.match.to_access()) for rule in self.rules)
        return access.RuleList(rules, access.Action(self.default))


class MemoryAccessSection(AccessSection):
    """The rules of every backend."""

    require_session_key: bool = False
    """`true`: who asks on the owner's own socket must name a session key too; at the page its link says who asks."""

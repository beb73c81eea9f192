"""Who may ask: ordered rules over session keys, in the shape of OpenClaw's `session.sendPolicy`."""

from typing import Literal

from memoryd.config.section import Section, Text, TupleOf
from memoryd.domain import access

ActionName = Literal["allow", "deny"]


class AccessMatchSection(Section):
    """The properties that a session must have for the rule to apply; all fields that are set must match."""

    channel: Text | None = None
    """The channel of the session, such as `discord`."""
    chat_type: Literal["direct", "group", "channel"] | None = None
    """The kind of chat of the session."""
    key_prefix: Text | None = None
    """Prefix of the session key, without its `agent:<id>:`."""
    raw_key_prefix: Text | None = None
    """Prefix of the complete session key, with its `agent:<id>:`."""

    def to_access(self) -> access.Match:
        """Return the domain type of this section."""
        return access.Match(
            channel=self.channel,
            chat_type=None if self.chat_type is None else access.ChatType(self.chat_type),
            key_prefix=self.key_prefix,
            raw_key_prefix=self.raw_key_prefix,
        )


class AccessRuleSection(Section):
    """One rule; the first that applies decides."""

    action: ActionName
    """Whether matching sessions are allowed or denied."""
    match: AccessMatchSection = AccessMatchSection()
    """Which sessions the rule applies to; unset: all."""


class AccessSection(Section):
    """Rules, and a default for sessions that match no rule; unset: only direct chats may ask."""

    default: ActionName = "deny"
    """The action for a session that matches no rule."""
    rules: TupleOf[AccessRuleSection] = (
        AccessRuleSection(action="allow", match=AccessMatchSection(chat_type="direct")),
    )
    """Who may ask, by session key; the first matching rule decides; unset: only direct chats."""

    def to_access(self) -> access.RuleList:
        """Return the domain type of this section."""
        rules = tuple(access.Rule(access.Action(rule.action), rule.match.to_access()) for rule in self.rules)
        return access.RuleList(rules, access.Action(self.default))


class MemoryAccessSection(AccessSection):
    """The rules of every backend."""

    require_session_key: bool = False
    """`true`: a request on the owner's own socket must name a session key, too; on the web page the link identifies the
    session."""

"""Whose words a memory may be made of: a person's own, in a chat that is theirs."""

from typing import Final

from memoryd.domain.access import read_key
from memoryd.domain.memories.statements import OWN_CHANNELS

USER: Final = "user"
_SUBAGENT: Final = "subagent"


def why_untrusted(*, role: str, channel: str | None, session_key: str, is_direct: bool, in_groups: bool) -> str:
    """Say why nothing is learned from a message by where it came from; empty if something may be."""
    if role != USER:
        return f"it was said by the {role}, and not by the user"
    key = read_key(session_key) if session_key else None
    if key is not None and _SUBAGENT in key.raw.split(":"):
        return "it was said to a sub-agent"
    places = {channel, None if key is None else key.memory_channel, None if key is None else key.channel}
    if apart := sorted(OWN_CHANNELS & {place for place in places if place}):
        return f"it comes from the channel {apart[0]}"
    if not is_direct and not in_groups:
        return "others take part in this chat (memory.capture.inGroups)"
    return ""

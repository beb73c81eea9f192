"""`memory.capture`: what is learned from what is said to an agent, without being asked."""

from pydantic import Field

from memoryd.config.section import Section


class CaptureSection(Section):
    """Whether memories are made of messages, and of which."""

    enabled: bool = Field(
        default=True,
        description="`false`: nothing is learned from messages; what somebody states by `retain` or `/remember` is "
        "kept all the same.",
    )
    identifiers: bool = Field(
        default=True,
        description="Whether phone numbers, ID numbers and e-mail addresses are kept; in a sentence of one's own, such "
        "as `my number is …`, they are pinned.",
    )
    in_groups: bool = Field(
        default=False,
        description="`true`: also from what is said in groups and channels, where anybody may speak; of their "
        "conversations a memory is made at the end, too.",
    )

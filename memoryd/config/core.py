"""`memory.core`: the small file that every session sees."""

from pydantic import Field

from memoryd.config.section import Section


class CoreSection(Section):
    """How large the core file may be, and what is shown of it."""

    max_chars: int = Field(
        default=12_000,
        ge=500,
        le=1_000_000,
        description="How many characters edits of the core file may leave in it; every session pays for each.",
    )
    in_groups: bool = Field(
        default=False,
        description="`true`: bundles hold the core file and pinned memories in groups and channels too, and not "
        "`SOUL.md` alone, and what is recalled there unasked may be pinned, or said in other chats.",
    )

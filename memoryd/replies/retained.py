"""What was retained."""

from typing import TypedDict


class RetainedReply(TypedDict):
    """A memory and where it stands; `created` is false where today's log stated it already."""

    id: str
    citation: str
    created: bool
    path: str
    line: int


class RetainReply(RetainedReply):
    """What was retained; of several memories the first one, and all of them in `memories`."""

    memories: list[RetainedReply]
    change: int | None
    searchable: bool
    notes: list[str]

"""The core file."""

from typing import TypedDict


class CoreReply(TypedDict):
    """The core file as it stands, with `SOUL.md` beside it; `sha256` is empty where there is no such file yet."""

    path: str
    text: str
    sha256: str
    chars: int
    maxChars: int
    soul: str


class CoreEditReply(TypedDict):
    """What came of an edit; `changed` is false where the file read so already."""

    path: str
    sha256: str
    chars: int
    maxChars: int
    changed: bool
    change: int | None
    notes: list[str]

"""Lines of a document."""

from typing import TypedDict

_From = TypedDict("_From", {"from": int})


class FileReply(_From, TypedDict):
    """Lines of a document from line `from` on, with their ends.

    `lines` counts them; `truncated` says that the document goes on, at line `nextFrom`, or, if the last line was too
    long for one reply, at character `nextColumn` of it.
    """

    path: str
    text: str
    lines: int
    column: int
    totalLines: int
    sha256: str
    truncated: bool
    nextFrom: int | None
    nextColumn: int | None
    flags: list[str]

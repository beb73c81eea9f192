"""The seam between qmd and the transcripts that are exported for it: whoever writes them stands above this room."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from memoryd.domain.sessions.conversation_parts import SUFFIX
from memoryd.qmd.collections import Collection

PATTERN = f"*{SUFFIX}"


class Exports(Protocol):
    """The exported transcripts of one agent: a folder of files, each with a heading and then a line for each line."""

    @property
    def folder(self) -> Path | None:
        """Where they lie, None if there are to be none, and until `check` has looked."""
        ...

    def check(self) -> None:
        """Look whether they may be made where they are to lie. Blocks."""
        ...

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    @property
    def problem(self) -> str:
        """What cannot be exported, and why; empty if nothing."""
        ...

    def refresh(self, on_withdraw: Callable[[], None]) -> bool:
        """Bring them to what the transcripts say now; False if there is more to do. Blocks.

        `on_withdraw` is called before something goes that qmd may have read.
        """
        ...

    def transcript_of(self, name: str) -> str | None:
        """Return the name of the transcript that a file is the export of, None if it is none."""
        ...

    def withhold(self, transcript: str) -> None:
        """Delete the export of a transcript at once, and make none again. Blocks, and may raise OSError."""
        ...

    def release(self, transcript: str) -> None:
        """Take that back."""
        ...


def exported_collection(agent: str, exports: Exports) -> tuple[Collection, ...]:
    """Return the collection of an agent's exports, none where none are made."""
    if exports.folder is None:
        return ()
    return (Collection(f"sessions-{agent}", str(exports.folder), PATTERN, is_exported=True),)

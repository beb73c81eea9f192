"""Which files of a folder are transcripts, by their names: those that grow, and archives of those that were closed."""

import re
from typing import Final

from memoryd.domain.documents import is_hidden

SUFFIX: Final = ".jsonl"
_INSTANT: Final = r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d{3})?Z"
_ARCHIVE: Final = re.compile(rf".+\.jsonl\.(?:reset|deleted)\.{_INSTANT}", re.DOTALL)
"""What OpenClaw calls a session that was begun anew, or deleted: said all the same."""
_DERIVED: Final = re.compile(
    r".+\.(?:trajectory|checkpoint\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl", re.DOTALL | re.IGNORECASE
)
"""What it makes of a session beside it: the same words once more."""


def is_transcript_name(name: str) -> bool:
    """Tell whether a file of this name is a transcript; backups, checkpoints and trajectories are none."""
    if is_hidden(name) or _DERIVED.fullmatch(name):
        return False
    return (name.endswith(SUFFIX) and len(name) > len(SUFFIX)) or _ARCHIVE.fullmatch(name) is not None


def session_of(name: str) -> str:
    """Return the name of the session whose transcript, or archive of one, a file is."""
    return name.split(SUFFIX)[0]

"""Which sessions of an OpenClaw folder nobody spoke in, by the keys that its own list of sessions gives them."""

from collections.abc import Iterator
from typing import Final

from memoryd.domain.sessions.transcripts.openclaw_records import is_generated_key
from memoryd.domain.sessions.transcripts.transcript_names import session_of

LIST_NAME: Final = "sessions.json"
"""An object with a session for each key, in the folder of the transcripts."""


def generated_sessions(document: object) -> frozenset[str]:
    """Return the names of the sessions of timers and dreams, and of those that they began."""
    if not isinstance(document, dict):
        return frozenset()
    return frozenset(
        name
        for key, entry in document.items()
        if isinstance(entry, dict) and (is_generated_key(key) or is_generated_key(entry.get("spawnedBy")))
        for name in _names(entry)
    )


def _names(entry: dict[str, object]) -> Iterator[str]:
    name, file = entry.get("sessionId"), entry.get("sessionFile")
    if isinstance(name, str):
        yield name
    if isinstance(file, str):
        yield session_of(file.replace("\\", "/").rpartition("/")[2])

"""How conversations are named among the documents: `sessions/<agent>/<file>` a transcript, `session:<id>` turns.

Neither name is that of a note: these end in `.md`, and pictures and sounds in their own suffixes. A long conversation
is stored in parts, each a row `<path>@<first line>`; nobody is told of parts. The lines of a transcript are those of
its file; turn s of a session stands on the lines 2s - 1, the question, and 2s, the answer.
"""

import re
from typing import Final

from memoryd.domain.documents import RelativePath, is_document_name
from memoryd.domain.media import modality_of
from memoryd.domain.sessions.turns import SessionId

TURN_LINES: Final = 2
"""Of a turn: its question and its answer."""
TURNS: Final = "session:"
"""How the path of a session of turns begins."""
_TURNS: Final = re.compile(r"session:(?P<id>[^\s./:#@]+)\Z")
_TRANSCRIPT: Final = re.compile(r"(?s)sessions/[^/]+/[^/]+\Z")
_PART: Final = re.compile(r"(?s)(?P<path>.+)@[1-9][0-9]*\Z")


def turns_path(session: str) -> RelativePath:
    """Return the path of a session that is kept as turns."""
    return RelativePath(f"{TURNS}{session}")


def session_of(path: RelativePath) -> SessionId:
    """Return the session whose turns a conversation is."""
    return SessionId(path.removeprefix(TURNS))


def transcript_path(agent: str, name: str) -> RelativePath:
    """Return the path of a transcript, by the agent whose conversation it is and the name of its file."""
    return RelativePath(f"sessions/{agent}/{name}")


def part_path(path: RelativePath, first_line: int) -> RelativePath:
    """Return the path of the row that holds a conversation from this line on."""
    return RelativePath(f"{path}@{first_line}")


def told_path(path: RelativePath) -> RelativePath:
    """Return a path as it is told: that of the conversation for one of its parts, and any other as it is."""
    match = _PART.match(path) if "@" in path else None
    return RelativePath(match["path"]) if match is not None and is_conversation(match["path"]) else path


def holds_turns(path: str) -> bool:
    """Tell whether a path names a session that is kept as turns, whose citations count them."""
    return _TURNS.match(path) is not None


def is_conversation(path: str) -> bool:
    """Tell whether a path names a conversation, by its shape alone: a note may lie in a folder `sessions`, too."""
    if holds_turns(path):
        return True
    if _TRANSCRIPT.match(path) is None:
        return False
    name = path.rpartition("/")[2]
    return modality_of(name) is None and not is_document_name(name)

"""The agent programs that run hooks: what is particular about each, in one row.

What installs and checks hooks goes by these rows, and so does the hook itself, whose imports count: see `__init__`.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

SessionMoment = Literal["start", "prompt", "answer", "compact", "end"]
"""What an event is to memoryd: the session begins, is told or answered something, is shortened, ends."""
TAIL_BYTES: Final = 1024 * 1024


def last_exchange(path: str) -> tuple[str, str]:
    """Return what the user said last in a transcript of Claude Code, and the assistant's last message behind it.

    Only the end is read; empty where they are not found. Raises OSError.
    """
    # here, since only a child reads transcripts, and nobody waits for it
    from memoryd.domain.documents import Speaker
    from memoryd.domain.sessions.transcripts.claude import claude_text
    from memoryd.domain.sessions.transcripts.records import LeftOut, inner, text_blocks

    question = answer = ""
    for line in _last_lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a line that is being written, or of another form
        said = claude_text(record) if isinstance(record, dict) else LeftOut.UNREADABLE
        if isinstance(said, LeftOut):
            continue
        if said.speaker is Speaker.USER:
            question, answer = said.text, ""
        else:
            # as it stands, not folded: it may be sent again from elsewhere, and is to be known then
            answer = "\n".join(text_blocks(inner(record, "message").get("content")) or []).strip()
    return question, answer


def _last_lines(path: str) -> Iterator[bytes]:
    # without waiting: the path is another program's word, and may name a pipe
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("the transcript is no regular file")
        begin = max(0, found.st_size - TAIL_BYTES)
        file.seek(begin)
        lines = file.read(TAIL_BYTES).split(b"\n")
    yield from lines[1:] if begin else lines


def _added_context(event: str, text: str) -> object:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


class Host(NamedTuple):
    """One agent program. What it writes to a hook is read by the names of Claude Code: `session_id`, `prompt`, …"""

    name: str
    title: str
    program: str
    folder: str
    """Below the home folder, and below that of a project."""
    folder_variable: str
    """The environment variable that names another than that of the home folder."""
    settings: str
    project_settings: str
    """Those of a project that are not shared with others."""
    events: Mapping[str, SessionMoment]
    read: Callable[[str], tuple[str, str]]
    """Returns the last question and answer of the transcript at a path; raises OSError."""
    reply: Callable[[str, str], object]
    """Returns what is written, as JSON, for the agent to be told a text at an event."""


HOSTS: Final[Mapping[str, Host]] = {
    row.name: row
    for row in (
        # the contract: https://code.claude.com/docs/en/hooks
        Host(
            name="claude-code",
            title="Claude Code",
            program="claude",
            folder=".claude",
            folder_variable="CLAUDE_CONFIG_DIR",
            settings="settings.json",
            project_settings="settings.local.json",
            events={
                "SessionStart": "start",
                "UserPromptSubmit": "prompt",
                "Stop": "answer",
                "PreCompact": "compact",
                "SessionEnd": "end",
            },
            read=last_exchange,
            reply=_added_context,
        ),
    )
}
DEFAULT: Final = HOSTS["claude-code"]
"""Whose hooks do not name their host."""

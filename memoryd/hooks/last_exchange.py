"""What was said last in a transcript of Claude Code, whose end is read and nothing else."""

import json
import os
import stat
from collections.abc import Iterator

from memoryd.domain.sessions.transcripts.claude import claude_said
from memoryd.domain.sessions.transcripts.records import LeftOut, Speaker, inner, text_blocks

TAIL_BYTES = 1024 * 1024


def last_exchange(path: str) -> tuple[str, str]:
    """Return what the user said last, and the last message of the assistant behind it; empty where it is not found.

    Raises OSError.
    """
    question = answer = ""
    for line in _last_lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a line that is being written, or of another form
        said = claude_said(record) if isinstance(record, dict) else LeftOut.UNREADABLE
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

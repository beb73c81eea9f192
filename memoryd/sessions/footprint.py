"""How much disk the questions and answers of a workspace take."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from memoryd.sessions.main_file import MAIN, STAMPS, TOPICS
from memoryd.sessions.session_files import SessionFiles
from memoryd.sessions.workspace_sessions import ARCHIVE, SESSIONS


@dataclass(frozen=True, slots=True)
class QaFootprint:
    """Sessions in the archive, and the bytes of all files, those of the archive apart."""

    archived: int = 0
    bytes: int = 0
    archive_bytes: int = 0


def footprint(workspace: Path) -> QaFootprint:
    """Measure the files of a workspace; raises OSError where the disk stands in the way."""
    sessions, archive = (SessionFiles(workspace, folder).stats().values() for folder in (SESSIONS, ARCHIVE))
    others = 0
    for name in (MAIN, TOPICS, STAMPS):
        with contextlib.suppress(FileNotFoundError):
            others += (workspace / name).lstat().st_size
    return QaFootprint(len(archive), others + sum(one.size for one in sessions), sum(one.size for one in archive))

"""From a suspect path to what the index shall hold of it. Blocking work without decisions about the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import structlog

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.entries import ChunkEntry, ChunkSettings, chunk_entries
from memoryd.domain.markdown import front_matter
from memoryd.domain.syncplan import Known
from memoryd.index.reader import Content, NotReadableError, TornReadError, read_document
from memoryd.index.roots import base_of
from memoryd.index.scanner import Root, Rules

log = structlog.get_logger(__name__)


class Verdict(StrEnum):
    """What reading a file says about it."""

    CHANGED = "changed"
    SAME = "same"
    PRIVATE = "private"
    AGAIN = "again"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Reading:
    """One file as it was read: `content` unless it could not be, `chunks` if it changed, else the reason."""

    path: RelativePath
    verdict: Verdict
    content: Content | None = None
    chunks: tuple[ChunkEntry, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads suspects of one workspace under the rules of one scan, which found them at `disk`."""

    roots: Sequence[Root]
    rules: Rules
    settings: ChunkSettings
    disk: Mapping[RelativePath, FileStat]

    def read(self, path: RelativePath, known: Known | None) -> Reading:
        """Read one file; never raises for what a file or a disk may do."""
        base, relative = base_of(path, self.rules.workspace, self.roots)
        try:
            content = read_document(
                base,
                relative,
                max_bytes=self.rules.max_file_bytes,
                follow_symlinks=self.rules.follow_symlinks,
            )
        except (FileNotFoundError, TornReadError):
            return Reading(path, Verdict.AGAIN)
        except NotReadableError as exc:
            return Reading(path, Verdict.FAILED, reason=str(exc))
        except OSError as exc:
            return Reading(path, Verdict.FAILED, reason=f"cannot be read: {exc.strerror}")
        # Of the devices only the folder's is compared: on an overlay each file may name another one.
        stat = replace(content.stat, device=self.disk[path].device)
        try:
            return self._judge(path, replace(content, stat=stat), known)
        except Exception as exc:
            # one note that trips a bug of ours must not keep the others out of the index
            log.error("note cannot be indexed", path=path, exc_info=exc)
            return Reading(path, Verdict.FAILED, reason=f"cannot be indexed ({type(exc).__name__}); the log has it")

    def _judge(self, path: RelativePath, content: Content, known: Known | None) -> Reading:
        if known is not None and not known.is_stale and known.digest == content.sha256:
            return Reading(path, Verdict.SAME, content)
        if front_matter(content.text).values.get("memory") is False:
            return Reading(path, Verdict.PRIVATE, content, reason="its front matter says memory: false")
        return Reading(path, Verdict.CHANGED, content, chunk_entries(content.text, self.settings))

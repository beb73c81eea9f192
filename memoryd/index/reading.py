"""From a suspect path to what the index shall hold of it. Blocking work without decisions about the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import structlog

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.entries import ChunkEntry, ChunkSettings, each_entry, media_entries
from memoryd.domain.media import LABELS, Media, Modality, modality_of
from memoryd.domain.privacy import why_private
from memoryd.domain.syncplan import Known
from memoryd.index.reader import (
    Content,
    NotReadableError,
    TornReadError,
    content_of,
    decode,
    media_content,
    read_octets,
)
from memoryd.index.roots import base_of
from memoryd.index.scanner import Root, Rules
from memoryd.index.turns import in_turns

log = structlog.get_logger(__name__)


class Verdict(StrEnum):
    """What reading a file says about it."""

    CHANGED = "changed"
    SAME = "same"
    LEFT_OUT = "left out"
    AGAIN = "again"
    FAILED = "failed"
    HELD = "held"
    """It may be private: nobody can say now."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One file as it was read: `content` unless it could not be, `chunks` if it changed, else the reason."""

    path: RelativePath
    verdict: Verdict
    content: Content | None = None
    chunks: tuple[ChunkEntry, ...] = ()
    reason: str = ""

    @property
    def read_content(self) -> Content:
        """The content; only for a file that could be read."""
        if self.content is None:
            raise ValueError(f"{self.path} was not read")
        return self.content


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads suspects of one workspace under the rules of one scan, which found them at `disk`."""

    roots: Sequence[Root]
    rules: Rules
    settings: ChunkSettings
    disk: Mapping[RelativePath, FileStat]

    def read(self, path: RelativePath, known: Known | None) -> Reading:
        """Read one file; never raises for what a file or a disk may do."""
        if known is None and self.rules.hold is not None:
            return Reading(path, Verdict.HELD, reason=self.rules.hold.reason)
        try:
            content, media = self._content(path)
        except (FileNotFoundError, TornReadError):
            return Reading(path, Verdict.AGAIN)
        except NotReadableError as exc:
            return Reading(path, Verdict.FAILED, reason=str(exc))
        except OSError as exc:
            return Reading(path, Verdict.FAILED, reason=f"cannot be read: {exc.strerror}")
        # Of the devices only the folder's is compared: on an overlay each file may name another one.
        stat = replace(content.stat, device=self.disk[path].device)
        try:
            return self._judge(path, replace(content, stat=stat), media, known)
        except Exception as exc:
            # one note that trips a bug of ours must not keep the others out of the index
            log.error("note cannot be indexed", path=path, exc_info=exc)
            return Reading(path, Verdict.FAILED, reason=f"cannot be indexed ({type(exc).__name__}); the log has it")

    def _content(self, path: RelativePath) -> tuple[Content, Media | None]:
        """Read what the index keeps of a file; its bytes are let go before the text is cut."""
        base, relative = base_of(path, self.rules.workspace, self.roots)
        limit, _ = self.rules.limit(path)
        octets = read_octets(base, relative, max_bytes=limit, follow_symlinks=self.rules.follow_symlinks)
        if modality_of(path) is not None:
            return media_content(path, octets)
        return content_of(octets, *decode(octets.data)), None

    def _judge(self, path: RelativePath, content: Content, media: Media | None, known: Known | None) -> Reading:
        if known is not None and not known.is_stale and known.digest == content.sha256:
            return Reading(path, Verdict.SAME, content)
        if (modality := modality_of(path)) and self.rules.hold is None:
            return _judge_media(path, modality, content, media)
        if reason := why_private(content.text):
            return Reading(path, Verdict.LEFT_OUT, content, reason=reason)
        if self.rules.hold is not None:
            return Reading(path, Verdict.HELD, reason=self.rules.hold.reason)
        return Reading(path, Verdict.CHANGED, content, tuple(in_turns(each_entry(content.text, self.settings))))


def _judge_media(path: RelativePath, modality: Modality, content: Content, media: Media | None) -> Reading:
    if media is None:
        reason = f"its bytes are not those of an {LABELS[modality].lower()} of a known kind"
        return Reading(path, Verdict.LEFT_OUT, content, reason=reason)
    return Reading(path, Verdict.CHANGED, content, media_entries(path, media, content.sha256))

"""What stands now where a document was read: the same, another text, nothing that may be told, or nobody can say."""

import errno
import os
import stat as stat_module
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from memoryd.domain.documents import RelativePath
from memoryd.domain.media import modality_of
from memoryd.domain.syncplan import Known
from memoryd.files.excerpts import QMD_PREFIX, FileLocation
from memoryd.files.octets import NotReadableError, Octets, TornReadError, file_stat, read_octets, utf8_of
from memoryd.files.private import why_private
from memoryd.files.real_paths import RealPaths
from memoryd.files.roots import base_of
from memoryd.files.scan_rules import ScanRoot, ScanRules

IS_CHANGED = "it has changed, and was not read again yet"
IS_IN_DOUBT = "it may be private: the rules are being changed"
IS_OUT_OF_SIGHT = "it is out of sight with its folder or disk"
_LEADS_AWAY = (errno.ELOOP, errno.EXDEV, errno.EPERM, errno.ENXIO)
"""What opening a file says where a symlink, or no file, stands on the way."""
MAX_SEEN = 1_000


class Presence(StrEnum):
    """What is known of a document now."""

    SAME = "same"
    """It holds what was read of it."""
    OTHER = "other"
    """It holds something else, which may be told."""
    ABSENT = "absent"
    """There is no such document: it is gone, it is private, or what stands there is none."""
    OWED = "owed"
    """Nobody can say before it is read again, or can be read at all."""


@dataclass(frozen=True, slots=True)
class PresentFile:
    """A document now: `data` is the text of a note that holds something else, UTF-8 that ends in `PADDING`."""

    presence: Presence
    data: bytes = b""
    reason: str = ""


SAME, ABSENT = PresentFile(Presence.SAME), PresentFile(Presence.ABSENT)


@dataclass(frozen=True, slots=True)
class Moment:
    """What holds for all looks of one moment: the rules, and where folders really lie, each looked up once."""

    rules: ScanRules
    real_paths: RealPaths


def nowhere(_path: str) -> None:
    """Say of every path below `qmd/` that it may not be told: there is no qmd."""


class PresentFiles:
    """Holds documents of one workspace against the disk by `rules`, those of each moment. `look` blocks.

    `elsewhere` says where a document of qmd lies that is told below `qmd/`, None if it may not be told.
    """

    def __init__(
        self,
        *,
        rules: Callable[[], ScanRules],
        roots: Callable[[], Sequence[ScanRoot]],
        elsewhere: Callable[[str], FileLocation | None] = nowhere,
    ) -> None:
        self._rules = rules
        self._roots = roots
        self._elsewhere = elsewhere
        self._seen: dict[str, Known] = {}
        """What files were that were read again and held the same, so that they need not be read each time."""

    def moment(self) -> Moment:
        """Begin to look; blocks for the rules."""
        rules = self._rules()
        return Moment(rules, RealPaths(rules.workspace, follow_symlinks=rules.follow_symlinks))

    def look(self, path: RelativePath, known: Known | None, moment: Moment) -> PresentFile:
        """Return what a document is now, which was `known` when it was read; never raises for what a disk may do.

        Where an equal stat proves that it is the same, that stat is all it costs.
        """
        rules = moment.rules
        if path.startswith(QMD_PREFIX):
            # whoever knows where it lies has looked at the rules
            location = self._elsewhere(path)
            return ABSENT if location is None else self._held_against(path, known, location, rules)
        if _is_behind_link(path, moment):
            return ABSENT
        return hidden_by(rules, path) or self._held_against(path, known, None, rules)

    def _held_against(
        self, path: RelativePath, known: Known | None, location: FileLocation | None, rules: ScanRules
    ) -> PresentFile:
        full = f"{rules.workspace}/{path}" if location is None else f"{location.base}/{location.relative}"
        try:
            info = os.stat(full, follow_symlinks=rules.follow_symlinks)  # noqa: PTH116  half the price
            if not stat_module.S_ISREG(info.st_mode):
                return ABSENT
            if known is not None and self._is_proven(path, known, info):
                return SAME
            # only now, for the roots may be globs
            base, relative = self._place(path, rules) if location is None else (location.base, location.relative)
            limit, _ = rules.limit(path)
            octets = read_octets(base, relative, max_bytes=limit, follow_symlinks=rules.follow_symlinks)
        except (FileNotFoundError, NotADirectoryError):
            is_gone = location is not None or self._is_gone(full, known, rules)
            return ABSENT if is_gone else _owed(IS_OUT_OF_SIGHT)
        except NotReadableError:
            return ABSENT
        except TornReadError:
            return _owed(IS_CHANGED)
        except OSError as exc:
            leads_away = exc.errno in _LEADS_AWAY
            return ABSENT if leads_away else _owed(f"it cannot be read: {os.strerror(exc.errno or 0).lower()}")
        return self._judged(path, known, octets)

    def _judged(self, path: RelativePath, known: Known | None, octets: Octets) -> PresentFile:
        if known is not None and octets.sha256 == known.digest:
            if len(self._seen) >= MAX_SEEN:
                self._seen.clear()
            self._seen[path] = Known(octets.stat, octets.read_at_ns, octets.sha256)
            return SAME
        if modality_of(path) is not None:
            return _owed(IS_CHANGED)
        data, _ = utf8_of(octets)
        return ABSENT if why_private(data) else PresentFile(Presence.OTHER, data)

    def _is_proven(self, path: RelativePath, known: Known, info: os.stat_result) -> bool:
        """Tell whether a stat proves that a file holds what was read of it, when it was indexed or later."""
        seen = self._seen.get(path)
        witnesses = (known,) if seen is None or seen.digest != known.digest else (known, seen)
        wall_ns = time.time_ns()
        # Of the device nothing is compared: on an overlay each file may name another one than its folder does.
        return any(
            replace(file_stat(info), device=one.stat.device) == one.stat and not one.is_racy(wall_ns)
            for one in witnesses
        )

    def _place(self, path: RelativePath, rules: ScanRules) -> tuple[Path, str]:
        return base_of(path, rules.workspace, self._roots() if path.startswith("../") else ())

    def _is_gone(self, full: str, known: Known | None, rules: ScanRules) -> bool:
        """Tell whether a file that is not there was taken away, and not its root or its disk."""
        folder = os.path.dirname(full)  # noqa: PTH120  text is enough
        try:
            info = os.stat(folder)  # noqa: PTH116
        except FileNotFoundError:
            roots = [root.path for root in self._roots() if Path(full).is_relative_to(root.path)]
            return rules.workspace.is_dir() and all(root.exists() for root in roots) and bool(roots)
        except OSError:
            return False
        return known is None or info.st_dev == known.stat.device


def hidden_by(rules: ScanRules, path: RelativePath) -> PresentFile | None:
    """Return that a document is not there, or may not be, as far as rules say so; None if they let it be told."""
    if rules.is_ignored(path):
        return ABSENT
    return _owed(IS_IN_DOUBT) if rules.may_hide(path) else None


def _is_behind_link(path: RelativePath, moment: Moment) -> bool:
    """Tell whether a link on the way leads where nobody looks; what lies there may well be the same file.

    Of a path outside of the workspace nobody can say so: the folders above its root may be links.
    """
    if path.startswith("../"):
        return False
    real, inside = moment.real_paths.of(path), f"{moment.real_paths.workspace}/"
    return not real.startswith(inside) if moment.rules.follow_symlinks else real != inside + path


def _owed(reason: str) -> PresentFile:
    return PresentFile(Presence.OWED, reason=reason)

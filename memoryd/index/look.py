"""One look at a workspace, with the rules that it was taken under."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from memoryd.domain.documents import RelativePath
from memoryd.files.scanner import Scan, ScanRoot, ScanRules


@dataclass(frozen=True, slots=True)
class Look:
    """What was on disk, and by which rules it was looked at."""

    roots: Sequence[ScanRoot]
    rules: ScanRules
    seen: Scan
    remote: str
    """Why scans alone tell what changes there; empty if events do."""
    only: Set[RelativePath] | None = None
    """Which files were looked at; the others are as the look before found them. None: all were."""

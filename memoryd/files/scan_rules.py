"""Where a scan looks for documents, and what it leaves out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memoryd.domain.documents import is_document_name
from memoryd.domain.media import MediaRules, modality_of
from memoryd.domain.patterns import fixed_part
from memoryd.files.ignore import Hold


@dataclass(frozen=True, slots=True)
class ScanRoot:
    """A place to look: a file, or a folder with all that lies below it."""

    path: Path
    is_optional: bool = True
    """Whether its absence is no fault (a default root that was never made)."""
    takes_media: bool = False
    """Whether pictures and sounds in it are documents, where the rules know any."""
    pattern: str = ""
    """The glob that matched it; one that matches nothing is a root itself, and is missing."""

    @property
    def stands_in(self) -> Path:
        """The folder in which it may appear, and others that the glob matches."""
        return Path(fixed_part(self.pattern)) if self.pattern else self.path.parent


@dataclass(frozen=True, slots=True)
class ScanRules:
    """What to leave out: `is_ignored` takes a relative path (a folder's ends in `/`)."""

    workspace: Path
    is_ignored: Callable[[str], bool]
    excluded_folder: Path | None = None
    max_file_bytes: int = 64 * 2**20
    follow_symlinks: bool = False
    max_depth: int = 64
    media: MediaRules | None = None
    """Which pictures and sounds are documents; None: none."""
    has_patterns: bool = False
    """Whether there is a name that is left out, so that what is gone may have been moved out of sight on purpose."""
    hold: Hold | None = None
    """Why nothing new may be indexed now, since nobody can say what is private."""
    notice: str = ""
    """What the owner is to know of the privacy rules though nothing is held up."""
    may_hide: Callable[[str], bool] = field(default=lambda _path: False)
    """Whether a relative path may be left out soon, by rules that are being saved."""
    is_current: Callable[[], bool] = field(default=lambda: True)
    """Whether the privacy rules are still those of this value; blocks."""

    def may_be_document(self, name: str) -> bool:
        """Tell whether a file of this name is listed."""
        return is_document_name(name) or (self.media is not None and self.media.admits(name))

    def limit(self, name: str) -> tuple[int, str]:
        """Return how many bytes a file of this name may have, and the key that says so."""
        if self.media is not None and modality_of(name) and self.media.max_file_bytes < self.max_file_bytes:
            return self.media.max_file_bytes, "memorySearch.multimodal.maxFileBytes"
        return self.max_file_bytes, "limits.maxFileBytes"


CurrentRules = Callable[[], tuple[Sequence[ScanRoot], ScanRules]]
"""Says where to look and what to leave out as of now; blocks."""

"""Whether a note says of itself that it is private: the one place where the package asks, whatever it holds of it."""

from pathlib import Path

from memoryd.domain import privacy
from memoryd.domain.text.lines import PADDING
from memoryd.files.octets import read_head

HEAD_CHARS = privacy.HEAD_CHARS
"""So much of a note is looked at."""
_HEAD_BYTES = 4 * HEAD_CHARS
"""A character has four bytes at the most."""


def is_private(text: str) -> bool:
    """Tell whether a note must not be indexed, cited or handed on; its first `HEAD_CHARS` are enough."""
    return bool(privacy.why_private(text))


def why_private(padded: bytes) -> str:
    """Return why a note is private, empty if it is not; takes UTF-8 ended by `PADDING`, as `utf8_of` gives it."""
    return privacy.why_private(padded[: min(len(padded) - len(PADDING), _HEAD_BYTES)].decode("utf-8", "replace"))


def is_private_file(base: Path, relative: str, *, head_bytes: int = _HEAD_BYTES, follow_symlinks: bool = False) -> bool:
    """Tell whether the note at `base/relative` is private as it is now; raises OSError when it cannot be read.

    Nobody knows of a note that cannot be read: whoever asks is to take it for a private one.
    """
    return is_private(read_head(base, relative, head_bytes, follow_symlinks=follow_symlinks))

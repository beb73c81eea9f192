"""What is forgotten stays so where an earlier ledger takes the place of a later one: its marks go along."""

import os
from pathlib import Path

from memoryd.domain.memories.changes.tombstones import parsed, rendered
from memoryd.errors import StoreError
from memoryd.moving.replacing import Replacement
from memoryd.moving.sources import KEY_SUFFIX
from memoryd.store.ledger.file import LOGS, carry_marks


def settle_ledger(target: Path, replacement: Replacement, notes: list[str]) -> int:
    """Have the logs of the present ledger go with it, and its marks come into the one that is staged.

    Returns how many marks are new to that; what cannot be carried is told.
    """
    for ending in LOGS:
        replacement.remove(target.with_name(target.name + ending))
    key = key_of(target)
    if not os.path.lexists(target):
        return 0
    try:
        has_same_key = not replacement.has(key) or is_same_file(key, replacement.staged(key)) or not key.exists()
        carried = carry_marks(target, replacement.staged(target), has_same_key=has_same_key)
    except (StoreError, OSError) as exc:
        notes.append(f"{target} cannot be read, so that what was forgotten since is not known any more: {exc}")
        return 0
    if not has_same_key:
        notes.append(f"what was forgotten since in {target} is not known any more: another key")
    return carried


def join_forgotten(present: Path, new: Path) -> None:
    """Add what is forgotten now to what was then."""
    if present.is_file():
        known = parsed(present.read_text("ascii", "replace")) | parsed(new.read_text("ascii", "replace"))
        new.write_text(rendered(known))


def key_of(ledger: Path) -> Path:
    """Return where the key of what is forgotten lies."""
    return ledger.with_name(ledger.name + KEY_SUFFIX)


def is_same_file(one: Path, other: Path) -> bool:
    """Tell whether both can be read and have the same bytes."""
    try:
        return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()
    except OSError:
        return False

"""Taking a restore back: what it replaced stands again, but for what was forgotten since, which stays forgotten."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from memoryd.errors import StoreError
from memoryd.moving.archive import scratch_folder
from memoryd.moving.marks_carried import join_forgotten, key_of, settle_ledger
from memoryd.moving.members import FORGOTTEN
from memoryd.moving.replacing import Replacement, last_done, put_back
from memoryd.store.ledger.file import LOGS, copy_ledger, empty_ledger, is_ledger_name


@dataclass(slots=True)
class TakenBack:
    """What is ready to stand again, how many marks of what was forgotten go along, and what to know of it."""

    replacement: Replacement
    carried: int = 0
    notes: list[str] = field(default_factory=list)


def taken_back(state: Path) -> TakenBack:
    """Prepare the last replacement the other way round; raises NotFound, StoreError. Nothing has changed yet."""
    _, plan = last_done(state)
    back = TakenBack(put_back(state))
    for target in (Path(piece.target) for piece in plan.pieces):
        if is_ledger_name(target.name):
            _settle(target, back, state)
        elif target.match(FORGOTTEN):
            _keep_forgotten(target, back.replacement)
    return back


def _settle(target: Path, back: TakenBack, state: Path) -> None:
    if not back.replacement.has(key_of(target)):
        # the marks mean nothing without it
        back.replacement.leave(key_of(target))
    if back.replacement.has(target):
        try:
            _join_log(target, back.replacement, state)
        except (StoreError, OSError) as exc:
            back.notes.append(f"what was forgotten since in {target} comes back with it, for that is damaged: {exc}")
            return
        back.carried += settle_ledger(target, back.replacement, back.notes)
    elif os.path.lexists(target):
        _keep_marks_alone(target, back)


def _keep_marks_alone(target: Path, back: TakenBack) -> None:
    """Where there was no ledger before, one with nothing but the marks stays, if there are any."""
    with back.replacement.put(target) as file:
        file.write(empty_ledger())
    carried = settle_ledger(target, back.replacement, back.notes)
    back.carried += carried
    if not carried:
        back.replacement.remove(target)


def _join_log(target: Path, replacement: Replacement, state: Path) -> None:
    """Bring what only the log of a ledger knows into it: the log of a ledger that changes is nobody's."""
    if not any(replacement.has(target.with_name(target.name + ending)) for ending in LOGS):
        return
    with scratch_folder(state) as scratch:
        for ending in ("", *LOGS):
            if replacement.has(part := target.with_name(target.name + ending)):
                shutil.copyfile(replacement.staged(part), scratch / f"with-log{ending}")
        copy_ledger(scratch / "with-log", scratch / "whole")
        shutil.copyfile(scratch / "whole", replacement.staged(target))


def _keep_forgotten(target: Path, replacement: Replacement) -> None:
    if replacement.has(target):
        join_forgotten(target, replacement.staged(target))
    else:
        replacement.leave(target)

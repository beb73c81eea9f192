"""The rules of other workspaces: a folder of theirs keeps its secrets from whoever lists it."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from memoryd.files.ignore import Ruling
from memoryd.files.real_paths import RealPaths


def related(workspaces: Iterable[Path], tops: Iterable[Path]) -> set[Path]:
    """Return the workspaces, given by their real paths, that lie in or around one of the folders."""
    reals = [f"{os.path.realpath(top)}/" for top in tops]
    above = {real[:at] for real in reals for at, character in enumerate(real) if character == "/"}
    return {one for one in workspaces if str(one) in above or f"{one}/".startswith(tuple(reals))}


def joined(own: Ruling, real_paths: RealPaths, others: Sequence[tuple[Path, Ruling]]) -> Ruling:
    """Return a ruling that hides what any of them hides, the others below their workspaces; each one may hold."""
    if not others:
        return own
    neighbours = [(f"{os.path.realpath(path)}/", ruling) for path, ruling in others]

    def hidden_by(at: str, hides: Callable[[Ruling, str], bool]) -> bool:
        if hides(own, at):
            return True
        real = real_paths.of(at)
        return any(
            real.startswith(top) and real != top and hides(ruling, real.removeprefix(top)) for top, ruling in neighbours
        )

    holds = (replace(ruling.hold, reason=f"{top}{ruling.hold.reason}") for top, ruling in neighbours if ruling.hold)
    return replace(
        own,
        is_ignored=lambda at: hidden_by(at, lambda ruling, path: ruling.is_ignored(path)),
        may_hide=lambda at: hidden_by(at, lambda ruling, path: ruling.may_hide(path)),
        has_rules=own.has_rules or any(ruling.has_rules for _, ruling in neighbours),
        hold=own.hold or next(holds, None),
        is_current=lambda: own.is_current() and all(ruling.is_current() for _, ruling in neighbours),
    )

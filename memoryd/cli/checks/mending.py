"""What `memoryctl doctor --fix` does: one remedy after the other, each told; one that fails keeps no other."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import click

from memoryd.cli.checks.finding import Finding, Remedy
from memoryd.cli.terminal import harmless_line, is_terminal
from memoryd.errors import MemorydError

_WOULD: Final = "would "
Agreed = Callable[[Remedy], bool]
"""Asks somebody whether what costs traffic may be done."""


@dataclass(frozen=True, slots=True)
class Remedied:
    """What became of a remedy: `told` is what was done, or why it was not."""

    check: str
    fix: str
    done: bool
    told: str

    def as_json(self) -> dict[str, object]:
        """Return it as `--json` has it."""
        return asdict(self)

    def __str__(self) -> str:
        word = "done: " if self.done else "" if self.told.startswith(_WOULD) else "not done: "
        return harmless_line(f"{word}{self.told}")


def mended(found: Sequence[Finding], *, is_dry_run: bool, agreed: Agreed) -> Iterator[Remedied]:
    """Yield what was done about each finding that can be mended, or in a dry run what would be; equal ones once."""
    seen = set()
    for one in found:
        remedy = one.remedy
        if remedy is not None and remedy.does not in seen:
            seen.add(remedy.does)
            yield Remedied(one.check, remedy.does, *_act(remedy, is_dry_run=is_dry_run, agreed=agreed))


def agreed_by_person(remedy: Remedy) -> bool:
    """Ask at the terminal; nobody there agrees to nothing."""
    return is_terminal(sys.stdin) and click.confirm(f"{remedy.does[0].upper()}{remedy.does[1:]}?", err=True)


def _act(remedy: Remedy, *, is_dry_run: bool, agreed: Agreed) -> tuple[bool, str]:
    if is_dry_run:
        return False, f"{_WOULD}{remedy.does}"
    if remedy.asks and not agreed(remedy):
        return False, f"{remedy.does}: --yes agrees to that"
    try:
        return True, remedy.act()
    except (MemorydError, OSError) as exc:
        return False, f"{remedy.does}: {exc}"

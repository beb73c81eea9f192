"""What a glob of the configuration matches, by its text alone: what it matched is known after it has vanished."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

_ANY_DEPTH: Final = "**"
_SIGNS: Final = frozenset("*?[")


def is_glob(path: str) -> bool:
    """Tell whether a path holds a sign that stands for others."""
    return not _SIGNS.isdisjoint(path)


def fixed_part(pattern: str) -> str:
    """Return the folder below which everything lies that an absolute pattern matches."""
    parts = pattern.split("/")
    first = next((number for number, part in enumerate(parts) if is_glob(part)), len(parts) - 1)
    return "/".join(parts[:first]) or "/"


def matches(pattern: str, path: str) -> bool:
    """Tell whether `glob.glob(pattern, recursive=True)` would list this absolute path if it were there."""
    rules = pattern.split("/")
    states = _with_skips({0}, rules)
    for part in path.split("/"):
        taken = {at for at in states if at < len(rules) and _admits(rules[at], part)}
        states = _with_skips({at if rules[at] == _ANY_DEPTH else at + 1 for at in taken}, rules)
    return len(rules) in states


def _admits(rule: str, part: str) -> bool:
    if part.startswith(".") and not rule.startswith("."):
        return False
    return rule == _ANY_DEPTH or fnmatchcase(part, rule)


def _with_skips(states: Iterable[int], rules: list[str]) -> set[int]:
    """Add the places behind each `**`, which may stand for nothing."""
    found = set(states)
    for at in range(len(rules)):
        if at in found and rules[at] == _ANY_DEPTH:
            found.add(at + 1)
    return found

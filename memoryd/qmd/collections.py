"""Collections of qmd: their names, and which files of a folder belong to one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import Final

from memoryd.domain.patterns import CharacterClass, Folders, Literal, Places, Star, Token, reaches_end

NEVER_INDEXED: Final = frozenset({"node_modules", "vendor", "dist", "build"})
"""Folders that qmd leaves out besides hidden ones."""
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9-]+")
_BRACES: Final = re.compile(r"(?<!\\)\{([^{}]*)(?<!\\)\}")
_PIECES: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|\\.|.", re.DOTALL)
_RANGES: Final = re.compile(r"(.)-(.)|(.)", re.DOTALL)
_WILD: Final[Mapping[str, Token]] = {
    "**/": Folders(),
    "**": Star(crosses=True),
    "*": Star(crosses=False),
    "?": CharacterClass(),
}
_SPECIAL: Final = re.compile(r"([*?\[\]{}!()\\,])")
_MOST_ALTERNATIVES: Final = 64


@dataclass(frozen=True, slots=True)
class Collection:
    """A folder and a glob over the paths below it. `is_default` marks the agent's own memory files.

    `is_exported` marks what memoryd itself has written for qmd: it is read where it lies, and asked by name only.
    """

    name: str
    root: str
    pattern: str
    is_default: bool = False
    is_exported: bool = False

    def holds(self, relative: str) -> bool:
        """Tell whether qmd would index this path: it matches, and no part is hidden or left out."""
        parts = relative.split("/")
        if any(part in ("", ".", "..") or part.startswith(".") for part in parts):
            return False
        return not NEVER_INDEXED.intersection(parts[:-1]) and matches(self.pattern, relative)

    def may_hold_below(self, folder: str) -> bool:
        """Tell whether a path below this folder, given without a `/` at its end, may belong to the collection."""
        parts = folder.split("/")
        if any(part.startswith(".") for part in parts) or not NEVER_INDEXED.isdisjoint(parts):
            return False
        return any(_may_begin(one.removeprefix("./"), parts[0]) for one in _alternatives(self.pattern))


def sanitised(name: str) -> str:
    """Return a name that every version of qmd takes: lower case, digits and hyphens, never empty."""
    return _NOT_IN_NAMES.sub("-", name.lower()).strip("-") or "collection"


def distinct(collections: Iterable[Collection]) -> tuple[Collection, ...]:
    """Return the collections with clean names, one for each folder and pattern; repeated names get `-2`, `-3`."""
    kept: dict[str, Collection] = {}
    seen: set[tuple[str, str]] = set()
    for one in collections:
        if (one.root, one.pattern) in seen:
            continue
        seen.add((one.root, one.pattern))
        base = name = sanitised(one.name)
        number = 1
        while name in kept:
            number += 1
            name = f"{base}-{number}"
        kept[name] = replace(one, name=name)
    return tuple(kept.values())


def escaped(name: str) -> str:
    """Return a glob that matches this file name alone."""
    return _SPECIAL.sub(r"\\\1", name)


def matches(pattern: str, relative: str) -> bool:
    """Tell whether a path matches a glob with `**`, `*`, `?`, `[…]`, `{a,b}`, or a list of globs with commas."""
    text = Places(relative)
    for glob in _alternatives(pattern):
        lead, tokens = _compiled(glob)
        if relative.startswith(lead) and reaches_end(tokens, text, start=len(lead)):
            return True
    return False


def _may_begin(glob: str, top: str) -> bool:
    """Tell whether a path that matches a glob may begin with this folder."""
    first, slash, _ = glob.partition("/")
    return (first == top or _SPECIAL.search(first) is not None) if slash else "**" in first


@lru_cache(maxsize=256)
def _alternatives(pattern: str) -> tuple[str, ...]:
    """Write out braces, then split at the commas that are left."""
    todo: list[str] = [pattern]
    done: list[str] = []
    while todo and len(done) + len(todo) <= _MOST_ALTERNATIVES:
        one = todo.pop()
        braces = _BRACES.search(one)
        if braces is None:
            done += [part.strip() for part in re.split(r"(?<!\\),", one)]
        else:
            before, after = one[: braces.start()], one[braces.end() :]
            todo += [f"{before}{choice}{after}" for choice in braces[1].split(",")]
    return tuple(done)


@lru_cache(maxsize=256)
def _compiled(glob: str) -> tuple[str, tuple[Token, ...]]:
    """Return the characters that must lead, by which most paths are told apart at once, and the rest of a glob."""
    tokens = [_token(found) for found in _PIECES.findall(glob.removeprefix("./"))]
    lead = list(takewhile(lambda token: isinstance(token, Literal), tokens))
    return "".join(token.character for token in lead if isinstance(token, Literal)), tuple(tokens[len(lead) :])


def _token(piece: str) -> Token:
    if piece in _WILD:
        return _WILD[piece]
    if len(piece) > 2 and piece[0] == "[":
        is_negated = piece[1] in "!^" and len(piece) > 3
        ranges = _RANGES.findall(piece[1 + is_negated : -1])
        return CharacterClass(tuple((first or only, last or only) for first, last, only in ranges), is_negated)
    return Literal(piece[-1])

"""Patterns of paths: globs of the configuration, and gitignore syntax.

Gitignore patterns match what git matches (gitignore(5), and wildmatch where the manual is silent), with three
differences: characters count, not bytes; names that look the same (Unicode NFC) are the same; and a line that would
hide nothing because of a typing error also hides what was intended (see `Patterns`). Globs match the text of a path
alone, since deleted paths are matched, too.

Matching takes time in proportion to the pattern: the positions reached so far are the bits of one number, and each
character, `?`, class or star of the pattern shifts them with a few operations. A regular expression would backtrack,
for hours with a pattern written for that purpose.
"""

import posixpath
import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property, partial

from msgspec import Struct

from memoryd.domain.expressions import expression

_ANY_DEPTH = "**"
_CHARS = frozenset("*?[")


def is_glob(path: str) -> bool:
    """Return whether a path contains a wildcard character."""
    return not _CHARS.isdisjoint(path)


def fixed_part(pattern: str) -> str:
    """Return the folder above everything that an absolute pattern matches."""
    parts = pattern.split("/")
    first = next((number for number, part in enumerate(parts) if is_glob(part)), len(parts) - 1)
    return "/".join(parts[:first]) or "/"


def matches(pattern: str, path: str) -> bool:
    """Return whether `glob.glob(pattern, recursive=True)` would list this absolute path if it existed."""
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
    """Return the states and the states after each `**`, which may match no folder."""
    states = set(states)
    for at in range(len(rules)):
        if at in states and rules[at] == _ANY_DEPTH:
            states.add(at + 1)
    return states


class Places:
    """Characters of a text as sets of positions: bit i of `at(c)` is set if character i is `c`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 1 << len(text)

    @cached_property
    def _at(self) -> dict[str, int]:
        positions: dict[str, int] = {}
        for index, character in enumerate(self.text):
            positions[character] = positions.get(character, 0) | 1 << index
        return positions

    def at(self, character: str) -> int:
        """Return the positions of a character."""
        return self._at.get(character, 0)

    def inside(self, ranges: Sequence[tuple[str, str]]) -> int:
        """Return the positions of all characters in one of the ranges."""
        return sum(
            places
            for character, places in self._at.items()
            if any(first <= character <= last for first, last in ranges)
        )

    @cached_property
    def within(self) -> int:
        """Positions of all characters except `/`."""
        return (self.end - 1) & ~self.at("/")


PatternStep = Callable[[int, Places], int]
"""A step of a pattern: takes the positions reached before it, as bits, and returns those reached after it."""


def literal(character: str) -> PatternStep:
    """Match this character."""
    return lambda reached, text: (reached & text.at(character)) << 1


def one_of(ranges: Sequence[tuple[str, str]], *, is_negated: bool) -> PatternStep:
    """Match one character in (or, negated, outside) the ranges, but never a `/`."""

    def step(reached: int, text: Places) -> int:
        inside = text.inside(ranges)
        return (reached & text.within & (~inside if is_negated else inside)) << 1

    return step


def any_run(reached: int, text: Places) -> int:
    """Match any run of characters within a name."""
    # the carry of the sum propagates from each position to the end of its name
    return (((reached & text.within) + text.within) ^ text.within) | reached


def anything(reached: int, text: Places) -> int:
    """Match any run of characters, including `/`."""
    return ((text.end << 1) - 1) & -(reached & -reached)


def folders(reached: int, text: Places) -> int:
    """Match `**/`: any number of folders, including none."""
    return reached | (anything(reached, text) & text.at("/")) << 1


def reaches_end(steps: Sequence[PatternStep], text: Places, *, start: int) -> bool:
    """Return whether a pattern matches the text from `start` to its end."""
    reached = 1 << start
    for step in steps:
        reached = step(reached, text)
        if not reached:
            return False
    return bool(reached & text.end)


MAX_PATTERNS = 1_000
MAX_PATTERN_CHARS = 1_024
_CACHED_PATHS = 100_000
"""Number of cached answers at which the cache is cleared."""

_UNFINISHED = "it ends in the middle of a class, or with a backslash"
_INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060\u00ad"
_QUOTES = ('""', "''", "``", "“”", "‘’", "„“", "«»")
_TAIL = expression(rf"[\s{_INVISIBLE}]+$")
_LEAD = expression(rf"^[\s{_INVISIBLE}]+")
_COMMENT = expression(r"\s+#.*$")
_BACKSLASHES = expression(r"(?<=[\w*.])\\+(?=[\w*.])")
"""Backslashes as separators, as on Windows."""
_FILE_AS_FOLDER = expression(r"[^/]\.\w{1,8}/$")
_ALTERNATIVES = expression(r"(?<!\\)\{([^{}]*,[^{}]*)\}")
MAX_ALTERNATIVES = 32
_SPECIAL = frozenset("*?[\\")
_BLANKS, _CONTROLS = " \t", "".join(map(chr, (*range(32), 127)))
_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": _BLANKS,
    "cntrl": _CONTROLS,
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": string.ascii_letters + string.digits + string.punctuation + " ",
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}


class InvalidPattern(Struct, frozen=True):
    """A pattern that hides nothing because it is invalid; lines count from 1."""

    line: int
    pattern: str
    reason: str


class _MalformedError(Exception):
    """An invalid pattern; the text is the reason."""


class _Pattern(Struct, frozen=True):
    """A parsed pattern: a literal lead, then the steps of the rest."""

    lead: str
    steps: tuple[PatternStep, ...]
    is_negated: bool
    is_folder: bool
    is_name: bool
    """Whether it is compared with the last name of a path only, not with the full path."""

    def matches(self, places: Places) -> bool:
        if not self.steps:
            return places.text == self.lead
        if not places.text.startswith(self.lead):
            return False
        return reaches_end(self.steps, places, start=len(self.lead))


class Patterns:
    """The lines of an ignore file: the last line that matches decides, and everything in a hidden folder is hidden.

    A line that git takes literally, so that it hides nothing, may have another meaning: `./x`, `a//b`, `"x"`, `a\\b`,
    `x # why`, `x` with an invisible tail, `x.md/`, `{a,b}`, or a path through `..`, `home` or `folder`, the folder of
    the file. Such a line hides what either reading hides. `folds_case` is true if the disk ignores case.
    """

    def __init__(self, lines: Sequence[str], *, folder: str = "", home: str = "", folds_case: bool = False) -> None:
        self._places, self._folds_case = (folder, home), folds_case
        self._patterns: list[tuple[_Pattern, ...]] = []
        """All readings of each line."""
        refused: list[InvalidPattern] = []
        for number, line in enumerate(lines, 1):
            pattern = _trim(line.lstrip("\ufeff"))
            if not pattern or pattern.startswith("#"):
                continue
            try:
                if len(self._patterns) >= MAX_PATTERNS:
                    raise _MalformedError(f"more than {MAX_PATTERNS} patterns")
                self._patterns.append(tuple(self._parsed(pattern)))
            except _MalformedError as exc:
                # an invalid negated pattern is ignored: nothing less is hidden without it
                if not pattern.startswith("!"):
                    refused.append(InvalidPattern(number, pattern[:80], str(exc)))
        self.refused = tuple(refused)
        self._answers: dict[str, bool] = {}

    def __bool__(self) -> bool:
        return bool(self._patterns or self.refused)

    def hides(self, path: str) -> bool:
        """Return whether a path is hidden; its parts are separated by `/`, and a folder ends in `/`."""
        return bool(self._patterns) and any(map(self._hides_itself, _from_the_top(self._plain(path))))

    def _parsed(self, pattern: str) -> Iterator[_Pattern]:
        if len(pattern) > MAX_PATTERN_CHARS:
            raise _MalformedError(f"longer than {MAX_PATTERN_CHARS} characters")
        yield _parse(self._plain(pattern))
        for other in _other_readings(pattern, *self._places):
            with suppress(_MalformedError):
                yield _parse(self._plain(other))

    def _plain(self, text: str) -> str:
        """Return the text normalised, so that names are equal if they look the same, or are the same on this disk."""
        text = unicodedata.normalize("NFC", text)
        return text.lower().replace("[:upper:]", "[:lower:]") if self._folds_case else text

    def _hides_itself(self, path: str) -> bool:
        """Return whether the patterns hide this path itself, regardless of the folders above it."""
        answer = self._answers.get(path)
        if answer is None:
            if len(self._answers) >= _CACHED_PATHS:
                self._answers.clear()
            answer = self._answers[path] = self._decide(path)
        return answer

    def _decide(self, path: str) -> bool:
        bare = path.removesuffix("/")
        name = bare.rpartition("/")[2]
        if name in ("", "..", "."):  # not names
            return False
        path_places, name_places = Places(bare), Places(name)
        for pattern in (reading for line in reversed(self._patterns) for reading in line):
            if pattern.is_folder and not path.endswith("/"):
                continue
            if pattern.matches(name_places if pattern.is_name else path_places):
                return not pattern.is_negated
        return False


def _from_the_top(path: str) -> Iterator[str]:
    """Yield the folders above a path, outermost first, each with its `/`, then the path."""
    at = path.find("/")
    while 0 <= at < len(path) - 1:
        yield path[: at + 1]
        at = path.find("/", at + 1)
    yield path


def _trim(line: str) -> str:
    """Return the line without its line end and trailing spaces, except one escaped by a backslash."""
    line = line.removesuffix("\r")
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if slashes % 2 and bare != line else bare


def _other_readings(pattern: str, folder: str, home: str) -> list[str]:
    """Return the other possible readings of a pattern; a negated pattern is only taken literally."""
    if pattern.startswith("!"):
        return []
    readings = [pattern]
    for change in (_without_ends, partial(_COMMENT.sub, ""), _without_ends, _without_quotes, _with_plain_slashes):
        readings += [changed for reading in readings if (changed := change(reading)) not in readings]
    readings += [other for reading in readings for other in _alternatives(reading) if other not in readings]
    if folder:
        readings += [path for reading in readings if (path := _from_folder(reading, folder, home)) not in readings]
    return [reading for reading in readings[1:] if reading.strip("/") and reading[0] not in "!#"]


def _without_ends(pattern: str) -> str:
    """Return the pattern without blanks and invisible characters at both ends, unless a backslash escapes the last."""
    bare = _TAIL.sub("", pattern)
    slashes = len(bare) - len(bare.rstrip("\\"))
    return _LEAD.sub("", pattern if slashes % 2 else bare)


def _without_quotes(pattern: str) -> str:
    is_quoted = len(pattern) > 2 and pattern[0] + pattern[-1] in _QUOTES
    return pattern[1:-1] if is_quoted else pattern


def _with_plain_slashes(pattern: str) -> str:
    """Return the pattern with `/` for other or repeated slashes and for a leading `./`, and none after a file name."""
    plain = re.sub("/{2,}", "/", _BACKSLASHES.sub("/", pattern).replace("\uff0f", "/"))
    plain = re.sub(r"^(?:\./)+", "/", re.sub(r"/(?:\./)+", "/", plain))
    return plain[:-1] if _FILE_AS_FOLDER.search(plain) else plain


def _alternatives(pattern: str) -> list[str]:
    """Return `{a,b}c` as `ac` and `bc`; raises _MalformedError for too many."""
    expanded, pending = list[str](), [pattern]
    while pending:
        text = pending.pop()
        if (match := _ALTERNATIVES.search(text)) is None:
            expanded.append(text)
        else:
            pending += [text[: match.start()] + choice + text[match.end() :] for choice in match[1].split(",")]
        if len(expanded) + len(pending) > MAX_ALTERNATIVES:
            raise _MalformedError(f"more than {MAX_ALTERNATIVES} alternatives in braces")
    return expanded


def _from_folder(pattern: str, folder: str, home: str) -> str:
    """Return a pattern through `..`, the home folder or the root relative to the folder; any other unchanged."""
    is_absolute = pattern.startswith("~/") or pattern.split("/")[:2] == folder.split("/")[:2]
    if not is_absolute and ".." not in pattern.split("/"):
        return pattern
    path = home + pattern[1:] if pattern[0] == "~" else pattern if is_absolute else f"{folder}/{pattern}"
    relative = posixpath.relpath(path, folder) + "/" * pattern.endswith("/")
    return relative if relative.startswith("../") else f"/{relative}"


def parse_glob(glob: str) -> _Pattern:
    """Parse a glob over a full path like a line of git; an unfinished bracket or backslash is literal."""
    for text in (glob, glob.replace("[", "\\[")):
        with suppress(_MalformedError):
            return _parse(f"/{text}")
    return _Pattern(glob, (), is_negated=False, is_folder=False, is_name=False)


def _parse(pattern: str) -> _Pattern:
    is_negated = pattern.startswith("!")
    body = pattern[is_negated:]
    is_folder = body.endswith("/")
    body = body[: len(body) - is_folder]
    is_name = "/" not in body
    body = body.removeprefix("/")
    lead = next((at for at, character in enumerate(body) if character in _SPECIAL), len(body))
    steps = tuple(_Scanner(body[lead:], is_name=is_name).steps())
    return _Pattern(body[:lead], steps, is_negated, is_folder, is_name)


class _Scanner:
    """Parser for the steps of a pattern, from its first special character on."""

    def __init__(self, text: str, *, is_name: bool) -> None:
        self._text = text
        self._at = 0
        self._is_name = is_name

    def steps(self) -> Iterator[PatternStep]:
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "*":
                yield self._star()
                continue
            self._at += 1
            if character == "?":
                yield one_of((), is_negated=True)
            elif character == "[":
                yield self._class()
            else:
                yield literal(self._next() if character == "\\" else character)

    def _next(self) -> str:
        if self._at >= len(self._text):
            raise _MalformedError(_UNFINISHED)
        self._at += 1
        return self._text[self._at - 1]

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _star(self) -> PatternStep:
        begin = self._at
        while self._peek() == "*":
            self._at += 1
        rest = self._text[self._at :]
        is_part = begin == 0 or self._text[begin - 1] == "/"
        crosses = is_part and self._at - begin > 1 and (not rest or rest.startswith(("/", "\\/")))
        if self._is_name or not crosses or not rest.startswith("/"):
            return anything if crosses else any_run
        self._at += 1
        return folders

    def _class(self) -> PatternStep:
        """Parse a class after its `[`. A `]` at the beginning is a member, and so is a `-` at either end."""
        is_negated = self._peek() in ("!", "^")
        self._at += is_negated
        ranges: list[tuple[str, str]] = []
        before = self._member("", ranges)
        while self._peek() != "]":
            before = self._member(before, ranges)
        self._at += 1
        return one_of(ranges, is_negated=is_negated)

    def _member(self, before: str, ranges: list[tuple[str, str]]) -> str:
        """Add one member of a class; return the character that may begin a range, or ""."""
        character = self._next()
        if character == "-" and before and self._peek() not in ("", "]"):
            last = self._next()
            ranges.append((before, self._next() if last == "\\" else last))
            return ""
        if character == "[" and self._peek() == ":":
            return self._named(ranges)
        if character == "\\":
            character = self._next()
        ranges.append((character, character))
        return character

    def _named(self, ranges: list[tuple[str, str]]) -> str:
        """Add the members of `[:name:]`; without a closing `:]` the `[` is literal."""
        end = self._text.find("]", self._at + 1)
        if end < 0:
            raise _MalformedError(_UNFINISHED)
        if end == self._at + 1 or self._text[end - 1] != ":":
            ranges.append(("[", "["))
            return "["
        name = self._text[self._at + 1 : end - 1]
        if name not in _CLASSES:
            raise _MalformedError(f"there is no class [:{name}:]")
        ranges.extend((character, character) for character in _CLASSES[name])
        self._at = end + 1
        return ""

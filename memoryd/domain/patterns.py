"""Patterns of paths: globs of the configuration, and gitignore syntax.

Gitignore patterns match what git matches (gitignore(5), and wildmatch where the manual is silent), save that
characters count, not bytes, that names which look the same (Unicode NFC) are the same, and that a line which would
hide nothing for a typing slip (`Patterns`) also hides what was meant. Globs match by the text of a path alone, since a
path is matched after it has vanished, too.

Matching takes time in proportion to the pattern: the places reached so far are the bits of one number, and each
character, `?`, class or star of the pattern moves them with a few operations. A regular expression would backtrack,
for hours if the pattern was written to make it.
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
    """Tell whether a path holds a sign that stands for others."""
    return not _CHARS.isdisjoint(path)


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


class Places:
    """The characters of a text as sets of places: bit i of `at(c)` says that character i is `c`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 1 << len(text)

    @cached_property
    def _at(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for index, character in enumerate(self.text):
            found[character] = found.get(character, 0) | 1 << index
        return found

    def at(self, character: str) -> int:
        """Return where this character stands."""
        return self._at.get(character, 0)

    def inside(self, ranges: Sequence[tuple[str, str]]) -> int:
        """Return where a character of one of the ranges stands."""
        return sum(
            places
            for character, places in self._at.items()
            if any(first <= character <= last for first, last in ranges)
        )

    @cached_property
    def within(self) -> int:
        """Where any character but `/` stands."""
        return (self.end - 1) & ~self.at("/")


PatternStep = Callable[[int, Places], int]
"""A piece of a pattern: takes the places reached before it, as bits, and returns those reached behind it."""


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
    # the carry of the sum runs on from each place to the end of its name
    return (((reached & text.within) + text.within) ^ text.within) | reached


def anything(reached: int, text: Places) -> int:
    """Match any run of characters, over `/` too."""
    return ((text.end << 1) - 1) & -(reached & -reached)


def folders(reached: int, text: Places) -> int:
    """Match `**/`: no folder, or any number of them."""
    return reached | (anything(reached, text) & text.at("/")) << 1


def reaches_end(steps: Sequence[PatternStep], text: Places, *, start: int) -> bool:
    """Tell whether a pattern matches the text from this place on to its end."""
    reached = 1 << start
    for step in steps:
        reached = step(reached, text)
        if not reached:
            return False
    return bool(reached & text.end)


MAX_PATTERNS = 1_000
MAX_PATTERN_CHARS = 1_024
_REMEMBERED = 100_000
"""Paths whose answer is kept; then all are forgotten."""

_UNFINISHED = "it ends in the middle of a class, or with a backslash"
_UNSEEN = "\ufeff\u200b\u200c\u200d\u2060\u00ad"
_QUOTES = ('""', "''", "``", "“”", "‘’", "„“", "«»")
_TAIL = expression(rf"[\s{_UNSEEN}]+$")
_LEAD = expression(rf"^[\s{_UNSEEN}]+")
_COMMENT = expression(r"\s+#.*$")
_BACKSLASHES = expression(r"(?<=[\w*.])\\+(?=[\w*.])")
"""Between folders, as Windows has it."""
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


class Refused(Struct, frozen=True):
    """A pattern that hides nothing because nobody can say what it means; lines count from 1."""

    line: int
    pattern: str
    reason: str


class _MalformedError(Exception):
    """The pattern can match nothing; the text says why."""


class _Pattern(Struct, frozen=True):
    """One line: the characters that must lead, then the steps of the rest."""

    lead: str
    steps: tuple[PatternStep, ...]
    is_negated: bool
    is_folder: bool
    is_name: bool
    """Whether it is compared with the last name of a path only, and not with the whole."""

    def matches(self, places: Places) -> bool:
        if not self.steps:
            return places.text == self.lead
        if not places.text.startswith(self.lead):
            return False
        return reaches_end(self.steps, places, start=len(self.lead))


class Patterns:
    """The lines of an ignore file: the last one that matches decides, and below a hidden folder all is hidden.

    A line that git reads to the letter, and that so hides nothing, may have been meant otherwise: `./x`, `a//b`, `"x"`,
    `a\\b`, `x # why`, `x` with an invisible tail, `x.md/`, `{a,b}`, or a path by way of `..`, `home` or `folder`, where
    the file lies. It hides what either reading hides. `folds_case`, where the disk does.
    """

    def __init__(self, lines: Sequence[str], *, folder: str = "", home: str = "", folds_case: bool = False) -> None:
        self._places, self._folds_case = (folder, home), folds_case
        self._patterns: list[tuple[_Pattern, ...]] = []
        """Of each line, all that it may mean."""
        refused: list[Refused] = []
        for number, line in enumerate(lines, 1):
            pattern = _trim(line.lstrip("\ufeff"))
            if not pattern or pattern.startswith("#"):
                continue
            try:
                if len(self._patterns) >= MAX_PATTERNS:
                    raise _MalformedError(f"more than {MAX_PATTERNS} patterns")
                self._patterns.append(tuple(self._parsed(pattern)))
            except _MalformedError as exc:
                # one that was to bring something back hides no less by matching nothing
                if not pattern.startswith("!"):
                    refused.append(Refused(number, pattern[:80], str(exc)))
        self.refused = tuple(refused)
        self._answers: dict[str, bool] = {}

    def __bool__(self) -> bool:
        return bool(self._patterns or self.refused)

    def hides(self, path: str) -> bool:
        """Tell whether a path, whose parts stand between `/` and which ends in `/` if a folder's, is hidden."""
        if not self._patterns:
            return False
        path = self._plain(path)
        return any(self._answer(part) for part in _from_the_top(path))

    def _parsed(self, pattern: str) -> Iterator[_Pattern]:
        if len(pattern) > MAX_PATTERN_CHARS:
            raise _MalformedError(f"longer than {MAX_PATTERN_CHARS} characters")
        yield _parse(self._plain(pattern))
        for other in _other_readings(pattern, *self._places):
            with suppress(_MalformedError):
                yield _parse(self._plain(other))

    def _plain(self, text: str) -> str:
        """Write what looks the same, or on this disk is the same, in one way."""
        text = unicodedata.normalize("NFC", text)
        return text.lower().replace("[:upper:]", "[:lower:]") if self._folds_case else text

    def _answer(self, path: str) -> bool:
        """Tell whether a pattern hides this very path; `..` is a way, not a name."""
        answer = self._answers.get(path)
        if answer is None:
            if len(self._answers) >= _REMEMBERED:
                self._answers.clear()
            answer = self._answers[path] = self._decide(path)
        return answer

    def _decide(self, path: str) -> bool:
        whole = path.removesuffix("/")
        name = whole.rpartition("/")[2]
        if name in ("", "..", "."):
            return False
        in_whole, in_name = Places(whole), Places(name)
        for pattern in (one for line in reversed(self._patterns) for one in line):
            if pattern.is_folder and not path.endswith("/"):
                continue
            if pattern.matches(in_name if pattern.is_name else in_whole):
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
    """Return the line without its end and the spaces before it, unless a backslash keeps one."""
    line = line.removesuffix("\r")
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if slashes % 2 and bare != line else bare


def _other_readings(pattern: str, folder: str, home: str) -> list[str]:
    """Return what may have been meant besides the letter; what brings something back is taken by the letter alone."""
    if pattern.startswith("!"):
        return []
    meant = [pattern]
    for change in (_without_ends, partial(_COMMENT.sub, ""), _without_ends, _without_quotes, _with_plain_slashes):
        meant += [changed for one in meant if (changed := change(one)) not in meant]
    meant += [other for one in meant for other in _alternatives(one) if other not in meant]
    if folder:
        meant += [path for one in meant if (path := _from_folder(one, folder, home)) not in meant]
    return [one for one in meant[1:] if one.strip("/") and one[0] not in "!#"]


def _without_ends(pattern: str) -> str:
    """Take off blanks and invisible characters at both ends, unless a backslash keeps the last."""
    bare = _TAIL.sub("", pattern)
    slashes = len(bare) - len(bare.rstrip("\\"))
    return _LEAD.sub("", pattern if slashes % 2 else bare)


def _without_quotes(pattern: str) -> str:
    is_quoted = len(pattern) > 2 and pattern[0] + pattern[-1] in _QUOTES
    return pattern[1:-1] if is_quoted else pattern


def _with_plain_slashes(pattern: str) -> str:
    """Write other slashes between names as slashes, several as one, and a leading `./` as `/`; none ends a file."""
    plain = re.sub("/{2,}", "/", _BACKSLASHES.sub("/", pattern).replace("\uff0f", "/"))
    plain = re.sub(r"^(?:\./)+", "/", re.sub(r"/(?:\./)+", "/", plain))
    return plain[:-1] if _FILE_AS_FOLDER.search(plain) else plain


def _alternatives(pattern: str) -> list[str]:
    """Write `{a,b}c` as `ac` and `bc`; raises _MalformedError for too many."""
    done, open_ones = list[str](), [pattern]
    while open_ones:
        one = open_ones.pop()
        if (found := _ALTERNATIVES.search(one)) is None:
            done.append(one)
        else:
            open_ones += [one[: found.start()] + each + one[found.end() :] for each in found[1].split(",")]
        if len(done) + len(open_ones) > MAX_ALTERNATIVES:
            raise _MalformedError(f"more than {MAX_ALTERNATIVES} alternatives in braces")
    return done


def _from_folder(pattern: str, folder: str, home: str) -> str:
    """Write a path by way of `..`, of the home folder or of the root as one from the folder on."""
    is_whole = pattern.startswith("~/") or pattern.split("/")[:2] == folder.split("/")[:2]
    if not is_whole and ".." not in pattern.split("/"):
        return pattern
    path = home + pattern[1:] if pattern[0] == "~" else pattern if is_whole else f"{folder}/{pattern}"
    way = posixpath.relpath(path, folder) + "/" * pattern.endswith("/")
    return way if way.startswith("../") else f"/{way}"


def parsed_glob(glob: str) -> _Pattern:
    """Read a glob over a whole path as git reads a line; a bracket or a backslash that nothing ends is itself."""
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
    """Reads the steps of a pattern from its first special character on."""

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
        """Read behind `[`. A `]` that comes first is a member, and so is a `-` at either end."""
        is_negated = self._peek() in ("!", "^")
        self._at += is_negated
        ranges: list[tuple[str, str]] = []
        before = self._member("", ranges)
        while self._peek() != "]":
            before = self._member(before, ranges)
        self._at += 1
        return one_of(ranges, is_negated=is_negated)

    def _member(self, before: str, ranges: list[tuple[str, str]]) -> str:
        """Add one member of a class, and return the character that a range might begin with."""
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
        """Add the members of `[:name:]`; what only begins like it is a plain `[`."""
        end = self._text.find("]", self._at + 1)
        if end < 0:
            raise _MalformedError(_UNFINISHED)
        if end == self._at + 1 or self._text[end - 1] != ":":
            ranges.append(("[", "["))
            return "["
        name = self._text[self._at + 1 : end - 1]
        if name not in _CLASSES:
            raise _MalformedError(f"there is no class [:{name}:]")
        ranges.extend((one, one) for one in _CLASSES[name])
        self._at = end + 1
        return ""

"""Privacy rules: `.memoryignore`, `exclude` globs, and notes marked private in their front matter.

In doubt a note is private. While the rules file cannot be read (not text, not a regular file, too large, half written,
unreadable), the last good rules apply, also after a restart, and nothing new may be indexed. After the file is deleted,
the last good rules apply until there is a new file. The rules apply to each name of a folder that is reached through a
link, and a folder inside another workspace is subject to the rules of that workspace, too.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.documents import original_of
from memoryd.domain.expressions import expression
from memoryd.domain.patterns import Patterns
from memoryd.domain.syncplan import IndexedFile
from memoryd.domain.text import privacy
from memoryd.domain.text.lines import PADDING
from memoryd.files.reading import (
    NotReadableError,
    TornReadError,
    encoding_of,
    is_unchanged,
    read_head,
    read_snapshot,
)
from memoryd.files.writing import replace_file

log = structlog.get_logger(__name__)

IGNORE_FILE = ".memoryignore"
MAX_IGNORE_BYTES = 65_536
_ADVICE = "until that is mended its last good rules hold, and no new or changed note is indexed"
_DOTS = ("", ".", "..")
_PUT_BACK = "put it back, or save an empty one to let all notes in"
_DELETED = f"{IGNORE_FILE} is gone; its last rules hold: {_PUT_BACK}"


class Hold(Struct, frozen=True):
    """Why nothing new may be indexed; `ends_in` is in how many seconds to check again if the reason ends by itself."""

    reason: str
    ends_in: float | None = None


class IgnoreState(Struct, frozen=True, kw_only=True):
    """The rules at one moment. `is_ignored` takes a relative path; the path of a folder ends in `/`."""

    is_ignored: Callable[[str], bool]
    has_patterns: bool = False
    """Whether any name is excluded, so that a missing file may have been moved to an excluded name on purpose."""
    hold: Hold | None = None
    """Why nothing new may be indexed now: it is unknown what is private. None if all may be."""
    is_current: Callable[[], bool] = field(default=lambda: True)
    """Whether the file still has the content these rules were read from; blocks for one small read."""
    notice: str = ""
    """A message for the owner that does not stop indexing."""
    may_hide: Callable[[str], bool] = field(default=lambda _path: False)
    """Whether a just saved file that has not settled yet makes a path private; takes what `is_ignored` does."""


class IgnoreTimings(Struct, frozen=True):
    """Seconds: how long the file must be unchanged before it counts, and how long rules removed from it still apply."""

    settle: float = 0.2
    grace: float = 2.0


class _Seen(Struct, frozen=True):
    """The file at one read: `data` is None if it is missing or cannot be read; `trouble` is the reason."""

    data: bytes | None
    trouble: str = ""
    is_torn: bool = False
    known: IndexedFile | None = None
    """The file's stat when the bytes were read."""

    @property
    def changed_at(self) -> float:
        """Time of the last change, by the disk's clock, in seconds since the epoch; 0 if unknown."""
        return 0.0 if self.known is None else self.known.stat.ctime_ns / 1e9

    @property
    def is_missing(self) -> bool:
        """Whether the workspace exists and has no such file."""
        return self.data is None and not self.trouble and not self.is_torn


def patterns_of(workspace: Path, lines: Sequence[str]) -> Patterns:
    """Return the patterns of lines relative to a workspace, with its disk's case folding and the user's home."""
    try:
        home = str(Path.home())
    except RuntimeError:
        home = ""
    folds_case = any(map(_has_two_cases, (workspace / IGNORE_FILE, workspace)))
    return Patterns(lines, folder=str(workspace), home=home, folds_case=folds_case)


def _has_two_cases(path: Path) -> bool:
    other = path.with_name(path.name.swapcase())
    try:
        return other != path and path.samefile(other)
    except OSError:
        return False


class LastGoodRules:
    """The last good rules of `workspace`; their text is stored in the file `memory`, if there is one."""

    def __init__(self, workspace: Path, memory: Path | None) -> None:
        self._workspace = workspace
        self._memory = memory
        self.text, self.is_forgotten = _read_last_rules(memory)
        """The text, None if there never was a file; and whether the stored text exists but cannot be read."""
        self.patterns = self.parsed(self.text)

    def parsed(self, text: str | None) -> Patterns:
        """Return the patterns of a text, one a line."""
        return patterns_of(self._workspace, _lines(text))

    def accept(self, text: str, patterns: Patterns) -> None:
        """Make these the last good rules, and store their text if it changed."""
        self.is_forgotten = False
        if text == self.text:
            return
        self.text, self.patterns = text, patterns
        if self._memory is not None and (text or self._memory.exists()):
            # if it cannot be stored, that matters only if the rules file is unreadable at the next start
            with suppress(OSError):
                replace_file(self._memory, text.encode())


class RealPaths:
    """Real paths of relative paths of one workspace. Caches each folder, so make a new one for each check."""

    def __init__(self, workspace: Path, *, follow_symlinks: bool) -> None:
        self._workspace_path = str(workspace)
        self._follow_symlinks = follow_symlinks
        self._direct = {"": True}
        self._folders: dict[str, str] = {}

    @cached_property
    def workspace(self) -> str:
        """Real path of the workspace."""
        return os.path.realpath(self._workspace_path)

    def of(self, at: str) -> str:
        """Return the real path, ending in `/` if `at` does; a link as last part is resolved if links are followed."""
        path = at.removesuffix("/")
        folder, _, name = path.rpartition("/")
        if self._follow_symlinks or name in _DOTS:
            real = os.path.realpath(f"{self.workspace}/{path}")
        else:
            real = f"{self._folder(folder)}/{name}"
        return f"{real}/" if at.endswith("/") else real

    def is_direct(self, folder: str) -> bool:
        """Return whether no folder on the way from the workspace is a link; costs one stat for each folder."""
        known = self._direct.get(folder)
        if known is None:
            above, _, name = folder.rpartition("/")
            is_step = name not in _DOTS and not os.path.islink(f"{self._workspace_path}/{folder}")  # noqa: PTH114  half the price
            known = self._direct[folder] = is_step and self.is_direct(above)
        return known

    def _folder(self, folder: str) -> str:
        real = self._folders.get(folder)
        if real is None:
            place = f"{self.workspace}/{folder}".rstrip("/")
            real = self._folders[folder] = place if self.is_direct(folder) else os.path.realpath(place).rstrip("/")
        return real


class IgnoreFile:
    """The ignore file of one workspace; `read` reads its current rules, and may be called in any thread.

    The text of the last good rules is stored in the file `memory`, so that they apply after a restart, too.
    """

    def __init__(
        self,
        workspace: Path,
        *,
        exclude: Sequence[str] = (),
        memory: Path | None = None,
        timings: IgnoreTimings | None = None,
        follow_symlinks: bool = False,
    ) -> None:
        self._workspace = workspace
        self._file = f"{workspace}/{IGNORE_FILE}"
        self._exclude = patterns_of(workspace, exclude)
        self._timings = timings or IgnoreTimings()
        self._follow_symlinks = follow_symlinks
        self._lock = threading.Lock()
        self._good = LastGoodRules(workspace, memory)
        self._new_text, self._new = self._good.text, self._good.patterns
        """The file's text at the last read, and its parsed patterns."""
        self._seen: _Seen | None = None
        self._seen_since = 0.0
        self._reported = ""

    def read(self) -> IgnoreState:
        """Read the file and return the rules that apply now. Blocks."""
        with self._lock:
            seen = self._read()
            if self._seen is None or (seen.data, seen.trouble) != (self._seen.data, self._seen.trouble):
                self._seen_since = time.monotonic()
            self._seen = seen
            rules, hold = self._judge(seen)
            if hold is None and self._exclude.refused:
                refused = self._exclude.refused[0]
                hold = Hold(
                    f"memorySearch.exclude, pattern {refused.line} ({refused.pattern}): {refused.reason}; {_ADVICE}"
                )
            notice = _DELETED if hold is None and seen.is_missing and self._good.patterns else ""
            self._report(hold, notice)
            real_paths = RealPaths(self._workspace, follow_symlinks=self._follow_symlinks)
            # without a hold the applied rules are the newest
            newest = () if hold is None else (self._newest(seen),)
            return IgnoreState(
                is_ignored=_hide_rule(rules, real_paths),
                has_patterns=any(rules),
                hold=hold,
                is_current=lambda: self._is_still(seen),
                notice=notice,
                may_hide=_hide_rule(newest, real_paths),
            )

    def _judge(self, seen: _Seen) -> tuple[tuple[Patterns, ...], Hold | None]:
        """Return the rules that apply, and the hold if they are not simply those of the file."""
        last = (self._exclude, self._good.patterns)
        # a file saved before we started has been unchanged for longer than we have seen it
        age = time.time() - seen.changed_at
        settled_for = max(time.monotonic() - self._seen_since, age if seen.data is not None else 0.0)
        is_news = seen.data is not None and seen.data != (self._good.text or "").encode()
        if seen.is_torn or (is_news and settled_for < self._timings.settle):
            return last, Hold(f"{IGNORE_FILE} is being written", max(0.01, self._timings.settle - settled_for))
        try:
            text = _decode(seen)
        except ValueError as exc:
            return last, Hold(f"{IGNORE_FILE} {exc}: {_ADVICE}")
        if seen.is_missing and self._good.is_forgotten:
            return last, Hold(f"{IGNORE_FILE} is gone, and so is what was kept of its last rules: {_PUT_BACK}")
        if seen.is_missing and self._good.patterns:
            return last, None
        new = self._parse(text)
        if new.refused:
            refused = new.refused[0]
            return (*last, new), Hold(
                f"{IGNORE_FILE} line {refused.line} ({refused.pattern}): {refused.reason}; {_ADVICE}"
            )
        loses_rules = bool(self._good.patterns) and not set(_lines(self._good.text)) <= set(_lines(text))
        if loses_rules and settled_for < self._timings.grace:
            # apply old and new rules: an editor may have truncated the file and be about to write the rest
            return (*last, new), Hold(f"{IGNORE_FILE} lost rules", self._timings.grace - settled_for)
        self._good.accept(text, new)
        return (self._exclude, self._good.patterns), None

    def _parse(self, text: str) -> Patterns:
        if text != self._new_text:
            self._new_text, self._new = text, self._good.parsed(text)
        return self._new

    def _newest(self, seen: _Seen) -> Patterns:
        """Return the file's rules at this read, settled or not; the last good rules if it is no text."""
        try:
            return self._parse(_decode(seen))
        except ValueError:
            return self._good.patterns

    def _is_still(self, seen: _Seen) -> bool:
        now = self._read()
        return not now.is_torn and (seen.data, seen.trouble) == (now.data, now.trouble)

    def _read(self) -> _Seen:
        last = self._seen
        try:
            info = os.stat(self._file, follow_symlinks=self._follow_symlinks)  # noqa: PTH116  half the price
            if last is not None and last.known is not None and is_unchanged(last.known, info, time.time_ns()):
                return last
            content = read_snapshot(
                self._workspace, IGNORE_FILE, max_bytes=MAX_IGNORE_BYTES, follow_symlinks=self._follow_symlinks
            )
        except FileNotFoundError:
            return _Seen(None, "" if self._workspace.is_dir() else "is out of sight with its folder")
        except TornReadError:
            return _Seen(None, is_torn=True)
        except NotReadableError as exc:
            return _Seen(None, f"cannot be read, {exc}")
        except OSError as exc:
            return _Seen(None, f"cannot be read, {os.strerror(exc.errno or 0).lower()}")
        return _Seen(content.data, known=content.known)

    def _report(self, hold: Hold | None, notice: str) -> None:
        reason = notice if hold is None else hold.reason if hold.ends_in is None else ""
        if reason and reason != self._reported:
            log.warning("privacy rules are in doubt", reason=reason)
        self._reported = reason


def _hide_rule(rules: Sequence[Patterns], real_paths: RealPaths) -> Callable[[str], bool]:
    """Return a predicate: True for a path that any of the rules hides. Without patterns it resolves no real path."""
    patterns = [rule for rule in rules if rule]
    if not patterns:
        return lambda _path: False
    # a conflict copy of a private document is private, too
    return under_each_name(
        lambda path: any(rule.hides(path) or rule.hides(original_of(path)) for rule in patterns), real_paths
    )


def _decode(seen: _Seen) -> str:
    """Return the file's text, empty if there is no file; raises ValueError with the reason if it has none."""
    if seen.trouble:
        raise ValueError(seen.trouble)
    data = seen.data or b""
    encoding = encoding_of(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as exc:
        raise ValueError(f"is not valid {encoding.removesuffix('-sig').upper()}; save it as UTF-8") from exc
    if "\0" in text:
        raise ValueError("is no text; save it as UTF-8")
    return text


def joined_rules(older: bytes, newer: bytes) -> bytes:
    """Return the rules of both files, the newer ones last, so that they win."""
    try:
        rules, last = (data.decode(encoding_of(data)).splitlines() for data in (older, newer))
    except UnicodeDecodeError:
        # no text then either, so that still nothing new is indexed
        return older + b"\n" + newer
    joined = [*(rule for rule in rules if rule not in last), *last]
    return older if joined == rules else "".join(f"{rule}\n" for rule in joined).encode()


def overlapping_workspaces(workspaces: Iterable[Path], tops: Iterable[Path]) -> set[Path]:
    """Return the workspaces (real paths) that are inside one of the folders, or contain one."""
    reals = [f"{os.path.realpath(top)}/" for top in tops]
    above = {real[:at] for real in reals for at, character in enumerate(real) if character == "/"}
    return {
        workspace for workspace in workspaces if str(workspace) in above or f"{workspace}/".startswith(tuple(reals))
    }


def combined_rules(own: IgnoreState, real_paths: RealPaths, others: Sequence[tuple[Path, IgnoreState]]) -> IgnoreState:
    """Return rules that hide what any of them hides, and hold if any of them does.

    Each ruling of `others` applies to paths below its own workspace.
    """
    if not others:
        return own
    neighbours = [(f"{os.path.realpath(path)}/", ruling) for path, ruling in others]

    def hidden_by(at: str, hides: Callable[[IgnoreState, str], bool]) -> bool:
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
        has_patterns=own.has_patterns or any(ruling.has_patterns for _, ruling in neighbours),
        hold=own.hold or next(holds, None),
        is_current=lambda: own.is_current() and all(ruling.is_current() for _, ruling in neighbours),
    )


_LINE_END = expression("\r\n|[\n\r\x85\u2028\u2029]")


def _lines(text: str | None) -> list[str]:
    return _LINE_END.split(text or "")


def _read_last_rules(memory: Path | None) -> tuple[str | None, bool]:
    """Return the text of the last good rules, and whether there were some that cannot be read now."""
    if memory is None:
        return None, False
    try:
        return memory.read_bytes().decode(), False
    except FileNotFoundError:
        return None, False
    except (OSError, ValueError):
        return None, True


HEAD_CHARS, is_private = privacy.HEAD_CHARS, privacy.is_private
"""The privacy rule for a text, and the number of characters it reads; the other modules import both from here."""
_HEAD_BYTES = 4 * HEAD_CHARS
"""UTF-8 uses at most four bytes a character."""


def why_private(padded: bytes) -> str:
    """Return why a note is private, empty if it is not; takes UTF-8 that ends in `PADDING`, as `utf8_of` returns."""
    return privacy.why_private(padded[: min(len(padded) - len(PADDING), _HEAD_BYTES)].decode("utf-8", "replace"))


def is_private_file(base: Path, relative: str, *, head_bytes: int = _HEAD_BYTES, follow_symlinks: bool = False) -> bool:
    """Return whether the note at `base/relative` is private on disk now.

    Raises OSError if it cannot be read; the caller must then treat it as private.
    """
    return is_private(read_head(base, relative, head_bytes, follow_symlinks=follow_symlinks))


def under_each_name(hides: Callable[[str], bool], real_paths: RealPaths) -> Callable[[str], bool]:
    """Return a predicate that is True for a path if `hides` is True for it or for its real path."""
    inside = f"{real_paths.workspace}/"

    def is_ignored(at: str) -> bool:
        if hides(at):
            return True
        real = real_paths.of(at)
        if real == inside + at:
            return False
        end = "/" if at.endswith("/") else ""
        return hides(os.path.relpath(real, real_paths.workspace).replace(os.sep, "/") + end)

    return is_ignored

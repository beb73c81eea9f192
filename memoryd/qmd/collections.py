"""The files for qmd: the collections of an agent, the globs of their files, and copies of the public notes in them.

qmd reads all files that its globs match, at any time, and does not know which notes are private. So it reads copies of
the public notes, never the notes themselves. Thus it never sees a private note, or one that becomes private.
"""

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from memoryd.config.agents import Agent
from memoryd.config.qmd import QmdPathSection, expand_globs
from memoryd.domain.documents import CORE_FILES, ROOT_FILES, ROOT_FOLDERS, FileStat, is_utf8_name, original_of
from memoryd.domain.expressions import expression
from memoryd.domain.media import modality_of
from memoryd.domain.patterns import Places, parse_glob
from memoryd.domain.syncplan import IndexedFile
from memoryd.files.ignore import IgnoreState, is_private
from memoryd.files.reading import NotReadableError, TornReadError, decode, file_stat, read_snapshot
from memoryd.files.scanner import ScanRoot, file_identity
from memoryd.files.writing import write_private

NEVER_INDEXED = frozenset({"node_modules", "vendor", "dist", "build"})
"""Folders that qmd ignores, besides hidden ones."""
_NOT_IN_NAMES = expression(r"[^a-z0-9-]+")
_SPECIAL = expression(r"([*?\[\]{}!()\\,])")
MARKDOWN = "**/*.{md,MD}"
_UNNAMEABLE = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR)


class Collection(Struct, frozen=True):
    """A folder and a glob over the paths below it. `is_default`: the agent's own memory files.

    `is_exported`: files written by memoryd for qmd, which it reads in place, and searches only by name.
    """

    name: str
    root: str
    pattern: str
    is_default: bool = False
    is_exported: bool = False

    def holds(self, relative: str) -> bool:
        """Return whether qmd would index this path: it matches, and no part is hidden or ignored."""
        parts = relative.split("/")
        if any(part in ("", ".", "..") or part.startswith(".") for part in parts):
            return False
        return not NEVER_INDEXED.intersection(parts[:-1]) and matches(self.pattern, relative)

    def may_hold_below(self, folder: str) -> bool:
        """Return whether a path below this folder (without trailing `/`) may belong to the collection."""
        parts = folder.split("/")
        if any(part.startswith(".") for part in parts) or not NEVER_INDEXED.isdisjoint(parts):
            return False
        for glob in _globs(self.pattern):
            first, slash, _ = glob.removeprefix("./").partition("/")
            if (first == parts[0] or _SPECIAL.search(first) is not None) if slash else "**" in first:
                return True
        return False


def sanitise_name(name: str) -> str:
    """Return a name that every version of qmd accepts: lower case, digits and hyphens, never empty."""
    return _NOT_IN_NAMES.sub("-", name.lower()).strip("-") or "collection"


def distinct(collections: Iterable[Collection]) -> tuple[Collection, ...]:
    """Return the first collection for each folder and pattern, with clean names; repeated names get `-2`, `-3`."""
    by_name: dict[str, Collection] = {}
    seen: set[tuple[str, str]] = set()
    for collection in collections:
        if (collection.root, collection.pattern) in seen:
            continue
        seen.add((collection.root, collection.pattern))
        base = name = sanitise_name(collection.name)
        number = 1
        while name in by_name:
            number += 1
            name = f"{base}-{number}"
        by_name[name] = replace(collection, name=name)
    return tuple(by_name.values())


def escape_glob(name: str) -> str:
    """Return a glob that matches only this file name."""
    return _SPECIAL.sub(r"\\\1", name)


def matches(pattern: str, relative: str) -> bool:
    """Return whether a path matches a glob with `**`, `*`, `?`, `[…]`, `{a,b}`, or a comma-separated list of globs."""
    text = Places(relative)
    return any(_parsed(glob.removeprefix("./")).matches(text) for glob in _globs(pattern))


_parsed = lru_cache(maxsize=256)(parse_glob)
_globs = lru_cache(maxsize=256)(expand_globs)


def further_paths(agent: Agent) -> tuple[QmdPathSection, ...]:
    """Return the configured paths that only qmd indexes, not the builtin index."""
    return (*agent.memory.qmd.paths, *agent.memory_search.qmd.extra_collections)


def collections_of(agent: Agent, workspace: Path, roots: Callable[[], Sequence[ScanRoot]]) -> tuple[Collection, ...]:
    """Return the current collections; blocks, since the disk decides whether a path is a file or a folder."""
    of_memory = _of_memory(agent.id, workspace, roots()) if agent.memory.qmd.include_default_memory else ()
    of_paths = []
    for number, section in enumerate(further_paths(agent)):
        # the real path, since the rules use the real paths of notes
        path = Path(os.path.realpath(workspace / Path(section.path).expanduser()))
        name = section.name or f"custom-{number}-{agent.id}"
        of_paths.append(_collection_at(path, name, section.pattern, is_default=False))
    return distinct((*of_memory, *of_paths))


def _of_memory(agent: str, workspace: Path, roots: Sequence[ScanRoot]) -> Iterator[Collection]:
    """Yield the collections of the builtin index's notes: one for the workspace, then one for each extra path.

    The workspace is a single collection: qmd ranks each named collection separately, so the best hit of an irrelevant
    folder would rank beside the best of all.
    """
    files = ",".join(name.removesuffix(".md") for name in dict.fromkeys((*CORE_FILES, *ROOT_FILES)))
    pattern = f"{{{files}}}.md,{{{','.join(ROOT_FOLDERS)}}}/{MARKDOWN}"
    yield Collection(f"memory-root-{agent}", str(workspace), pattern, is_default=True)
    extra = [root for root in roots if not root.is_optional and modality_of(root.path.name) is None]
    extra = [root for root in extra if str(root.path) != root.pattern]
    for number, root in enumerate(extra):
        yield _collection_at(root.path, f"extra-{number}-{agent}", MARKDOWN, is_default=True)


def _collection_at(path: Path, name: str, pattern: str, *, is_default: bool) -> Collection:
    if path.is_file():
        return Collection(name, str(path.parent), escape_glob(path.name), is_default)
    return Collection(name, str(path), pattern, is_default)


_Note = tuple[Path, str, FileStat]
"""A file of a collection whose name no rule hides: its folder, its path in it, and its state."""


class QmdCopies(Struct, kw_only=True):
    """Keeps a folder of copies equal to the public notes of the collections; `refresh` blocks.

    `apart` is the state folder with the copies, which is excluded from all collections. While the privacy rules are in
    doubt, no new or changed note is copied, and copies hidden by the known rules are deleted.
    """

    folder: Path
    workspace: Path
    apart: Path
    rule: Callable[[], IgnoreState]
    max_bytes: int
    on_withdraw: Callable[[], None]
    _judged: dict[str, tuple[IndexedFile, bool]] = {}
    """Each note at its last read, and whether it was private."""

    def refresh(self, collections: Sequence[Collection]) -> bool:
        """Delete copies of notes that are no longer public, and copy new notes; raises OSError for disk errors.

        Returns False if a note or the rules changed during the refresh.
        """
        ruling = self.rule()
        notes = {f"{at.name}/{note[1]}": note for at in collections for note in self._public_files(at, ruling)}
        self._judged = {name: judged for name, judged in self._judged.items() if name in notes}
        copies = (os.path.join(at, name) for at, _, names in os.walk(self.folder) for name in names)  # noqa: PTH118
        self._withdraw({os.path.relpath(path, self.folder) for path in copies} - notes.keys())
        verdicts = {name: self._bring(name, *note, ruling) for name, note in notes.items()}
        private = {name for name, is_hidden in verdicts.items() if is_hidden}
        self._withdraw(private | {name for name in verdicts if original_of(name) in private})
        return None not in verdicts.values()

    def _bring(self, name: str, root: Path, relative: str, stat: FileStat, ruling: IgnoreState) -> bool | None:
        """Check a note if it may have changed, and copy it if it is public.

        Return whether it must have no copy; None if the note or the rules changed in between.
        """
        target, (known, was_private) = self.folder / name, self._judged.get(name, (None, False))
        is_unchanged = known is not None and known.stat == stat and not known.is_racy(time.time_ns())
        if is_unchanged and (was_private or os.path.lexists(target)):
            return was_private
        try:
            content = read_snapshot(root, relative, max_bytes=self.max_bytes)
        except TornReadError:
            return None
        except (OSError, NotReadableError):
            return True
        data = content.data
        if is_private(decode(data)[0]):
            self._judged[name] = content.known, True
            return True
        if ruling.hold is not None:
            return False
        # after the note was read: the rules may have changed since, and hide it
        if not ruling.is_current():
            return None
        self._copy(target, data)
        self._judged[name] = content.known, False
        return False

    def _copy(self, target: Path, data: bytes) -> None:
        """Write a copy unless it is up to date; skip it if its path is too long for the folder of copies.

        Before a line is removed from a copy, `on_withdraw` records that the index of qmd must be cleaned.
        """
        try:
            with contextlib.suppress(FileNotFoundError):
                before = target.read_bytes()
                if before == data:
                    return
                # if lines are only added, qmd has nothing to forget
                if not set(before.splitlines()) <= set(data.splitlines()):
                    self.on_withdraw()
            write_private(target, data)
        except OSError as exc:
            if exc.errno not in _UNNAMEABLE:
                raise

    def _withdraw(self, names: set[str]) -> None:
        """Delete copies; before that, `on_withdraw` records that the index of qmd must be cleaned."""
        present = [name for name in names if os.path.lexists(self.folder / name)]
        if present:
            self.on_withdraw()
        for name in present:
            path = self.folder / name
            path.unlink(missing_ok=True)
            for parent in path.relative_to(self.folder).parents:
                with contextlib.suppress(OSError):
                    (self.folder / parent).rmdir()

    def _public_files(self, collection: Collection, ruling: IgnoreState) -> Iterator[_Note]:
        """Yield the files of a collection, without symlinks and hidden folders, which qmd ignores, too."""
        root, apart = Path(collection.root), file_identity(self.apart)
        waiting = [""]
        while waiting:
            at = waiting.pop()
            inside = f"{os.path.relpath(root / at, self.workspace)}/".removeprefix("./")
            for entry in _entries(root / at):
                relative = f"{at}{entry.name}"
                if entry.is_dir():
                    is_wanted = collection.may_hold_below(relative) and file_identity(Path(entry.path)) != apart
                    if is_wanted and not ruling.is_ignored(f"{inside}{entry.name}/"):
                        waiting.append(f"{relative}/")
                elif collection.holds(relative) and not ruling.is_ignored(f"{inside}{entry.name}"):
                    with contextlib.suppress(FileNotFoundError):
                        yield root, relative, file_stat(entry.stat())


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the files and folders in a folder, without symlinks; empty if it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if is_utf8_name(entry.name) and not entry.is_symlink()]
    except OSError:
        return []

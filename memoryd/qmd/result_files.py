"""Which file on disk a result of qmd means, under which path it is told, and whether it may be told at all."""

import os
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from memoryd.domain.documents import RelativePath
from memoryd.errors import NotFound
from memoryd.files.excerpts import QMD_PREFIX, FileLocation
from memoryd.files.ignore import is_private
from memoryd.files.reading import Content, NotReadableError, TornReadError, read_document
from memoryd.qmd.collections import Collection


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A file below a trusted folder, and the path that an answer cites it by."""

    base: Path
    relative: str
    path: str


class ResultFiles:
    """Maps results to documents: one that the builtin index holds keeps its path, any other is `qmd/<collection>/…`.

    The rules of the builtin index hold here too: what it leaves out by name, by `exclude`, by `.memoryignore` or by
    `memory: false` is not told. All of it is blocking work.
    """

    def __init__(
        self,
        *,
        workspace: Path,
        collections: Callable[[], Sequence[Collection]],
        known: Callable[[], Set[RelativePath]],
        is_ignored: Callable[[str], bool],
        max_bytes: int,
    ) -> None:
        self._workspace = workspace
        self._collections = collections
        self._known = known
        self._is_ignored = is_ignored
        self._max_bytes = max_bytes

    def place(self, collection: str, relative: str) -> ResultFile | None:
        """Return where a result lies, None if it is not one of ours."""
        found = next((one for one in self._collections() if one.name == collection), None)
        if found is None or found.is_exported or not found.holds(relative):
            return None
        inside = os.path.relpath(os.path.join(found.root, relative), self._workspace)  # noqa: PTH118  text is enough
        if inside in self._known():
            return ResultFile(Path(found.root), relative, inside)
        if found.is_default or self._is_ignored(inside):
            return None
        return ResultFile(Path(found.root), relative, f"{QMD_PREFIX}{collection}/{relative}")

    def covers(self, path: str) -> bool:
        """Tell whether qmd would index a document of the builtin index."""
        full = os.path.join(self._workspace, path)  # noqa: PTH118  text is enough
        return any(one.holds(os.path.relpath(full, one.root)) for one in self._collections() if not one.is_exported)

    def read(self, place: ResultFile) -> Content | None:
        """Return the file as it is now, None if it is gone, cannot be read safely, or is private."""
        try:
            content = read_document(place.base, place.relative, max_bytes=self._max_bytes)
        except (OSError, TornReadError, NotReadableError):
            return None
        return None if is_private(content.text) else content

    def location(self, path: str) -> FileLocation | None:
        """Return where the document lies that is told as `qmd/<collection>/<path>`; None if it is told so no more."""
        place = self._named(path)
        return None if place is None or place.path != path else FileLocation(place.base, place.relative)

    def named(self, path: str) -> ResultFile:
        """Return the file that `qmd/<collection>/<path>` means; raises NotFound."""
        place = self._named(path)
        if place is None or self.read(place) is None:
            raise NotFound(f"no document {path!r} in the collections of qmd", hint="paths are as search gives them")
        return place

    def _named(self, path: str) -> ResultFile | None:
        collection, _, relative = path.removeprefix(QMD_PREFIX).partition("/")
        return self.place(collection, relative) if path.startswith(QMD_PREFIX) else None

"""The notes that nobody may be told of though the index still holds them, since it cannot be written."""

from collections.abc import Iterable, Set

from memoryd.domain.documents import RelativePath


class Withdrawn:
    """Paths that are to be removed from the index. The indexer writes it; search, reading and embedding subtract it."""

    def __init__(self) -> None:
        # replaced as a whole, for other threads read it
        self._paths: frozenset[RelativePath] = frozenset()

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def __bool__(self) -> bool:
        return bool(self._paths)

    @property
    def paths(self) -> Set[RelativePath]:
        return self._paths

    def add(self, paths: Iterable[RelativePath]) -> bool:
        """Withdraw these; tell whether one of them was not."""
        before, self._paths = self._paths, self._paths.union(paths)
        return len(self._paths) > len(before)

    def release(self, paths: Iterable[RelativePath]) -> None:
        """Say that the index holds what it may of these, or nothing."""
        self._paths = self._paths.difference(paths)

    def keep(self, paths: Iterable[RelativePath]) -> None:
        """Release all but these."""
        self._paths = self._paths.intersection(paths)

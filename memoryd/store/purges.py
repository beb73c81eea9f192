"""How many purges an index had, so that what was read before one is told from what was read since."""

from collections.abc import Iterator
from contextlib import contextmanager


class Purges:
    """A count that rises as a purge begins, before its transaction can run; and whether one is under way."""

    def __init__(self) -> None:
        self._begun = 0
        self._under_way = 0

    @property
    def mark(self) -> int | None:
        """What to compare later; None while one is under way, of which nobody knows what it will leave."""
        return None if self._under_way else self._begun

    def has_none_since(self, mark: int | None) -> bool:
        """Tell whether none began since a mark was taken; of None nobody can say."""
        return mark is not None and mark == self._begun

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a purge, which is the block."""
        self._begun += 1
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

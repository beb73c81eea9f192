"""How often something kept was there when it was wanted."""

from dataclasses import dataclass


@dataclass(slots=True)
class CacheUses:
    """Counts since it was made."""

    hits: int = 0
    misses: int = 0

    def note(self, *, is_hit: bool, times: int = 1) -> None:
        """Count what was wanted: whether it was there."""
        if is_hit:
            self.hits += times
        else:
            self.misses += times

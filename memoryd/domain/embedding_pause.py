"""Whether vectors are made though nobody has asked for them."""

from dataclasses import dataclass
from typing import Final

PAUSED: Final = "memorySearch.sync.paused is true: notes get vectors only when asked for (memoryctl index)"
NEEDLESS: Final = "another engine answers: vectors for the builtin index are made only when their owner asks for them"


@dataclass(frozen=True, slots=True)
class PausePolicy:
    """What keeps vectors from being made, and whether somebody asks for them all the same."""

    is_configured: bool = False
    """Their owner wants none that nobody asks for."""
    is_needless: bool = False
    """Another engine answers."""
    is_asked: bool = False
    """Somebody waits for them; holds until all are made."""

    @property
    def is_at_rest(self) -> bool:
        """Whether none are to be made."""
        return self.why is not None

    @property
    def is_unwanted(self) -> bool:
        """Whether those that are missing are no backlog, since another engine answers."""
        return self.is_needless and not self.is_asked

    @property
    def why(self) -> str | None:
        """Why none are made, for whoever would wait for them; None if they are."""
        if self.is_asked:
            return None
        if self.is_configured:
            return PAUSED
        return NEEDLESS if self.is_needless else None

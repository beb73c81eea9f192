"""The seam between the conversation index and what is indexed: files of questions and answers, or transcripts."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from memoryd.domain.documents import RelativePath
from memoryd.domain.sessions.conversation_parts import ConversationLine


@dataclass(frozen=True, slots=True)
class SourceLook:
    """What a source has now: its conversations, and those of which more is to be read, the most urgent first."""

    present: Set[RelativePath]
    """Also those that cannot be read now: what is not among these leaves the index."""
    due: Sequence[RelativePath]
    trouble: str = ""
    """What of it cannot be told, and why; empty if nothing."""
    again_in: float | None = None
    """In how many seconds another look is worth it though nothing happens; None: nobody knows of a reason."""


@dataclass(frozen=True, slots=True)
class ReadStep:
    """Some lines of a conversation, in order, and where to go on.

    `stamp` is the state of the source that was read to its end, empty if there is more. `is_afresh` says that these
    are the first lines, whatever was read before. `problem` says why it cannot be read as a conversation at all.
    """

    lines: Sequence[ConversationLine]
    tail: str
    stamp: str
    is_afresh: bool = False
    problem: str = ""


class ConversationSource(Protocol):
    """Tells which conversations of one agent there are, and reads them on. All of it may block: called in a thread.

    Raises OSError or a MemorydError where it cannot be asked now.
    """

    prefix: str
    """Of the paths of its conversations."""

    def look(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceLook:
        """Say what there is beside what was `read`: stamps by path. Forced, all that has changed is due."""
        ...

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read some more from where a step ended with this tail, the empty one for the first; None if it is gone."""
        ...

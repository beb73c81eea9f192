"""What a worker is for: the seam between the machinery of child processes and those who ask them."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from memoryd.embed.local.frames import Message, Ready
from memoryd.errors import MemorydError

Reply = TypeVar("Reply")
GivenReply = TypeVar("GivenReply", covariant=True)
OnReply = Callable[[int, Reply], None]
"""Is told of a reply as it comes, by the position of its request."""


class WorkerJob(Protocol[GivenReply]):
    """How the replies of one kind of worker are read. `name` stands in what people are told: `embedding`."""

    @property
    def name(self) -> str: ...

    @property
    def unavailable(self) -> Callable[[str], MemorydError]:
        """Make the error of whoever cannot be answered now: loading, backing off, ended."""
        ...

    def misfit(self, ready: Ready) -> str:
        """Return why a model that is loaded is not the one that was ordered; empty if it is."""
        ...

    def read(self, message: Message) -> tuple[int, GivenReply]:
        """Return which request a message answers, and the reply; raises ValueError for what is none."""
        ...

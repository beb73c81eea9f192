"""What the embedding lane is told when it is made."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from memoryd.domain.embedding import Vector
from memoryd.embed.protocol import Attachment
from memoryd.files.reading import NotReadableError
from memoryd.index.sync_state import Publish
from memoryd.store.index.passages import PendingFile

Lookup = Callable[[str, Sequence[bytes]], Awaitable[dict[bytes, Vector]]]
"""Finds vectors of a fingerprint by text hash that some other index holds already."""

Attach = Callable[[PendingFile], Awaitable[Attachment]]
"""Reads the bytes of a picture or sound; raises NotReadableError if they are not what the index has."""


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """Batch size in passages, pause after a failure in seconds, and how many unused vectors to keep."""

    batch: int = 16
    remote_batch: int = 512
    """Of an embedder behind an endpoint, which takes many texts in one request and several requests at once."""
    file_bytes: int = 8 * 2**20
    """Of the pictures and sounds of one batch together; a larger one goes alone."""
    read_ahead: int = 512
    retry: float = 1.0
    hold: float = 10.0
    """Seconds until a picture or sound is tried again that could not be read or sent."""
    max_unused: int = 50_000
    providers: tuple[str, ...] = ()
    """Those that are configured: what their spaces hold for the passages is no cache, even while another embeds."""
    is_paused: bool = False
    """Vectors are made only when somebody asks for them."""


async def no_files(_file: PendingFile) -> Attachment:
    """Refuse every picture and sound, where none are to be embedded; the next scan removes those that are left."""
    raise NotReadableError("pictures and sounds are left out")


@dataclass(frozen=True, slots=True)
class LaneLinks:
    """What the lane asks of other parts, and what it tells them; none of it but the first two waits."""

    lookup: Lookup
    publish: Publish
    on_removed: Callable[[], None]
    """Vectors went from the index: what somebody keeps of them is void."""
    attach: Attach = no_files
    hold: Callable[[], str] = str
    """Says why nothing new may be embedded now; empty if it may."""
    obstacle: Callable[[], str | None] = lambda: None
    """Says why no vectors will come until something changes."""

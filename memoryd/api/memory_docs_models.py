"""Shapes of the paths that rsclaw has, for programs that were written for it: `docs` are memories."""

from memoryd.api.memory_models import SNAKE, MemoryDocumentReply
from memoryd.api.models import Reply


class DocStatsReply(Reply):
    """How many memories there are."""

    model_config = SNAKE

    total: int
    """All of them."""
    by_tier: dict[str, int]
    """By tier."""
    by_kind: dict[str, int]
    """By kind."""
    by_scope: dict[str, int]
    """By scope."""
    pinned: int
    """How many are pinned."""


class DocsReply(Reply):
    """Memories: those that answer, best first, or all, the newest first."""

    model_config = SNAKE

    docs: list[MemoryDocumentReply]
    """The memories."""


class DocReply(Reply):
    """One memory."""

    model_config = SNAKE

    doc: MemoryDocumentReply
    """The memory."""


class DocEditReply(DocReply):
    """A memory after an edit."""

    changed: bool
    """Whether a line was written; false: it was so already."""


class DocDeleteReply(Reply):
    """A memory whose lines were taken out; that can be undone."""

    model_config = SNAKE

    id: str
    """Its id."""
    deleted: bool
    """Whether it was."""

"""Who writes into a workspace."""

from enum import StrEnum


class WrittenBy(StrEnum):
    """What part of memoryd made a change; `changes --by` takes these names."""

    RETAIN = "retain"
    """A memory that somebody stated."""
    CORE = "core"
    """An explicit edit of the core file."""
    REFLECT = "reflect"
    """What reflect writes between its markers."""
    PROPOSAL = "proposal"
    """A proposal that a person accepted."""
    FORGET = "forget"
    """A memory that is to be forgotten."""
    ENTITIES = "entities"
    """Entities that a person merged or split."""
    MEMORIES = "memories"
    """A memory that was pinned, weighed or deleted by its id."""
    CAPTURE = "capture"
    """What a turn of a conversation said."""
    IMPORT = "import"
    """Memories of another workspace, by `memoryctl import`."""
    UNDO = "undo"
    """A change that was taken back."""

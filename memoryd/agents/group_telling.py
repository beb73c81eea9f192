"""What is recalled for a chat of several people, without what the core keeps from it."""

from collections.abc import Callable
from dataclasses import replace

from memoryd.domain.memories.visibility import KeptFromGroups, kept_from_groups
from memoryd.errors import StoreError
from memoryd.memory.book import MemoryBook
from memoryd.memory.recall.query import Recalled, RecalledItem, RecalledMemory


async def told_to_groups(recalled: Recalled, book: MemoryBook, most: int) -> Recalled:
    """Return what may be told in a group, `most` items of it; nothing while nobody knows what is pinned."""
    try:
        kept = kept_from_groups((await book.now()).memories.values())
    except StoreError:
        return replace(recalled, entities=(), items=(), left_out=())
    may = _telling(kept)
    return replace(
        recalled,
        entities=tuple(page for page in recalled.entities if not kept.keeps(page.summary, path=page.path)),
        items=tuple(filter(may, recalled.items))[:most],
        left_out=tuple(cut for cut in recalled.left_out if may(cut.item)),
    )


def _telling(kept: KeptFromGroups) -> Callable[[RecalledItem], bool]:
    def may(item: RecalledItem) -> bool:
        if isinstance(item, RecalledMemory):
            return not kept.keeps(item.memory.line.text, memory=item.memory.id)
        return not kept.keeps(item.hit.snippet.text, path=item.hit.chunk.path)

    return may

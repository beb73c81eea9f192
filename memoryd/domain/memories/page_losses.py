"""What a page would lose, and when that is too much: a part of the memories may merely be unreadable today.

An entry is lost when no line states its memory any more. One that a line of the same file took the place of was
edited. What was forgotten, or stands in a file that is private by now, has to go, and is no loss.
"""

from collections import Counter, defaultdict
from collections.abc import Set
from dataclasses import dataclass
from typing import Final

from memoryd.domain.memories.identity import ShortId, short_id
from memoryd.domain.memories.page_text import GeneratedPage, PageEntry, PageSource, citations_in
from memoryd.domain.memories.pages import SharedMemories

MOST_LOST: Final = 0.25
"""Share of the entries of a page that one run may take away."""
FEW: Final = 2
"""Entries that may go, whatever their share: of a small page a person takes one line out, and that is its half."""


@dataclass(frozen=True, slots=True)
class CitedFiles:
    """Files that are cited and not in the index: `gone` from the disk, or `private`, there and not to be read."""

    gone: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StatedMemories:
    """The short ids of all memories that may stand on pages, with the paths of the lines that state each."""

    paths: dict[ShortId, frozenset[str]]


def stated_by(shared: SharedMemories) -> StatedMemories:
    """Return what still stands."""
    return StatedMemories(
        {short_id(one.id): frozenset(source.path for source in one.sources) for one in shared.memories.values()}
    )


def why_refused(
    block: str, page: GeneratedPage, stated: StatedMemories, files: CitedFiles, forgotten: Set[ShortId] = frozenset()
) -> str:
    """Return why a block may not make way for what the page is to say now; empty if it may."""
    cited: defaultdict[ShortId, set[str]] = defaultdict(set)
    for citation in citations_in(block):
        cited[citation.memory].add(citation.path)
    gone = sorted({path for memory, paths in cited.items() for path in _dropped(memory, paths, stated, files)})
    if gone and not cited.keys() <= forgotten:
        others = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        return f"it cites {gone[0]}{others}, which is no longer there"
    lost = [
        memory
        for memory, paths in cited.items()
        if memory not in stated.paths and memory not in forgotten and not paths & files.private
    ]
    count = len(lost) - _edited(lost, cited, page)
    if count > max(FEW, MOST_LOST * len(cited)):
        return f"it would lose {count} of its {len(cited)} entries"
    return ""


def _dropped(memory: ShortId, paths: set[str], stated: StatedMemories, files: CitedFiles) -> set[str]:
    """Return the files that are gone and that no other one took the place of, as a renamed one does."""
    missing = paths & files.gone
    moved = stated.paths.get(memory, frozenset()) - paths
    return missing if len(missing) > len(moved) else set()


def _edited(lost: list[ShortId], cited: dict[ShortId, set[str]], page: GeneratedPage) -> int:
    """Count the lost entries in whose files a line stands now that the page did not tell before."""
    new: Counter[str] = Counter()
    for entry in _entries(page):
        if short_id(entry.memory) not in cited:
            new.update({source.path for source in _once(entry)})
    edited = 0
    for memory in lost:
        path = next((path for path in sorted(cited[memory]) if new[path]), None)
        if path is not None:
            new[path] -= 1
            edited += 1
    return edited


def _entries(page: GeneratedPage) -> list[PageEntry]:
    tops = [entry for section in page.sections for entry in section.entries]
    return [one for top in tops for one in (top, *top.below)]


def _once(entry: PageEntry) -> tuple[PageSource, ...]:
    return entry.sources[:1]

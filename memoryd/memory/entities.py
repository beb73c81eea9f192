"""Entities merged and split: an alias in the front matter of a page, written by the journal. No log is rewritten."""

from uuid import uuid4

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.changes.diffs import unified_diff
from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.entity_edits import (
    AliasEditError,
    AliasPlace,
    aliases_in,
    entity_page_of,
    is_made_for,
    merging,
    splitting,
    with_alias,
    without_alias,
)
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.domain.text.lines import padded
from memoryd.errors import InvalidRequest, NotFound
from memoryd.memory.journal import Journal


class AliasChange(Struct, frozen=True):
    """What came, or would come, of a merge or split: `diff` is empty where nothing was to be done.

    `change` is the number by which it can be undone; 0: there is none, and `note` says why.
    """

    place: AliasPlace
    diff: str
    change: int = 0
    note: str = ""


class MergingEntities:
    """Writes aliases into the pages of one workspace."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def merge(self, book: Book, name: str, into: str, *, is_dry: bool = False) -> AliasChange:
        """Make a name an alias of an entity; raises InvalidRequest, NotFound, and what `Journal.change` does."""
        if not is_dry:
            self._journal.check_writable()
        try:
            place = merging(book, name, into)
        except ValueError as exc:
            raise InvalidRequest(
                str(exc), hint="nothing was merged; memoryctl entities show NAME tells aliases"
            ) from exc
        return await self._edited(place, is_merge=True, is_dry=is_dry)

    async def split(self, book: Book, name: str, *, is_dry: bool = False) -> AliasChange:
        """Take an alias out of the page of its entity; raises as `merge`."""
        if not is_dry:
            self._journal.check_writable()
        try:
            place = splitting(book, name)
        except ValueError as exc:
            hint = "memoryctl entities list shows all with their aliases"
            raise (NotFound if "no alias" in str(exc) else InvalidRequest)(str(exc), hint=hint) from exc
        return await self._edited(place, is_merge=False, is_dry=is_dry)

    async def _edited(self, place: AliasPlace, *, is_merge: bool, is_dry: bool) -> AliasChange:
        before = (await self._journal.read(place.path)).text
        edit = _merged if is_merge else _split
        diff = unified_diff(place.path, before or "", edit(place, before) or "")
        if is_dry or not diff:
            return AliasChange(place, diff)
        is_gone = not is_merge and is_made_for(before or "", place.alias)
        change = await self._journal.change(
            place.path,
            lambda text: edit(place, text),
            by=WrittenBy.ENTITIES,
            why=f"{'an alias was added' if is_merge else 'an alias was taken out'}",
            run=uuid4().hex,
            delete=is_gone,
        )
        return AliasChange(place, diff, change.id, change.note)


def _merged(place: AliasPlace, text: str | None) -> str | None:
    if text is not None and slug_of(place.alias) in map(slug_of, aliases_in(text)):
        return text
    try:
        edited = with_alias(text, place.entity, place.alias)
    except AliasEditError as exc:
        raise InvalidRequest(f"{place.path}: {exc}", hint="nothing was merged") from exc
    page = entity_page_of(padded(edited), RelativePath(place.path))
    if page is None or slug_of(page.name) != slug_of(place.entity):
        told = page.name if page else "none"
        raise InvalidRequest(f"{place.path} is the page of {told!r}, not of {place.entity!r}", hint="merge into that")
    return edited


def _split(place: AliasPlace, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return without_alias(text, place.alias)
    except AliasEditError as exc:
        raise InvalidRequest(f"{place.path}: {exc}", hint="nothing was split") from exc

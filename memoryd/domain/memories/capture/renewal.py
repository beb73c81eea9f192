"""What a message revises, as memories to be kept: the bridge from its sentences to the book.

What its owner says supersedes whatever it revises. What an agent's text says, or somebody in a group, supersedes no
line of a person: the two contradict each other, and the person decides.
"""

from collections.abc import Sequence
from datetime import date
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.capture import (
    CapturedItem,
    CaptureVerdict,
    DroppedItem,
    SentenceContext,
    context_of,
    is_laid_out,
)
from memoryd.domain.memories.capture.corrections import with_succession
from memoryd.domain.memories.capture.forms import is_staged
from memoryd.domain.memories.capture.rejections import why_not_plain
from memoryd.domain.memories.capture.revisions import Revision, UnreadRevision, revisions_of
from memoryd.domain.memories.capture.sentences import sentences_of
from memoryd.domain.memories.capture.targets import Target, is_owners, target_of
from memoryd.domain.memories.kinds import Kind, ShortId, short_id
from memoryd.domain.skips import SkipReason

_SHOWN_CHARS: Final = 80
"""Of what is superseded, for a person."""


class RevisingMessage(Struct, frozen=True, kw_only=True):
    """A message that may revise something, and the answer before it; `may_supersede` even what a person stated."""

    text: str
    answer_before: str = ""
    scope: str = ""
    day: date | None = None
    may_supersede: bool = True

    def revisions(self) -> list[Revision | UnreadRevision]:
        """Return its sentences that have a cue."""
        return list(revisions_of(self.text, has_answer=bool(self.answer_before.strip())))


def with_revisions(verdict: CaptureVerdict, message: RevisingMessage, book: Book) -> CaptureVerdict:
    """Return a verdict with what a message revises, in place of what its sentences state by their forms."""
    found = message.revisions()
    company = _why_not_in_company(message.text, found)
    for one in found:
        reason = one.reason if isinstance(one, UnreadRevision) else company
        target = None
        if not reason and isinstance(one, Revision):
            target = target_of(one, book, scope=message.scope, day=message.day, answer_before=message.answer_before)
        if (
            target is None
            and not reason
            and isinstance(one, Revision)
            and message.may_supersede
            and one.is_self_contained
        ):
            verdict = _with_plain(verdict, one)
        elif target is None:
            verdict = _without(verdict, one, reason or SkipReason.NOTHING_REVISED)
        else:
            verdict = _with(verdict, target, may_supersede=message.may_supersede)
    return verdict


def with_older(verdict: CaptureVerdict, book: Book, day: date, scope: str) -> CaptureVerdict:
    """Return a verdict in which each item names what it will supersede once it is written."""
    lines = [item.line(scope) for item in verdict.kept]
    later = {line.text: line.attributes.supersedes for line in with_succession(book, lines, day)}
    kept = (replace(item, supersedes=later.get(item.text, item.supersedes)) for item in verdict.kept)
    return replace(verdict, kept=tuple(_noted(item, book) for item in kept))


def _noted(item: CapturedItem, book: Book) -> CapturedItem:
    if item.note or not item.supersedes:
        return item
    older = [book.memories[one] for short in item.supersedes if (one := book.of_short(short)) is not None]
    return replace(item, note=_told("supersedes", older))


def _why_not_in_company(text: str, found: Sequence[Revision | UnreadRevision]) -> str:
    """Say why nothing is revised beside the other sentences of a message; empty if something may be."""
    if is_laid_out(text):
        return SkipReason.LAID_OUT
    revised = " ".join(one.text for one in found)
    for sentence in sentences_of(text):
        if sentence.text in revised or context_of(sentence) is not SentenceContext.OTHER:
            continue
        if why_not_plain(sentence) or is_staged(sentence.plain):
            return SkipReason.OTHER_COMPANY
    return ""


def _without(verdict: CaptureVerdict, one: Revision | UnreadRevision, reason: str) -> CaptureVerdict:
    dropped = [item for item in verdict.dropped if item.reason != SkipReason.NO_FORM]
    told = [item.text for item in verdict.kept] + [item.text for item in dropped]
    if any(text in one.text or one.text in text for text in told):
        # by its own form it is told already, kept or not
        return verdict
    return replace(verdict, dropped=(*dropped, DroppedItem(one.text, reason, one.form)))


def _with(verdict: CaptureVerdict, target: Target, *, may_supersede: bool) -> CaptureVerdict:
    item = _item(target, may_supersede=may_supersede)
    said = target.revision.text
    told = [one for one in verdict.kept if one.text in said or said in one.text]
    pinned = [one for one in told if one.is_pinned]
    if pinned:
        # what is its author's own stands as it was said
        item = replace(pinned[0], supersedes=item.supersedes, contradicts=item.contradicts, note=item.note)
    kept = (*(one for one in verdict.kept if one not in told), item)
    dropped = [one for one in verdict.dropped if one.text not in said and one.reason != SkipReason.NO_FORM]
    return replace(verdict, kept=kept, dropped=tuple(dropped), gate=verdict.gate or target.revision.form)


def _with_plain(verdict: CaptureVerdict, one: Revision) -> CaptureVerdict:
    """Return a verdict with a change of which no memory tells what was before."""
    if any(item.text in one.text or one.text in item.text for item in verdict.kept):
        return verdict
    dropped = [item for item in verdict.dropped if item.text not in one.text and item.reason != SkipReason.NO_FORM]
    item = CapturedItem(Kind.WORLD, one.text, one.form)
    return replace(verdict, kept=(*verdict.kept, item), dropped=tuple(dropped), gate=verdict.gate or one.form)


def _item(target: Target, *, may_supersede: bool) -> CapturedItem:
    gone = [one for one in target.superseded if may_supersede or not is_owners(one)]
    open_ones = [*target.disputed, *(one for one in target.superseded if one not in gone)]
    model = (target.superseded or target.disputed)[0].line
    return CapturedItem(
        Kind.FACT if target.disputed else model.kind,
        target.revision.text if open_ones else target.text,
        target.revision.form,
        entities=model.entities if target.superseded else (),
        supersedes=_ids(gone),
        contradicts=_ids(open_ones),
        note="; ".join(filter(None, (_told("supersedes", gone), _told("contradicts", open_ones)))),
    )


def _ids(memories: Sequence[Memory]) -> tuple[ShortId, ...]:
    return tuple(short_id(one.id) for one in memories)


def _told(what: str, memories: Sequence[Memory]) -> str:
    shown = ", ".join(f"{short_id(one.id)} {one.line.text[:_SHOWN_CHARS]!r}" for one in memories)
    return f"{what} {shown}" if shown else ""

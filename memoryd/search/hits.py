"""Hits with their evidence, from the arms to the reply; and the folding of hits with the same text."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from datetime import UTC, date, datetime, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import Citation, Source, citation_text, is_conflict_copy, person_of
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.ranking.fusion import text_score
from memoryd.domain.ranking.selection import Decay
from memoryd.domain.ranking.snippets import MatchingPassage
from memoryd.domain.text.duplicates import gist, may_repeat
from memoryd.domain.text.note_status import current_flags, status_weight
from memoryd.domain.text.sanitizing import Flag
from memoryd.store.index.passages import ChunkRow


class Ranks(Struct, frozen=True):
    """The rank of a chunk in each arm, by base score, and by the reranker, from 1; None if it has no rank there."""

    words: int | None = None
    vector: int | None = None
    merged: int | None = None
    reading: int | None = None


class HitLines(Struct, frozen=True):
    """Lines of a document, 1-based, inclusive."""

    start_line: int
    end_line: int


class HitFocus(Struct, frozen=True):
    """The lines of a snippet that answer best, and the reasons."""

    lines: HitLines
    terms: tuple[str, ...] = ()
    """The terms of the question that these lines contain."""
    near: HitLines | None = None
    """Lines of the passage whose meaning is nearest to the question; None unless the focus contains part of it."""


class HitSnippet(Struct, frozen=True):
    """The part of a chunk that is shown, with its lines in the document, and flags for what a reader cannot see."""

    text: str = ""
    start_line: int = 0
    end_line: int = 0
    flags: tuple[Flag, ...] = ()
    focus: HitFocus | None = None
    """None for a picture or sound, and before the snippet is made."""
    lines: tuple[int, ...] = ()
    """The line numbers in the document, if some in between are left out; else empty."""


def holds_a_word(bm25: float | None, terms: Collection[str]) -> bool:
    """Return whether a chunk contains a word of the question: it has a BM25 score, or contains these terms."""
    return bm25 is not None or bool(terms)


class ChunkEvidence(Struct, frozen=True):
    """The evidence of words and meaning for one chunk; None where an arm did not find it."""

    base_score: float = 0.0
    """The merged score of the arms, 0 to 1."""
    ranks: Ranks = Ranks()
    bm25: float | None = None
    """The magnitude of BM25, 0 and up."""
    cosine: float | None = None
    terms: tuple[str, ...] = ()
    """The terms of the question that the chunk contains."""
    verdict: Verdict | None = Verdict.NONE
    """None: not judged."""
    is_near: bool = False
    """Whether it is as near as a chunk in another language, which counts without a word of the question."""

    @property
    def is_literal(self) -> bool:
        """Whether the chunk contains a word of the question."""
        return holds_a_word(self.bm25, self.terms)

    @property
    def is_noise(self) -> bool:
        """Whether there is no evidence for it, so that it is in an answer only for lack of better hits."""
        return self.verdict is Verdict.NONE and not self.is_near and not self.is_literal


class Hit(ChunkEvidence, frozen=True, kw_only=True):
    """A chunk with its scores. Misses are Hits, too; `because` is then the reason."""

    chunk: ChunkRow
    score: float
    """The base score, or the reranked one, after decay; for a hit with copies, the best among them."""
    near: Sequence[MatchingPassage] = ()
    """Those of its passages that are among the nearest of all."""
    relevance: float | None = None
    """The reranker's score, 0 to 1; None: not read by a reranker."""
    verdict: Verdict | None = None
    """The verdict on its evidence; for a hit with copies, the best among them. None: not judged."""
    decay: Decay = Decay()
    copies: tuple[ChunkRow, ...] = ()
    """Chunks with the same text that were folded into this hit."""
    because: str = ""
    """The reasons of its place, as text."""
    snippet: HitSnippet = HitSnippet()
    """Empty until the answer is composed."""

    @property
    def text_score(self) -> float | None:
        """BM25 as a score, 0 to 1."""
        return None if self.bm25 is None else text_score(self.bm25)

    @property
    def rows(self) -> tuple[ChunkRow, ...]:
        """The chunk and its copies."""
        return (self.chunk, *self.copies)

    @property
    def citation(self) -> Citation:
        """The citation of its focus, or of the whole chunk."""
        focus = self.snippet.focus
        return citation_of(self.chunk, None if focus is None else focus.lines)


def apply_standing(hit: Hit, today: date) -> Hit:
    """Return a hit whose only decay is that of its document's statements on its own validity."""
    flags = current_flags(hit.chunk.flags, today)
    return replace(hit, score=hit.score * status_weight(flags), decay=Decay(status_flags=flags)) if flags else hit


def best_verdict(hits: Iterable[Hit]) -> Verdict | None:
    """Return the best verdict of the hits, None if none of them is judged."""
    verdicts = {hit.verdict for hit in hits}
    return next((verdict for verdict in Verdict if verdict in verdicts), None)


def citation_of(chunk: ChunkRow, lines: HitLines | None = None) -> Citation:
    """Return the citation of a chunk, or of lines of it."""
    at = lines or chunk
    return citation_text(chunk.path, at.start_line, at.end_line)


def fold_copies(hits: Sequence[Hit], zone: tzinfo = UTC) -> list[Hit]:
    """Return the hits, best first, with copies folded: of hits with the same text, the newest takes the best place.

    Newest is by the date in the name, else by the day of the last change in `zone`; a conflict copy is older than any
    other. A hit with other terms of the question, if only in its path, is no copy.
    """
    groups: dict[Hashable, list[Hit]] = {}
    for at, (hit, is_unsure) in enumerate(zip(hits, may_repeat([hit.chunk.text for hit in hits]), strict=True)):
        is_text = is_unsure and modality_of(hit.chunk.path) is None
        text = gist(hit.chunk.text, hit.chunk.heading) if is_text else ""
        groups.setdefault((text, frozenset(hit.terms)) if text else at, []).append(hit)
    return [group[0] if len(group) == 1 else _merge_copies(group, zone) for group in groups.values()]


def _merge_copies(group: Sequence[Hit], zone: tzinfo) -> Hit:
    newest = max(group, key=lambda hit: _precedence(hit, zone))
    copies = tuple(hit.chunk for hit in group if hit is not newest)
    # the newest need not be the best: take the best score and verdict of the group
    return replace(newest, score=max(hit.score for hit in group), verdict=best_verdict(group), copies=copies)


def _precedence(hit: Hit, zone: tzinfo) -> tuple[bool, bool, float, date, int]:
    """Return the key by which one of several hits with the same text represents them all; the greatest wins.

    In this order: own notes before a team's, no conflict copy, valid by its front matter, newest.
    """
    chunk = hit.chunk
    named = None if chunk.source is Source.SESSIONS else date_in_name(chunk.path)
    day = named or datetime.fromtimestamp(chunk.mtime_ns / 1e9, zone).date()
    validity = status_weight(hit.decay.status_flags)
    return not person_of(chunk.path), not is_conflict_copy(chunk.path), validity, day, chunk.mtime_ns

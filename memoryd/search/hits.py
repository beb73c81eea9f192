"""A hit with all that is known of it, from the arms to the reply; and the folding of hits that say the same."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from datetime import UTC, date, datetime, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import Citation, Source, cited, is_conflict_copy, person_of
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.ranking.fusion import text_score
from memoryd.domain.ranking.selection import Decay
from memoryd.domain.ranking.snippets import MatchingPassage
from memoryd.domain.text.duplicates import gist, may_repeat
from memoryd.domain.text.sanitizing import Flag
from memoryd.domain.text.standing import standing_of, weight_of
from memoryd.store.index.passages import ChunkRow


class Ranks(Struct, frozen=True):
    """The place of a chunk in each arm, by base score and by reading, from 1; None where it was not found or read."""

    words: int | None = None
    vector: int | None = None
    merged: int | None = None
    reading: int | None = None


class HitLines(Struct, frozen=True):
    """Lines of a document, 1-based, inclusive."""

    start_line: int
    end_line: int


class HitFocus(Struct, frozen=True):
    """The lines of a snippet that answer best, and why these."""

    lines: HitLines
    terms: tuple[str, ...] = ()
    """Those of the question that stand in them."""
    near: HitLines | None = None
    """Where the passage stands whose meaning is nearest to the question; None unless they hold some of it."""


class HitSnippet(Struct, frozen=True):
    """The part of a chunk that is shown, with its lines in the document and what a reader of it cannot see."""

    text: str = ""
    start_line: int = 0
    end_line: int = 0
    flags: tuple[Flag, ...] = ()
    focus: HitFocus | None = None
    """None of a picture or sound, and until the answer is told."""
    lines: tuple[int, ...] = ()
    """Those of the document that it has, where some between them are left out."""


def holds_a_word(bm25: float | None, terms: Collection[str]) -> bool:
    """Tell whether a word of the question stands in a chunk that words found so, or that holds these terms."""
    return bm25 is not None or bool(terms)


class ChunkEvidence(Struct, frozen=True):
    """What words and meaning say of one chunk; None where an arm did not find it."""

    base_score: float = 0.0
    """What the arms say together, 0 to 1."""
    ranks: Ranks = Ranks()
    bm25: float | None = None
    """A magnitude, 0 and up."""
    cosine: float | None = None
    terms: tuple[str, ...] = ()
    """Those of the question that stand in it."""
    verdict: Verdict | None = Verdict.NONE
    """None: nobody judged it."""
    is_near: bool = False
    """Whether it comes as near as a chunk in another language, which counts without a word."""

    @property
    def is_literal(self) -> bool:
        """Whether a word of the question stands in it."""
        return holds_a_word(self.bm25, self.terms)

    @property
    def is_noise(self) -> bool:
        """Whether nothing speaks for it, so that it stands in an answer only because there is nothing better."""
        return self.verdict is Verdict.NONE and not self.is_near and not self.is_literal


class Hit(ChunkEvidence, frozen=True, kw_only=True):
    """A chunk with its scores; a miss is one too, with the reason of it in `because`."""

    chunk: ChunkRow
    score: float
    """The base score, or what reranking put in its place, after decay; of the hit that leads copies, the best."""
    near: Sequence[MatchingPassage] = ()
    """Its passages that are among the nearest of all."""
    relevance: float | None = None
    """How well it answers by the reranker, 0 to 1; None: it did not read it."""
    verdict: Verdict | None = None
    """What its evidence is worth; of the hit that leads copies, the best among them. None: nobody judged it."""
    decay: Decay = Decay()
    copies: tuple[ChunkRow, ...] = ()
    """They say the same and stand behind it."""
    because: str = ""
    """Why it stands where it stands, in words."""
    snippet: HitSnippet = HitSnippet()
    """Nothing until the answer is told."""

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
        """The way to point at its focus, or at all of it."""
        focus = self.snippet.focus
        return citation_of(self.chunk, None if focus is None else focus.lines)


def rested(hit: Hit, today: date) -> Hit:
    """Return a hit of which nothing but what its document says of whether it holds takes from its score."""
    standing = standing_of(hit.chunk.flags, today)
    return replace(hit, score=hit.score * weight_of(standing), decay=Decay(standing=standing)) if standing else hit


def best_verdict(hits: Iterable[Hit]) -> Verdict | None:
    """Return what the best of them is worth, None where nobody judged any."""
    given = {hit.verdict for hit in hits}
    return next((verdict for verdict in Verdict if verdict in given), None)


def citation_of(chunk: ChunkRow, lines: HitLines | None = None) -> Citation:
    """Return the way an answer points at a chunk, or at lines of it."""
    at = lines or chunk
    return cited(chunk.path, at.start_line, at.end_line)


def folded(hits: Sequence[Hit], zone: tzinfo = UTC) -> list[Hit]:
    """Return the hits, best first, without copies; the newest of those that say the same has the place of the best.
    A copy of a conflict is older than any other.
    Newest is by the date in the name, else by the day in `zone` of the last change. A hit that holds other words of
    the question, if only in its path, is no copy.
    """
    groups: dict[Hashable, list[Hit]] = {}
    for at, (hit, is_unsure) in enumerate(zip(hits, may_repeat([hit.chunk.text for hit in hits]), strict=True)):
        is_text = is_unsure and modality_of(hit.chunk.path) is None
        said = gist(hit.chunk.text, hit.chunk.heading) if is_text else ""
        groups.setdefault((said, frozenset(hit.terms)) if said else at, []).append(hit)
    return [group[0] if len(group) == 1 else _merge_copies(group, zone) for group in groups.values()]


def _merge_copies(group: Sequence[Hit], zone: tzinfo) -> Hit:
    newest = max(group, key=lambda hit: _standing(hit, zone))
    copies = tuple(hit.chunk for hit in group if hit is not newest)
    # to be the newest is no merit: what the best of them is worth counts, as its score does
    return replace(newest, score=max(hit.score for hit in group), verdict=best_verdict(group), copies=copies)


def _standing(hit: Hit, zone: tzinfo) -> tuple[bool, bool, float, date, int]:
    """Return by which of several that say the same one stands for all.

    That is one's own, no copy of a conflict, what holds by its front matter, the newest.
    """
    chunk = hit.chunk
    named = None if chunk.source is Source.SESSIONS else date_in_name(chunk.path)
    day = named or datetime.fromtimestamp(chunk.mtime_ns / 1e9, zone).date()
    holds = weight_of(hit.decay.standing)
    return not person_of(chunk.path), not is_conflict_copy(chunk.path), holds, day, chunk.mtime_ns

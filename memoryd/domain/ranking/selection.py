"""Selection of an answer from scored candidates: recency, merging, near duplicates, diversity, and when to read more.

Recency is the formula of the OpenClaw configuration reference, score × e^(−ln 2 / halfLife × age in days), for dated
notes alone.

Reading more: copies are folded, and one document or kind of note may have too many places, so that the first
candidates may not fill an answer. The cheap steps come first: the unread candidates of both arms, then a query for
other documents, once, then deeper queries to both arms. Noise takes a place only until a better hit does: it neither
ends this search nor starts it.

Merging notes and conversations: the scores of two indexes cannot be compared, since each measures words against its
own best match and its own rarity, and in a small index no word is rare. So both lists are scored jointly, by

    text weight × words + vector weight × meaning, times the decay by age.

*Words* are, to four fifths, the share of the question's weight in a hit, with the weight of each term in both indexes
together. The rest is BM25 divided by the best of its own list, which reflects how often and how close together the
words occur. *Meaning* is how far a cosine rises above one noise for both, that of the index that compared more vectors.
A hit from an engine that reports neither keeps its own score. The lists are merged head by head: the better verdict
first, then the higher joint score, and noise last. Each list keeps its own order, made by decay, folding and diversity.
docs/explanation/conversations.md has figures.

Similarity counts words as the MMR of OpenClaw does: scripts without spaces by single characters and by pairs of
neighbours, all others by complete words. That includes non-Latin letters, which OpenClaw 2026.7 treats as empty.
Functions that select take hits best first and return positions in that order, so that any kind of hit can be ranked.
"""

import heapq
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from datetime import UTC, date, datetime, tzinfo
from enum import StrEnum
from itertools import filterfalse
from operator import add
from typing import TypeVar

from msgspec import Struct

from memoryd.domain.documents import CORE_FILES, Source, is_conflict_copy, original_of
from memoryd.domain.expressions import expression
from memoryd.domain.ranking.calibration import Thresholds, Verdict
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.ranking.fusion import Noise, Weights, standout
from memoryd.domain.ranking.snippets import fold
from memoryd.domain.text.note_status import status_weight
from memoryd.domain.text.sanitizing import Flag
from memoryd.domain.text.words import UNSPACED, UNSPACED_RUN

EVERGREEN_FOLDER = "bank/"
ECHO = 0.25
"""Factor for the score of an unanswered question: it repeats more of the query's words than any answer."""
COPY_WEIGHT = 0.5
"""Factor for conflict copies: a copy repeats its original, or is not yet confirmed."""
COPY_REASON = "a copy of a conflict counts half, and comes after its original"


class Decay(Struct, frozen=True):
    """Reductions of a score: by age, as an echo of the question, as a conflict copy, and by the document's own flags.

    `_apply_decay` in `search/ranking.py` fills the fields, and `_decay_reasons` there puts them into words.
    """

    by_age: float = 1.0
    """Factor for the age, 0 to 1."""
    age_days: int | None = None
    """Complete days of age; None for a document that does not age."""
    answered_share: float = 1.0
    """Share of a conversation's match, 0 to 1, that is more than an unanswered question."""
    is_copy: bool = False
    """Whether the document is a conflict copy."""
    status_flags: tuple[Flag, ...] = ()
    """Flags by which the document says that it is no longer valid; empty for a valid one."""

    @property
    def factor(self) -> float:
        """Product of all reductions, 0 to 1."""
        copy_weight = COPY_WEIGHT if self.is_copy else 1.0
        return self.by_age * (ECHO + (1 - ECHO) * self.answered_share) * copy_weight * status_weight(self.status_flags)


def decay_of(path: str, source: str, mtime_ns: int, *, half_life_days: float, now: datetime) -> Decay:
    """Return the decay of a document on the day of `now`, in the time zone of `now`."""
    day = decay_day(path, source, mtime_ns, now.tzinfo or UTC)
    age = age_in_days(day, now.date())
    return Decay(decay_factor(age, half_life_days), None if day is None else age)


def decay_factor(age_days: float, half_life_days: float) -> float:
    """Return 0 to 1: 1 for today and the future, 0.5 after one half-life. A half-life of 0 or less turns it off."""
    if not half_life_days > 0:
        return 1.0
    return math.exp2(-max(0.0, age_days) / half_life_days)


def decay_day(path: str, source: str, mtime_ns: int, zone: tzinfo = UTC) -> date | None:
    """Return the day from which a document ages; None if it does not age.

    That is the date in its name; for a conversation, the day of its last message, since a conversation may continue
    after the day in its name. `bank/`, the core file and notes without a date do not age.
    """
    if source == Source.SESSIONS:
        return datetime.fromtimestamp(mtime_ns / 1e9, zone).date()
    if path.startswith(EVERGREEN_FOLDER) or original_of(path) in CORE_FILES:
        return None
    return date_in_name(path)


def age_in_days(day: date | None, today: date) -> int:
    """Return the number of days from `day` to `today`; 0 for None and for a future day."""
    return 0 if day is None else max(0, (today - day).days)


DEPTH_FACTOR = 4
"""Factor by which the depth of a query grows, so that few rounds reach everything."""


class NextStep(StrEnum):
    """Next step after the candidates were examined."""

    ANSWER = "answer"
    READ_MORE = "read-more"
    ASK_OTHERS = "ask-others"
    """Query the keyword arm for all documents except the one with too many places."""
    ASK_DEEPER = "ask-deeper"


def next_step(
    limit: int,
    *,
    hits: int,
    has_room: bool,
    has_dominant: bool,
    unread: int,
    may_have_more: bool,
    has_asked_others: bool,
    is_deepest: bool,
    is_late: bool,
) -> NextStep:
    """Return the next step of a search for `limit` hits; unread candidates cannot outscore `hits` of its hits.

    `has_room`: copies or similar notes hold places that other hits may take. `has_dominant`: one document has more
    than its share. `unread`: number of candidates that could enter the answer; noise could only while places are
    free. `may_have_more`: an arm may have further matches. `is_late` ends the queries to the arms, not the reading:
    their candidates are in memory, and a partial reading would hide hits of other documents behind copies.
    """
    is_settled = hits >= limit and not has_dominant and not has_room
    if unread and not is_settled:
        return NextStep.READ_MORE
    if not may_have_more or is_late:
        return NextStep.ANSWER
    if has_dominant and not has_asked_others:
        # a document with hundreds of matching chunks fills any depth: a deeper query would return more of it
        return NextStep.ASK_OTHERS
    return NextStep.ASK_DEEPER if has_room and not is_deepest else NextStep.ANSWER


BM25_SHARE = 0.2
"""Share of BM25 in the score for words."""
_RANKS = {verdict: rank for rank, verdict in enumerate(Verdict)}

Item = TypeVar("Item")


class HitEvidence(Struct, frozen=True):
    """Evidence by which a hit is compared with hits of another list."""

    terms: Collection[str] = ()
    matching: float | None = None
    """BM25 divided by the best of its list, 0 to 1; None if the keyword arm did not match."""
    cosine: float | None = None
    """None if the vector arm did not match."""
    score: float = 0.0
    """Score in its own list, 0 to 1."""
    decay: float = 1.0
    """Factor for its age, 0 to 1."""
    verdict: Verdict | None = None
    is_noise: bool = False


class JointMeasure(Struct, frozen=True):
    """Joint scoring of hits of both lists, by the weight of each term and the noise of cosines, if known."""

    weights: Weights
    terms: Mapping[str, float] | None = None
    noise: Noise | None = None

    def score(self, hit: HitEvidence) -> float:
        """Return the joint score, 0 to 1."""
        if hit.matching is None and hit.cosine is None:
            return hit.score
        meaning = hit.cosine or 0.0
        if hit.cosine is not None and self.noise is not None:
            meaning = standout(hit.cosine, self.noise)
        return hit.decay * (self.weights.text * self._words(hit) + self.weights.vector * max(0.0, meaning))

    def worth(self, hit: HitEvidence) -> tuple[bool, int, float]:
        """Return a sort key: hits before noise, then by verdict, then by descending joint score."""
        rank = len(_RANKS) if hit.verdict is None else _RANKS[hit.verdict]
        return hit.is_noise, rank, -self.score(hit)

    def _words(self, hit: HitEvidence) -> float:
        if self.terms is None:
            return hit.matching or 0.0
        total = sum(self.terms.values())
        matched = sum(weight for term, weight in self.terms.items() if term in hit.terms)
        share = matched / total if total > 0 else float(bool(hit.terms))
        return (1 - BM25_SHARE) * share + BM25_SHARE * (hit.matching or 0.0)


def joint_measure(floors: Sequence[Thresholds], weights: Weights) -> JointMeasure:
    """Return the joint scoring of hits of both lists; `floors` are the thresholds of the lists that have any."""
    if not floors:
        return JointMeasure(weights)
    terms: Counter[str] = Counter()
    for thresholds in floors:
        terms.update(thresholds.idf.weights)
    compared = max(floors, key=lambda thresholds: thresholds.vectors)
    return JointMeasure(weights, terms, compared.noise if compared.vectors else None)


def merge_lists(
    first: Iterable[tuple[Item, HitEvidence]], second: Iterable[tuple[Item, HitEvidence]], measure: JointMeasure
) -> list[Item]:
    """Return the items of both lists, each list in its own order; at a tie, the item of the first list comes first."""
    return [item for item, _ in heapq.merge(first, second, key=lambda pair: measure.worth(pair[1]))]


def originals_first(order: Sequence[Item], path_of: Callable[[Item], str]) -> list[Item]:
    """Return `order` with all items of a conflict copy moved behind the last item of its original."""
    paths = [path_of(item) for item in order]
    copies = [is_conflict_copy(path) for path in paths]
    last = {path: at for at, path in enumerate(paths)}
    places = [max(at, last.get(original_of(path), at)) if copies[at] else at for at, path in enumerate(paths)]
    return [order[at] for at in sorted(range(len(order)), key=lambda at: (places[at], copies[at], at))]


_SPACED = expression(f"[^\\W{UNSPACED}]+")
_WORDS = bytes(code if code > 0x7F or chr(code).isalnum() or chr(code) == "_" else 0x20 for code in range(0x100))
"""Translation table for UTF-8: spaces for ASCII characters that are not part of a word."""

ALIKE = 0.9
"""Share of the words of two similar texts that both contain."""
MIN_SHARED_WORDS, MAX_OTHER_NUMBERS = 8, 2
"""Texts with 8 common words that differ only in at most 2 words with digits (a counter, a date) are similar, too."""


def tokens(text: str) -> Set[str]:
    """Return the distinct words of a text, in lower case."""
    plain = text.lower() if text.isascii() else fold(text)
    # A regular expression takes three times as long; only non-ASCII words need it.
    data = plain.encode("utf-8", "surrogatepass").translate(_WORDS)
    words = set(data.decode("utf-8", "surrogatepass").split())
    if not plain.isascii():
        mixed = list(filterfalse(str.isascii, words))
        words.difference_update(mixed)
        rest = " ".join(mixed)
        words.update(_SPACED.findall(rest))
        for run in UNSPACED_RUN.findall(rest):
            words.update(run, map(add, run, run[1:]))
    return words


def jaccard(first: Set[str], second: Set[str]) -> float:
    """Return the share of common tokens, 0 to 1; two empty sets count as different."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0


def are_similar(first: Set[str], second: Set[str]) -> bool:
    """Return whether two texts differ only in a few words, or in one or two words with digits.

    They may state two facts, but must not fill an answer.
    """
    least = ALIKE * max(len(first), len(second)) - MAX_OTHER_NUMBERS
    if not first or not second or min(len(first), len(second)) < least or len(first & second) < least:
        # most pairs are rejected here, at little cost
        return False
    if jaccard(first, second) >= ALIKE:
        return True
    others = first ^ second
    is_counted = all(any(sign.isdigit() for sign in word) for word in others)
    return is_counted and len(others) <= MAX_OTHER_NUMBERS and len(first & second) >= MIN_SHARED_WORDS


FILE_SHARE = 5 / 6
"""Largest share of an answer for one document while others match, too: five of six hits."""
FAMILY_SHARE, MIN_FAMILY = 1 / 2, 2
"""Largest share of an answer for notes that differ only in a word or a number: three of six hits, two of two."""
MIN_WORTH = 0.75
"""Least share of the replaced hit's score; at 0.5 or less, two answers in 150 get lost in long documents."""
WORTH_FOR_ALIKE = 0.5
"""The same if the replaced hit says little more than the hits before it."""
WORST_OF_BEST = 0.2
"""MMR gives the least relevant hit the relevance 0, unless its score is above this share of the best.

OpenClaw does so for any score; among a few good hits, a copy then outranks the last one.
"""


class RankedHit(Struct, frozen=True):
    """A hit as the diversity rules see it: score, words, document, and the number of its group of similar notes."""

    score: float
    tokens: Set[str] = frozenset()
    path: str = ""
    family: int = 0


def mmr(hits: Sequence[RankedHit], lambda_: float) -> list[int]:
    """Return all positions in MMR order: each maximises λ × relevance − (1 − λ) × similarity to the positions before.

    Relevance is the score, scaled to 0..1 over the hits; similarity is Jaccard on their words; λ is clamped to 0..1;
    the higher score wins a tie. The time grows with the square of the number of hits.
    """
    share = min(1.0, max(0.0, lambda_))
    scores = [hit.score for hit in hits]
    best = max(scores, default=0.0)
    low = min([*scores, WORST_OF_BEST * best])
    relevance = [(score - low) / (best - low) if best > low else 1.0 for score in scores]
    nearest = [0.0] * len(hits)
    left = sorted(range(len(hits)), key=lambda at: -scores[at])
    chosen: list[int] = []
    while left:
        # rounded, so that the order of additions does not decide a tie: the higher score does, being further left
        taken = max(left, key=lambda at: round(share * relevance[at] - (1 - share) * nearest[at], 9))
        left.remove(taken)
        chosen.append(taken)
        for at in left if share < 1 else ():
            nearest[at] = max(nearest[at], jaccard(hits[at].tokens, hits[taken].tokens))
    return chosen


def file_share(limit: int) -> int:
    """Return how many of `limit` hits one document may have while others match."""
    return max(1, math.ceil(limit * FILE_SHARE))


def family_share(limit: int) -> int:
    """Return how many of `limit` hits may be similar notes while others match."""
    return max(MIN_FAMILY, math.ceil(limit * FAMILY_SHARE))


def limit_shares(hits: Sequence[RankedHit], limit: int, *, taken: Sequence[RankedHit] = ()) -> list[int]:
    """Return all positions; hits over their document's or their family's share of `limit` places come after others.

    Another hit goes first only if it has at least MIN_WORTH, or WORTH_FOR_ALIKE, of their score. The hits in `taken`
    have places already.
    """
    paths, families = Counter([hit.path for hit in taken]), Counter([hit.family for hit in taken])
    left = list(range(len(hits)))
    first: list[int] = []
    while left and len(taken) + len(first) < limit:
        at = left[0]
        if not _has_share(hits[at], paths, families, limit):
            is_alike = families[hits[at].family] >= family_share(limit)
            worth = (WORTH_FOR_ALIKE if is_alike else MIN_WORTH) * hits[at].score
            others = (other for other in left if hits[other].score >= worth)
            at = next((other for other in others if _has_share(hits[other], paths, families, limit)), at)
        left.remove(at)
        paths[hits[at].path] += 1
        families[hits[at].family] += 1
        first.append(at)
    return first + left


def _has_share(hit: RankedHit, paths: Counter[str], families: Counter[int], limit: int) -> bool:
    return paths[hit.path] < file_share(limit) and families[hit.family] < family_share(limit)


def keep_literal(order: Sequence[int], before: Sequence[int], literal: frozenset[int], limit: int) -> list[int]:
    """Return the first `limit` of `order`, together with each literal hit among the first `limit` of `before`.

    Such a hit replaces the last of the hits that are not literal, the first excepted; if none is left, the best hit of
    `before` replaces the last hit.
    """
    chosen = list(order[:limit])
    missing = [hit for hit in before[:limit] if hit in literal and hit not in chosen]
    weak = [hit for hit in chosen[1:] if hit not in literal]
    for rank, hit in enumerate(missing):
        if weak:
            chosen.remove(weak.pop())
        elif rank == 0 and hit == before[0] and len(chosen) > 1:
            chosen.pop()
        else:
            break
        chosen.append(hit)
    return chosen

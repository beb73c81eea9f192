"""From scored candidates to an answer: recency, merging two indexes, near duplicates, diversity, and when to read more.

Recency is the formula of the OpenClaw configuration reference, score × e^(−ln 2 / halfLife × age in days), for dated
notes alone.

Reading more: copies fold, and one document or kind of note may have too many places, so that some candidates do not
fill an answer. The cheap steps come first: more of what the arms gave, then other documents once, then both arms for
more. Noise fills places only until something better does: it neither ends that search nor starts one.

Merging notes and conversations: scores of two indexes do not compare, since each measures words against its own best
and its own rarity, and in a small index no word is rare. So both lists are scored jointly, by

    text weight × words + vector weight × meaning, times the decay by age.

*Words* are, to four fifths, the share of the question's weight that is in a hit, each term weighing what it weighs in
both indexes together; the rest is BM25 against the best of its own list, which tells how often and how near each other
the words are. *Meaning* is how far a cosine rises above one noise for both, that of the index that compared more
vectors. A hit of an engine that gives neither has its own score. The lists are merged head by head: the better verdict
first, then the higher joint score, and noise behind all else; each list keeps its own order, which decay, folding and
diversity made. docs/explanation/conversations.md has figures.

Similarity counts words as the MMR of OpenClaw does: scripts without spaces by single characters and by pairs of
neighbours, all others by whole words, also those in other letters than Latin, which OpenClaw 2026.7 takes for empty.
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
from memoryd.domain.ranking.snippets import folded
from memoryd.domain.text.sanitizing import Flag
from memoryd.domain.text.standing import weight_of
from memoryd.domain.text.words import UNSPACED, UNSPACED_RUN

EVERGREEN_FOLDER = "bank/"


ECHO = 0.25
"""What a question that nobody answered keeps of its score, which has more of the words asked for than any answer."""


COPY_WEIGHT = 0.5
"""Of what copies of conflicts say: what its original says, or nobody has said yet that it holds."""

COPY_BEHIND = "a copy of a conflict counts half, and stands behind its original"


class Decay(Struct, frozen=True):
    """What is taken from a score: by age, 0 to 1 with its whole days, None for what lasts; from an echo, and a copy.

    `told` is how much of what a conversation holds of the question was more than asked, and answered by nobody. Each is
    filled by `_apply_decay` of `search/ranking.py`, and told by its `_decay_reasons`.
    """

    by_age: float = 1.0
    age_days: int | None = None
    told: float = 1.0
    is_copy: bool = False
    """Whether its document is a copy of a conflict."""
    standing: tuple[Flag, ...] = ()
    """What its document says of whether it holds; nothing where it does."""

    @property
    def factor(self) -> float:
        rests = (COPY_WEIGHT if self.is_copy else 1.0) * weight_of(self.standing)
        return self.by_age * (ECHO + (1 - ECHO) * self.told) * rests


def decay_of(path: str, source: str, mtime_ns: int, *, half_life_days: float, now: datetime) -> Decay:
    """Return the decay of a document today, which is the day of `now` in its own zone."""
    day = decay_day(path, source, mtime_ns, now.tzinfo or UTC)
    age = age_in_days(day, now.date())
    return Decay(decay_factor(age, half_life_days), None if day is None else age)


def decay_factor(age_days: float, half_life_days: float) -> float:
    """Return 0 to 1: 1 today and for the future, 0.5 after one half-life. A half-life not above 0 turns it off."""
    if not half_life_days > 0:
        return 1.0
    return math.exp2(-max(0.0, age_days) / half_life_days)


def decay_day(path: str, source: str, mtime_ns: int, zone: tzinfo = UTC) -> date | None:
    """Return the day from which a document ages, None if it does not.

    That is the date in its name; for a conversation, the day on which something was said last: it goes on for longer
    than a name tells. `bank/`, the core file and notes without a date last.
    """
    if source == Source.SESSIONS:
        return datetime.fromtimestamp(mtime_ns / 1e9, zone).date()
    if path.startswith(EVERGREEN_FOLDER) or original_of(path) in CORE_FILES:
        return None
    return date_in_name(path)


def age_in_days(day: date | None, today: date) -> int:
    """Return whole days from `day` to `today`; 0 for what does not age or lies ahead."""
    return 0 if day is None else max(0, (today - day).days)


DEEPER = 4
"""By this grows what is asked for, so that few rounds reach everything."""


class NextStep(StrEnum):
    """What follows a look at the candidates."""

    ANSWER = "answer"
    READ_MORE = "read-more"
    ASK_OTHERS = "ask-others"
    """Ask for the best words of all documents but the one that has too many places."""
    ASK_DEEPER = "ask-deeper"


def next_step(
    limit: int,
    *,
    hits: int,
    has_room: bool,
    has_dominant: bool,
    unread: int,
    is_full: bool,
    has_asked_others: bool,
    is_deepest: bool,
    is_late: bool,
) -> NextStep:
    """Return what follows a look for `limit` hits that found so many `hits` which are no noise.

    `has_room`: others may have places of copies or of notes that are alike. `has_dominant`: one document has more than
    its share. `unread` candidates might stand in the answer; noise only while there are places left for it. `is_full`:
    an arm had more to give. `is_late` ends the questions to the arms, not the reading: what they gave is at hand, and
    half-read it would hide the hits of other documents behind copies.
    """
    is_settled = hits >= limit and not has_dominant and not has_room
    if unread and not is_settled:
        return NextStep.READ_MORE
    if not is_full or is_late:
        return NextStep.ANSWER
    if has_dominant and not has_asked_others:
        # a document of hundreds of matching chunks fills every depth: to ask deeper would bring more of it
        return NextStep.ASK_OTHERS
    return NextStep.ASK_DEEPER if has_room and not is_deepest else NextStep.ANSWER


BM25_SHARE = 0.2
"""Of what words are worth."""
_RANKS = {verdict: rank for rank, verdict in enumerate(Verdict)}

Item = TypeVar("Item")


class Evident(Struct, frozen=True):
    """What of a hit is compared with hits of another list; numbers of an arm are None where it did not find it.

    `matching` is BM25 against the best of its list, 0 to 1; `score` is its own, 0 to 1, and `decay` what age leaves.
    """

    terms: Collection[str] = ()
    matching: float | None = None
    cosine: float | None = None
    score: float = 0.0
    decay: float = 1.0
    verdict: Verdict | None = None
    is_noise: bool = False


class JointMeasure(Struct, frozen=True):
    """By what hits of both lists are scored: the weight of each term and the noise of cosines, where they are known."""

    weights: Weights
    terms: Mapping[str, float] | None = None
    noise: Noise | None = None

    def score(self, hit: Evident) -> float:
        """Return 0 to 1."""
        if hit.matching is None and hit.cosine is None:
            return hit.score
        meaning = hit.cosine or 0.0
        if hit.cosine is not None and self.noise is not None:
            meaning = standout(hit.cosine, self.noise)
        return hit.decay * (self.weights.text * self._words(hit) + self.weights.vector * max(0.0, meaning))

    def worth(self, hit: Evident) -> tuple[bool, int, float]:
        """Sort what is no noise before noise, then by verdict, then by the joint score."""
        rank = len(_RANKS) if hit.verdict is None else _RANKS[hit.verdict]
        return hit.is_noise, rank, -self.score(hit)

    def _words(self, hit: Evident) -> float:
        if self.terms is None:
            return hit.matching or 0.0
        total = sum(self.terms.values())
        held = sum(weight for term, weight in self.terms.items() if term in hit.terms)
        share = held / total if total > 0 else float(bool(hit.terms))
        return (1 - BM25_SHARE) * share + BM25_SHARE * (hit.matching or 0.0)


def joint_measure(floors: Sequence[Thresholds], weights: Weights) -> JointMeasure:
    """Return by what hits of both lists are scored; `floors` are those of the lists that have some."""
    if not floors:
        return JointMeasure(weights)
    terms: Counter[str] = Counter()
    for one in floors:
        terms.update(one.idf.weights)
    compared = max(floors, key=lambda one: one.vectors)
    return JointMeasure(weights, terms, compared.noise if compared.vectors else None)


def merged(
    first: Iterable[tuple[Item, Evident]], second: Iterable[tuple[Item, Evident]], measure: JointMeasure
) -> list[Item]:
    """Return the items of both lists, each list in its own order; of equals that of the first list comes first."""
    return [item for item, _ in heapq.merge(first, second, key=lambda pair: measure.worth(pair[1]))]


def originals_first(order: Sequence[Item], path_of: Callable[[Item], str]) -> list[Item]:
    """Return the order with everything of a copy of a conflict behind the last of its original."""
    paths = [path_of(item) for item in order]
    copies = [is_conflict_copy(path) for path in paths]
    if not any(copies):
        return list(order)
    last = {path: at for at, path in enumerate(paths)}
    places = [max(at, last.get(original_of(path), at)) if copies[at] else at for at, path in enumerate(paths)]
    return [order[at] for at in sorted(range(len(order)), key=lambda at: (places[at], copies[at], at))]


_SPACED = expression(f"[^\\W{UNSPACED}]+")
_WORDS = bytes(code if code > 0x7F or chr(code).isalnum() or chr(code) == "_" else 0x20 for code in range(0x100))
"""Of a text in UTF-8, the same with blanks for what in ASCII is no part of a word."""

ALIKE = 0.9
"""Share of all words of two texts that must stand in both."""
MIN_SHARED_WORDS, MAX_OTHER_NUMBERS = 8, 2
"""Texts that share at least so many words and differ in so few numbers alone are alike too: a counter, a date."""


def tokens(text: str) -> Set[str]:
    """Return the distinct words of a text, in lower case."""
    plain = text.lower() if text.isascii() else folded(text)
    # to look for words by a pattern takes thrice as long; only those that are not ASCII need it
    data = plain.encode("utf-8", "surrogatepass").translate(_WORDS)
    found = set(data.decode("utf-8", "surrogatepass").split())
    if not plain.isascii():
        mixed = list(filterfalse(str.isascii, found))
        found.difference_update(mixed)
        rest = " ".join(mixed)
        found.update(_SPACED.findall(rest))
        for run in UNSPACED_RUN.findall(rest):
            found.update(run, map(add, run, run[1:]))
    return found


def jaccard(first: Set[str], second: Set[str]) -> float:
    """Return the share of common tokens, 0 to 1; two empty sets tell nothing and count as different."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0


def is_alike(first: Set[str], second: Set[str]) -> bool:
    """Tell whether two texts differ in a few words alone, or in a number or two: they may tell two facts, and crowd."""
    least = ALIKE * max(len(first), len(second)) - MAX_OTHER_NUMBERS
    if not first or not second or min(len(first), len(second)) < least or len(first & second) < least:
        # most pairs of many are told apart here
        return False
    if jaccard(first, second) >= ALIKE:
        return True
    others = first ^ second
    is_counted = all(any(sign.isdigit() for sign in word) for word in others)
    return is_counted and len(others) <= MAX_OTHER_NUMBERS and len(first & second) >= MIN_SHARED_WORDS


FILE_SHARE = 5 / 6
"""Most of an answer that one document may fill while others match too: five of six hits."""
FAMILY_SHARE, MIN_FAMILY = 1 / 2, 2
"""Most of an answer that notes may fill which are alike but for a word or a number: three of six hits, two of two."""
MIN_WORTH = 0.75
"""Share of the score of the hit that it replaces; from 0.5 down, two answers in 150 are lost in long documents."""
WORTH_FOR_ALIKE = 0.5
"""The same where the hit says little more than those before it."""
WORST_OF_BEST = 0.2
"""MMR takes the least relevant hit for worth nothing, but never one above this share of the best.

OpenClaw does so whatever its score is; among a few good hits, a copy then outranks the last one.
"""
_DIGITS = 9


class Contender(Struct, frozen=True):
    """A hit as those rules see it: its score, its words, its document, and the number of the notes it is alike with."""

    score: float
    tokens: Set[str] = frozenset()
    path: str = ""
    family: int = 0


def mmr(hits: Sequence[Contender], lambda_: float) -> list[int]:
    """Return all positions, the next one being that with most of λ × relevance − (1 − λ) × similarity to those before.

    Relevance is the score, stretched to 0..1 over the hits; similarity is Jaccard on their words; λ is held to 0..1;
    the higher score wins a tie. Takes time by the square of the number of hits.
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
        # rounded, so that the order of additions decides no tie: the higher score does, being further left
        taken = max(left, key=lambda at: round(share * relevance[at] - (1 - share) * nearest[at], _DIGITS))
        left.remove(taken)
        chosen.append(taken)
        for at in left if share < 1 else ():
            nearest[at] = max(nearest[at], jaccard(hits[at].tokens, hits[taken].tokens))
    return chosen


def file_share(limit: int) -> int:
    """Return how many of `limit` hits one document may have while others match."""
    return max(1, math.ceil(limit * FILE_SHARE))


def family_share(limit: int) -> int:
    """Return how many of `limit` hits may be alike while others match."""
    return max(MIN_FAMILY, math.ceil(limit * FAMILY_SHARE))


def shared(hits: Sequence[Contender], limit: int, *, taken: Sequence[Contender] = ()) -> list[int]:
    """Return all positions; hits beyond their document's or their family's share of `limit` places stand behind others.

    They do so only for others that score at least MIN_WORTH, or WORTH_FOR_ALIKE, of what they do. Those in `taken`
    have places already.
    """
    every = (*taken, *hits)
    paths, families = Counter([hit.path for hit in every]), Counter([hit.family for hit in every])
    if not every or (max(paths.values()) <= file_share(limit) and max(families.values()) <= family_share(limit)):
        return list(range(len(hits)))
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


def _has_share(hit: Contender, paths: Counter[str], families: Counter[int], limit: int) -> bool:
    return paths[hit.path] < file_share(limit) and families[hit.family] < family_share(limit)


def with_literal(order: Sequence[int], before: Sequence[int], literal: frozenset[int], limit: int) -> list[int]:
    """Return the first `limit` of `order`, with every literal hit that would have been among them `before`.

    Such a hit takes the last places from hits that hold no word of the question; the very best one, if none is left,
    from any but the first.
    """
    kept = list(order[:limit])
    owed = [hit for hit in before[:limit] if hit in literal and hit not in kept]
    weak = [hit for hit in kept[1:] if hit not in literal]
    for rank, hit in enumerate(owed):
        if weak:
            kept.remove(weak.pop())
        elif rank == 0 and hit == before[0] and len(kept) > 1:
            kept.pop()
        else:
            break
        kept.append(hit)
    return kept

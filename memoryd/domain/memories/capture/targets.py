"""Which standing memory a sentence revises, and what is stated then: pure rules over the book.

A memory fits if it says what the sentence denies, or has another value of the same type, or what a change is of, and
both are about the same. Words count by how rare they are in the book. Exactly one that fits clearly is superseded; of
two or three nobody knows which is meant, and the new line contradicts them; of more nothing is said.

Where the old line says more than what changes, and one value alone is exchanged, the new line is the old one with that
value: what still holds stays told.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache, cached_property
from typing import Final

from msgspec import Struct

from memoryd.domain.counters import grouped
from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.agreement import HOME, MOVES, are_apart, is_of_other
from memoryd.domain.memories.capture.corrections import NAME, pin_kind
from memoryd.domain.memories.capture.cues import AGAIN, ANSWER, CHANGE, CLAUSE_END, CORRECTION, NO_LONGER, NOT_BUT
from memoryd.domain.memories.capture.exchange import exchanged, new_values_of, renewed, replaced_value, still_holds
from memoryd.domain.memories.capture.revisions import TIMES, Revision, subject_of
from memoryd.domain.memories.capture.values import Rarity, TypedValue, content, new_value, rarity_of, values_in
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.facts.values import HAN, HAN_SIGN
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import BY_PEOPLE

_REVISED: Final = frozenset(
    {
        Kind.WORLD,
        Kind.FACT,
        Kind.ENTITY,
        Kind.PROJECT_STATE,
        Kind.RELATIONSHIP,
        Kind.PREFERENCE,
        Kind.OPINION,
        Kind.PROCEDURE,
        Kind.NOTE,
    }
)
"""What was done once, learned or summed up is as it was."""
_HALF: Final = 0.5
_MAX: Final = 0.6
_MIN: Final = 0.1
"""What fits by its kind alone, without a word in common."""
_WHOLE: Final = 0.95
_SUBJECT: Final = 0.4
"""Of the words of what a memory is about: a sentence that has another value names it more shortly."""
_CLEARLY: Final = 0.75
"""A second one that weighs more than so much of the first may be meant as well."""
_FOREIGN: Final = 2
"""For each word that it shares with a memory a sentence may say so many others, or it speaks of something else."""
_DISPUTED_MAX: Final = 3
_MIN_CHARS: Final = 3
_NEGATIVE: Final = caseless(
    r"\b(?:not|never|no longer|nobody|none|no one)\b|n['’]t\b|(?<![特区个性分])[不没未](?!同|错|过|久|断)"
)


class Target(Struct, frozen=True):
    """What a sentence revises: a memory that is superseded, or some of which one may be meant; and what is stated."""

    revision: Revision
    text: str
    superseded: tuple[Memory, ...] = ()
    disputed: tuple[Memory, ...] = ()


class _Candidate(Struct, frozen=True):
    memory: Memory
    words: frozenset[str]
    weight: float = 0.0


def target_of(
    revision: Revision, book: Book, *, scope: str = "", day: date | None = None, answer_before: str = ""
) -> Target | None:
    """Return what a sentence revises among what stands on a day in its scope; None: nothing fits."""
    every = _candidates(book, scope, day)
    seen = {one.memory.id for one in every}
    older = {one for new, ids in book.superseded.items() if new in seen for one in ids}
    standing = [one for one in every if one.memory.id not in older]
    rarity = rarity_of(one.words for one in standing)
    search = _Search(revision, rarity, answer_before, standing, every)
    near = [one for one in standing if search.may_fit(one)]
    weighed = [_Candidate(one.memory, one.words, weight) for one in near if (weight := search.weight(one)) > 0]
    if not weighed:
        return _renewed_clause(revision, near)
    weighed.sort(key=lambda one: (one.weight, one.memory.recorded, one.memory.id), reverse=True)
    best = [one for one in weighed if one.weight > _CLEARLY * weighed[0].weight]
    if len(best) > _DISPUTED_MAX:
        return None
    if len(best) > 1:
        return Target(revision, revision.text, disputed=tuple(one.memory for one in best))
    return _over(revision, best[0], standing)


def _renewed_clause(revision: Revision, near: Sequence[_Candidate]) -> Target | None:
    """Return the one memory a clause of which says all that the sentence does, with another value."""
    new = new_values_of(revision)
    pairs = ((one.memory, replaced_value(new, one.memory.line.text, one.words)) for one in near)
    found = [(memory, pair) for memory, pair in pairs if pair is not None]
    if len(found) != 1:
        return None
    memory, pair = found[0]
    return Target(revision, exchanged(memory.line.text, pair), superseded=(memory,))


def _candidates(book: Book, scope: str, day: date | None) -> list[_Candidate]:
    return [
        _Candidate(one, content(" ".join((one.line.text, *one.line.entities))))
        for one in book.memories.values()
        if one.line.attributes.scope in {scope, ""}
        and one.line.kind in _REVISED
        and (day is None or one.recorded <= day)
    ]


class _Search:
    """How well memories fit one sentence."""

    def __init__(
        self,
        revision: Revision,
        rarity: Rarity,
        answer: str,
        standing: Sequence[_Candidate],
        every: Sequence[_Candidate],
    ) -> None:
        # a memory is read by several rules, and the sentence beside each: kept for this one search
        self._values_in, self._subject_in = cache(values_in), cache(lambda text: content(subject_of(text)))
        self._revision = revision
        self._rarity = rarity
        self._standing, self._every = standing, every
        self._old = [(one, words) for one in revision.old if (words := content(one))]
        denied = [words for _, words in self._old]
        self._rest = content(revision.rest)
        self._about = content(revision.about).difference(*denied)
        self._subject = content(revision.subject)
        self._own_names = frozenset[str]().union(*(one.words for one in standing if _is_name(one.memory)))
        self._context = content(revision.context)
        self._said = self._rest.union(*denied, self._about, self._context)
        self._told, self._answer = answer, content(answer)
        self._is_answer = bool(self._answer) and (ANSWER in revision.forms or not (self._about or self._subject))
        self._clause = _again_clause(revision.plain) if AGAIN in revision.forms else ""
        signs = self._said | self._subject | self._answer
        self._signs = frozenset("".join(filter(HAN_SIGN.match, signs)))
        self._stems = [one for one in signs if not HAN_SIGN.match(one)]

    def may_fit(self, one: _Candidate) -> bool:
        """Tell, at the cost of a look, whether a memory may weigh anything: of thousands few share a word with it.

        What came between two that are alike may share none, and who moves says another word for where they live.
        """
        if not self._signs.isdisjoint(one.memory.line.text) or not one.words.isdisjoint(self._said):
            return True
        # a subject may be a part of what is one word of the whole line
        told = one.memory.line.text.casefold().replace("-", "")
        return any(stem in told for stem in self._stems) or self._is_home_left(one) or self._came_between(one)

    def weight(self, one: _Candidate) -> float:
        """Return how much speaks for a memory; 0 where it does not fit, or the sentence is about something else."""
        fits = self._fit(one)
        names = one.words | self._own_names
        return 0.0 if fits and are_apart(self._revision, one.memory.line.text, names, self._said) else fits

    def _fit(self, one: _Candidate) -> float:
        if not any(
            fits(one)
            for fits in (self._says_old, self._has_other_value, self._is_same_frame, self._is_changed, self._is_before)
        ):
            return 0.0 if not self._was_answered_wrong(one) else self._rarity.weight(one.words & self._answer)
        said = self._rest.union(*(words for _, words in self._old)) & one.words
        fits = _MIN + self._rarity.weight(said) * (_HALF + _HALF * self._rarity.share(said, one.words))
        is_home = MOVES.search(self._revision.plain) and HOME.search(one.memory.line.text)
        return 2 * fits if is_home else fits

    def _is_same_subject(self, one: _Candidate, *, or_other: bool = False) -> bool:
        """Tell whether nothing says that another is spoken of; `or_other`: what an author says may be of a name."""
        text = one.memory.line.text
        subject = self._subject_in(text)
        if self._about and self._rarity.share(self._about & one.words, self._about) < _HALF:
            rest = self._said - self._about
            if self._rarity.share(subject & rest, subject) < _HALF:
                return False
        if self._subject and not self._about and not self._is_named(one, subject):
            return False
        is_others = self._revision.is_authors and is_of_other(text, self._said | self._own_names)
        return or_other or not is_others

    def _is_named(self, one: _Candidate, subject: frozenset[str]) -> bool:
        """Tell whether the words before the verb are a memory's, or the words of its own subject stand in the rest."""
        if self._rarity.share(self._subject & one.words, self._subject) >= _WHOLE:
            return True
        rest = self._said - self._subject
        if self._old and self._rarity.share(subject & self._said, subject) >= _WHOLE:
            return True
        return bool(rest & subject) and self._rarity.share(subject & self._said, subject) >= _HALF

    def _says_old(self, one: _Candidate) -> bool:
        """Tell whether a memory says what is denied, of the same."""
        least = _WHOLE if NO_LONGER not in self._revision.forms and self._is_bare_denial else _MAX
        text = one.memory.line.text
        hits = [
            old
            for said, old in self._old
            if self._rarity.share(old & one.words, old) >= _least(old, least) or _stands_in(said, text)
        ]
        value = one.words - self._subject_in(text)
        if NO_LONGER not in self._revision.forms or not self._revision.has_contrast:
            hits = [old for old in hits if old & value or self._about & value]
        if not hits or not self._is_same_subject(one) or _NEGATIVE.search(text):
            return False
        # of what is named nowhere else, the value alone says which one is meant
        is_about = bool(self._about or (self._rest - self._has_new_value() | self._context) & one.words)
        told = text.casefold()
        is_about = is_about or any(" " in old and old.casefold() in told for old in self._revision.old)
        return is_about or (
            (self._is_significant or len(hits[0]) > 1)
            # their words first, which are known: their subjects have to be read
            and not any(
                hits[0] <= other.words and self._is_same_subject(other) for other in self._standing if other is not one
            )
        )

    @property
    def _is_bare_denial(self) -> bool:
        """Whether something is denied, and nothing said that holds instead."""
        return NOT_BUT in self._revision.forms and not self._revision.has_contrast

    @property
    def _is_significant(self) -> bool:
        """Whether what is denied is no plain word: a name, a number."""
        return any(map(_NAME.search, self._revision.old)) and not (
            self._revision.has_pronoun and not self._context and not self._revision.has_contrast
        )

    def _has_new_value(self) -> frozenset[str]:
        return content(self._revision.new)

    def _has_other_value(self, one: _Candidate) -> bool:
        """Tell whether a memory has another value of the same type, of the same."""
        if self._old or not self._is_same_subject(one):
            return False
        text = one.memory.line.text
        pair = new_value(text, self._revision.plain, read=self._values_in)
        if pair is None or self._is_of_other_clause(pair[1], one.words):
            return False
        said = self._rest | self._about
        other = said - content(pair[1].text) - one.words
        if len(other) > _FOREIGN * len(said & one.words) and not HAN_SIGN.search(self._revision.plain):
            return False
        subject, fixed = self._subject_in(text), one.words - content(pair[0].text)
        is_about = bool(subject) and self._rarity.share(subject & said, subject) >= _SUBJECT
        return is_about or (bool(fixed) and self._rarity.share(fixed & said, fixed) >= _MAX)

    def _is_of_other_clause(self, value: TypedValue, words: frozenset[str]) -> bool:
        """Tell whether a later clause says a value of another subject: that went well, the party is on the 16th."""
        if HAN_SIGN.search(self._revision.plain):
            return False
        start = max((end.end() for end in CLAUSE_END.finditer(self._revision.plain, 0, value.start)), default=0)
        subject = content(subject_of(self._revision.plain[start : value.start])) if start else frozenset[str]()
        return bool(subject) and subject.isdisjoint(words)

    def _is_same_frame(self, one: _Candidate) -> bool:
        """Tell whether all that a memory says beside its last words is said, with other words at the same place."""
        if self._old or not self._is_same_subject(one):
            return False
        text = one.memory.line.text
        pair = new_value(text, self._revision.plain, is_loose=True, read=self._values_in)
        fixed = one.words - content(pair[0].text) if pair else frozenset[str]()
        return bool(fixed) and self._rarity.share(fixed & self._said, fixed) >= _WHOLE

    def _is_changed(self, one: _Candidate) -> bool:
        """Tell whether a memory says nothing but what the thing is, of which a change is told."""
        revision, about = self._revision, self._about or self._subject
        if self._old or not {CHANGE, CORRECTION} & set(revision.forms):
            return False
        if CHANGE in revision.forms and not (revision.new and _is_value(revision)):
            return False
        new = self._has_new_value()
        if new and new <= one.words:
            return False
        text = one.memory.line.text
        if not about:
            return self._is_home_left(one)
        subject = self._subject_in(text)
        is_whole = self._rarity.share(about & one.words, about) >= _MAX
        is_about = bool(subject) and self._rarity.share(subject & about, subject) >= _MAX
        if not (is_whole and is_about and self._is_same_subject(one)):
            return False
        # a date is no time of day
        kinds, others = ({value.kind for value in self._values_in(told)} & TIMES for told in (text, revision.new))
        return not (kinds and others and kinds.isdisjoint(others))

    def _is_home_left(self, one: _Candidate) -> bool:
        revision = self._revision
        is_move = revision.is_authors and bool(MOVES.search(revision.plain))
        return is_move and bool(_LIVES.match(one.memory.line.text))

    def _is_before(self, one: _Candidate) -> bool:
        """Tell whether a memory came between: another says in the same place what holds again."""
        return self._came_between(one) and self._is_same_subject(one, or_other=True)

    def _came_between(self, one: _Candidate) -> bool:
        return any(
            _says(self._clause, _difference(other.memory.line.text, one.memory.line.text))
            for other in self._restated.get(one.memory.line.slugs, ())
            if other is not one and are_same_but_one(other.memory, one.memory)
        )

    @cached_property
    def _restated(self) -> Mapping[tuple[EntitySlug, ...], Sequence[_Candidate]]:
        """The memories that may say what holds again, by whom they are about: a word of theirs is said."""
        words, signs = content(self._clause), frozenset(HAN_SIGN.findall(self._clause))
        return grouped(
            (one.memory.line.slugs, one)
            for one in (self._every if self._clause else ())
            if not one.words.isdisjoint(words) or not signs.isdisjoint(one.memory.line.text)
        )

    def _was_answered_wrong(self, one: _Candidate) -> bool:
        """Tell whether the answer before said what a memory says, and the sentence has another value for it."""
        pair = None
        if self._is_answer:
            pair = new_value(
                one.memory.line.text, self._revision.plain, is_loose=self._revision.has_verb, read=self._values_in
            )
        if pair is None or not _says(self._told, pair[0].text):
            return False
        subject = self._subject_in(one.memory.line.text)
        return any(self._rarity.share(words & self._answer, words) >= _HALF for words in (one.words, subject))


_CALLED: Final = caseless(r"\b(?:renam|switch|chang|migrat|upgrad)ed to\b")
_LIVES: Final = caseless(r"\W*(?:i|we) (?:\w+ )?live\b|我们?[\u4e00-\u9fff]{0,2}住|我家[住在]")
"""Of who moves another place holds, whatever word is said for it."""


def _least(words: frozenset[str], least: float) -> float:
    """Return how much of what is denied a memory says: of pairs of signs some lie across two words."""
    return _HALF if any(map(HAN_SIGN.match, words)) else least


def _stands_in(said: str, text: str) -> bool:
    """Tell whether a text has more than two Chinese signs as they are said: pairs of them lie across its words."""
    return len(said) >= _MIN_CHARS and bool(HAN_SIGN.match(said)) and said in text


def _is_name(memory: Memory) -> bool:
    """Tell whether a memory says what its author is called, as agents may call them in what they write."""
    return memory.line.kind is Kind.ENTITY and is_owners(memory) and pin_kind(memory.line.text) == NAME


def _says(text: str, value: str) -> bool:
    """Tell whether a text says a value: a part of it without spaces, else by its words."""
    words = content(value)
    return value in text if HAN_SIGN.search(value) else bool(words) and words <= content(text)


_NAME: Final = expression(rf"[A-Z0-9]|[{HAN}]")


def _is_value(revision: Revision) -> bool:
    """Tell whether what holds now is a name or a value, or the one word of what is called or taken otherwise."""
    is_word = bool(_CALLED.search(revision.plain)) and " " not in revision.new.strip()
    return is_word or bool(_NAME.search(revision.new) or values_in(revision.new))


def _again_clause(plain: str) -> str:
    clauses = CLAUSE_END.split(plain)
    signs = r"\bagain\b|\bback\b|[改换搬转调用订吃喝走坐住做]回|恢复|重新|又"
    return next((one for one in clauses if re.search(signs, one, re.IGNORECASE)), plain)


_TOKENS: Final = expression(rf"[^\W{HAN}]+(?:['’.-][^\W{HAN}]+)*|[{HAN}]|\S")
_JOINS: Final = caseless(r"(?:is|are|was|were|has|have|had|是|在|有)\Z")
_MIDDLE_MAX: Final = 8


def are_same_but_one(one: Memory, other: Memory) -> bool:
    """Tell whether two memories are about the same in the same words, but for one value."""
    if one.line.slugs != other.line.slugs or not _begin_or_end_alike(one.line.text.strip(), other.line.text.strip()):
        return False
    mine, theirs = _TOKENS.findall(one.line.text), _TOKENS.findall(other.line.text)
    ahead, behind = _common(mine, theirs)
    middles = mine[ahead : len(mine) - behind], theirs[ahead : len(theirs) - behind]
    are_values = all(0 < len(middle) <= _MIDDLE_MAX and not any(map(_JOINS.match, middle)) for middle in middles)
    fixed = content(" ".join(mine[:ahead] + mine[len(mine) - behind :]))
    # who eats meat and plays the clarinet does both: beside their subject they share a verb, or what follows
    is_verb_same = ahead > len(_TOKENS.findall(subject_of(one.line.text))) or bool(
        content(" ".join(mine[len(mine) - behind :]))
    )
    return are_values and is_verb_same and bool(fixed)


def _begin_or_end_alike(mine: str, theirs: str) -> bool:
    return mine[:1] == theirs[:1] or mine[-1:] == theirs[-1:]


def _common(mine: Sequence[str], theirs: Sequence[str]) -> tuple[int, int]:
    most = min(len(mine), len(theirs))
    ahead = next((at for at in range(most) if mine[at] != theirs[at]), most)
    behind = next((at for at in range(most - ahead) if mine[-1 - at] != theirs[-1 - at]), most - ahead)
    return ahead, behind


def _difference(text: str, other: str) -> str:
    """Return the part of a text that another one of the same words has otherwise."""
    mine, theirs = _TOKENS.findall(text), _TOKENS.findall(other)
    ahead, behind = _common(mine, theirs)
    middle = mine[ahead : len(mine) - behind]
    return ("" if all(len(one) == 1 for one in middle) else " ").join(middle)


def _over(revision: Revision, found: _Candidate, standing: Iterable[_Candidate]) -> Target:
    memory = found.memory
    text = renewed(revision, memory.line.text)
    if text == revision.text and still_holds(revision, memory.line.text):
        pair = replaced_value(new_values_of(revision), memory.line.text, found.words)
        if pair is None:
            return Target(revision, text, disputed=(memory,))
        text = exchanged(memory.line.text, pair)
    gone = [memory]
    if AGAIN in revision.forms:
        # what was so before is said anew: the oldest line goes with the one between
        gone += [one.memory for one in standing if one.memory is not memory and are_same_but_one(one.memory, memory)]
    return Target(revision, text, superseded=tuple(gone))


def is_owners(memory: Memory) -> bool:
    """Tell whether a person stated a memory."""
    return memory.line.attributes.provenance in BY_PEOPLE

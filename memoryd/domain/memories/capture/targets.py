"""Which standing memory a sentence revises, and what is stated then: pure rules over the book.

A memory fits if it says what the sentence denies, or has another value of the same type, or what a change is of, and
both are about the same. Words count by how rare they are in the book. Exactly one that fits clearly is superseded; of
two or three any may be meant, and the new line contradicts them; of more nothing is said.

Where the old line says more than what changes, and one value alone is exchanged, the new line is the old one with that
value: what still holds stays in it.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache, cached_property
from itertools import islice

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.agreement import (
    HOME,
    MOVES,
    are_apart,
    are_of_other_times,
    is_bare_place,
    is_of_other,
    is_of_other_clause,
    is_of_person,
)
from memoryd.domain.memories.capture.cues import (
    AGAIN,
    ANSWER,
    CHANGE,
    CORRECTION,
    NO_LONGER,
    NOT_BUT,
    SLIP,
    again_clause,
)
from memoryd.domain.memories.capture.exchange import (
    are_same_but_one,
    came_between,
    exchanged,
    new_values_of,
    other_name,
    other_number,
    renewed,
    replaced_value,
    still_holds,
)
from memoryd.domain.memories.capture.lines import LOCK, Candidate, StandingLines, says_home
from memoryd.domain.memories.capture.outdating import weighed
from memoryd.domain.memories.capture.rejections import says_secret
from memoryd.domain.memories.capture.revisions import AUTHOR, Revision, subject_of
from memoryd.domain.memories.capture.values import (
    TypedValue,
    content,
    may_change_to,
    new_value,
    says,
    values_in,
)
from memoryd.domain.memories.facts.values import HAN, HAN_SIGN, tells_what_happened
from memoryd.domain.memories.generated import said_of
from memoryd.domain.redaction import redacted

_HALF = 0.5
_MAX = 0.6
_MIN = 0.1
"""What fits by its kind alone, without a word in common."""
_WHOLE = 0.95
_SUBJECT = 0.4
"""Of the words of what a memory is about: a sentence that has another value names it more shortly."""
_CLEARLY = 0.75
"""A second one that weighs more than so much of the first may be meant as well."""
_FOREIGN = 2
"""For each word that it shares with a memory a sentence may say so many others, or it speaks of something else."""
_DISPUTED_MAX = 3
_MIN_CHARS = 3
_INDEFINITE = caseless(r"\W*(?:(?:the|der|die|das) (?:other|ander\w+)|one|an?|some|eine?r?)\b")
_GERMAN_AUTHOR = caseless(r"\W*(?:ich|wir)\b")
_NEGATIVE = caseless(
    r"\b(?:not|never|no longer|nobody|none|no one|nicht|nie|kein\w*)\b|n['’]t\b"
    r"|(?<![特区个性分])[不没未](?!同|错|过|久|断)"
)


class Target(Struct, frozen=True):
    """The memories that a sentence supersedes, or may mean, or none, if it holds beside; the text that holds now."""

    text: str
    superseded: tuple[Memory, ...] = ()
    disputed: tuple[Memory, ...] = ()


def target_of(
    revision: Revision,
    book: Book,
    *,
    scope: str,
    day: date | None,
    answer_before: str,
    said_before: str,
) -> Target | None:
    """Return what a sentence revises among the memories that hold on a day in its scope; None: nothing fits.

    It may answer the assistant, `answer_before`, or what its own author `said_before`.
    """
    with LOCK:
        lines = StandingLines(book, scope, day)
        return _target(_Search(revision, (answer_before, said_before), lines), revision)


def _target(search: "_Search", revision: Revision) -> Target | None:
    similar = search.similar
    weighed = [(weight, candidate) for candidate in similar if (weight := search.weight(candidate)) > 0]
    if not weighed:
        return search.between() or _renewed_clause(revision, similar)
    weighed.sort(key=lambda pair: (pair[0], pair[1].memory.recorded, pair[1].memory.id), reverse=True)
    best = [candidate for weight, candidate in weighed if weight > _CLEARLY * weighed[0][0]]
    is_one = len(best) == 1 and not search.is_among_many(best[0])
    if is_one and not is_bare_place(revision, best[0].text):
        return search.over(best[0])
    if len(best) > _DISPUTED_MAX or search.is_among_many(best[0]):
        return None
    return Target(revision.text, disputed=tuple(candidate.memory for candidate in best))


def _renewed_clause(revision: Revision, similar: Sequence[Candidate]) -> Target | None:
    """Return the one memory a clause of which says all that the sentence does, with another value."""
    new = new_values_of(revision)
    pairs = [
        (candidate, pair)
        for candidate in similar
        if (pair := replaced_value(new, candidate.text, candidate.words)) is not None
    ]
    if len(pairs) != 1:
        return None
    ((candidate, pair),) = pairs
    return Target(exchanged(candidate.text, pair), superseded=(candidate.memory,))


OUTDATED = 0.2
"""Log-odds from which on a line holds no longer."""
_HOMES_MAX = 2
"""Lines about where the author lives that are weighed though they share no word."""
_LINE_CHARS_MAX = 200
"""Of a line that is weighed, and told again with what is said of it."""


def outdated_by(text: str, book: Book, *, scope: str, day: date | None, answer_before: str) -> Target | None:
    """Return the line that a message outdates in words of no form, and the message with it; None: it outdates none.

    It is told with the line of which it was said: it may say little alone, and if it was meant otherwise nothing is
    lost.
    """
    with LOCK:
        lines = StandingLines(book, scope, day)
        near, _ = lines.near(content(text) | content(answer_before))
        near = list({one.memory.id: one for one in (*near, *islice(lines.homes, _HOMES_MAX))}.values())
        near = [one for one in near if len(one.text) <= _LINE_CHARS_MAX]
        found = weighed(text, answer_before, near, lines.rarity)
    if not found or found[0].weight < OUTDATED:
        return None
    memory, line = found[0].candidate.memory, found[0].candidate.text
    told = said_of(text, line)
    # who says the same again says that it holds
    is_said_again = line.rstrip(".。!！").casefold() in text.casefold()
    if is_said_again or says_secret(told) or redacted(told) != told:
        return None
    return Target(told, disputed=(memory,)) if memory.line.attributes.is_pinned else Target(told, (memory,))


class _Search:
    """How well memories fit one sentence."""

    def __init__(self, revision: Revision, before: tuple[str, str], lines: StandingLines) -> None:
        answer, said = before
        # a memory is read by several rules, and the sentence beside each: kept for this one search
        self._values_in, self._subject_in = cache(values_in), cache(lambda text: content(subject_of(text)))
        self._revision = revision
        self._lines, self._rarity, self._own_names = lines, lines.rarity, lines.own_names
        self._old = [(old, words) for old in revision.old if (words := content(old))]
        denied = frozenset[str]().union(*(words for _, words in self._old))
        self._rest = content(revision.rest)
        self._sentence = self._rest | denied
        self._about = content(revision.about) - denied
        self._subject = content(revision.subject)
        self._context = content(revision.context)
        self._spoken = self._sentence | self._about | self._context
        self._answer, self._in_answer = answer, content(answer)
        self._said, in_said = said.casefold(), content(said)
        self._before = self._in_answer | in_said
        self._is_answer = bool(self._before) and (ANSWER in revision.forms or not (self._about or self._subject))
        self._is_move = revision.is_authors and MOVES.search(revision.plain) is not None
        self._clause = again_clause(revision.plain) if AGAIN in revision.forms else ""

    @cached_property
    def similar(self) -> list[Candidate]:
        """The lines that may weigh anything: they share a word, or say where one lived who moves, or came between."""
        found = [*self._near[0], *(self._lines.homes if self._is_move else ()), *self._alike]
        unique = list({one.memory.id: one for one in found}.values())
        return [one for one in unique if self._is_slip(one)] if SLIP in self._revision.forms else unique

    @cached_property
    def _words(self) -> frozenset[str]:
        return self._spoken | self._subject | self._before

    @cached_property
    def _near(self) -> tuple[list[Candidate], float]:
        return self._lines.near(self._words)

    def is_among_many(self, one: Candidate) -> bool:
        """Tell whether lines that were not looked at have about as much of the sentence."""
        _, left_out = self._near
        if self._is_home_left(one):
            # it shares no word
            return False
        return left_out > _CLEARLY * self._lines.weight(one, self._words)

    @cached_property
    def _alike(self) -> list[Candidate]:
        """The lines that are like one that says what holds again."""
        return [near for one in self._restated for near in self._lines.alike(one.words) if near is not one]

    @cached_property
    def _restated(self) -> list[Candidate]:
        """The lines that may say what holds again, outdated ones too: a word of theirs is said."""
        return self._lines.alike(content(self._clause), with_outdated=True) if self._clause else []

    def _is_slip(self, one: Candidate) -> bool:
        """Tell whether a sentence says no more than a memory, and of a person, who does this and that, no less."""
        is_told = self._rest <= one.words | self._values
        if not is_told or _INDEFINITE.match(self._revision.plain):
            return False
        if tells_what_happened(self._revision.plain) and not tells_what_happened(one.text):
            return False
        values = content(" ".join(value.text for value in self._values_in(one.text)))
        return not is_of_person(one.text) or one.words <= self._rest | values

    def weight(self, one: Candidate) -> float:
        """Return how much speaks for a memory; 0 where it does not fit, or the sentence is about something else."""
        fits = self._fit(one)
        names = one.words | self._own_names
        return 0.0 if fits and are_apart(self._revision, one.text, names, self._spoken) else fits

    def _fit(self, one: Candidate) -> float:
        rules = (self._says_old, self._has_other_value, self._is_same_frame, self._is_changed)
        if not any(fits(one) for fits in rules):
            return self._rarity.weight(one.words & self._before) if self._was_answered_wrong(one) else 0.0
        common = self._sentence & one.words
        fit = _MIN + self._rarity.weight(common) * (_HALF + _HALF * self._rarity.share(common, one.words))
        is_home = MOVES.search(self._revision.plain) and HOME.search(one.text)
        return 2 * fit if is_home else fit

    def over(self, one: Candidate, pair: tuple[TypedValue, TypedValue] | None = None) -> Target:
        """Return what is put in the place of a line, and of those that are like it where something holds again."""
        others = self._lines.alike(one.words) if AGAIN in self._revision.forms else ()
        return _over(self._revision, one, others, pair)

    def between(self) -> Target | None:
        """Return what puts an end to what came between, where something holds again that held before."""
        again = AGAIN in self._revision.forms
        between = came_between(self._revision, self.similar, self._restated) if again else None
        return self.over(between) if between else None

    def _share(self, part: frozenset[str], whole: frozenset[str]) -> float:
        """Return how much of the weight of some words those of them have that are in another set."""
        return self._rarity.share(part & whole, whole)

    def _is_same_subject(self, one: Candidate) -> bool:
        """Tell whether nothing says that another is spoken of."""
        subject = self._subject_in(one.text)
        is_about = not self._about or self._share(one.words, self._about) >= _HALF
        if not is_about and self._share(self._spoken - self._about, subject) < _HALF:
            return False
        if self._subject and not self._about and not self._is_named(one, subject):
            return False
        return not (self._revision.is_authors and is_of_other(one.text, self._spoken | self._own_names))

    def _is_named(self, one: Candidate, subject: frozenset[str]) -> bool:
        """Tell whether the words before the verb are a memory's, or the words of its own subject are in the rest."""
        if self._share(one.words, self._subject) >= _WHOLE:
            return True
        share = self._share(self._spoken, subject)
        if self._old and share >= _WHOLE:
            return True
        return bool((self._spoken - self._subject) & subject) and share >= _HALF

    def _says_old(self, one: Candidate) -> bool:
        """Tell whether a memory says what is denied, of the same."""
        revision, text = self._revision, one.text
        is_no_longer = NO_LONGER in revision.forms
        # something is denied, and nothing said that holds instead
        is_bare_denial = NOT_BUT in revision.forms and not revision.has_contrast
        least = _WHOLE if is_bare_denial and not is_no_longer else _MAX
        hits = [
            words
            for old, words in self._old
            # of pairs of signs some lie across two words
            if self._share(one.words, words) >= (_HALF if any(map(HAN_SIGN.match, words)) else least)
            or (len(old) >= _MIN_CHARS and HAN_SIGN.match(old) and old in text)
        ]
        value = one.words - self._subject_in(text)
        if not is_no_longer or not revision.has_contrast:
            hits = [old for old in hits if old & value or self._about & value]
        if not hits or not self._is_same_subject(one) or _NEGATIVE.search(text):
            return False
        if self._about or (self._rest - content(revision.new) | self._context) & one.words:
            return True
        folded = text.casefold()
        if any(" " in old and old.casefold() in folded for old in revision.old):
            return True
        # of what is named nowhere else, the value alone says which one is meant: a name, a number; in German any noun
        # has a capital
        is_any_noun = set(revision.forms) == {NOT_BUT} and _GERMAN_AUTHOR.match(revision.plain)
        is_significant = any(map(_NAME.search, revision.old)) and not (
            is_any_noun or (revision.has_pronoun and not self._context and not revision.has_contrast)
        )
        return (is_significant or len(hits[0]) > 1) and not any(
            self._is_same_subject(other) for other in self._lines.having(hits[0]) if other is not one
        )

    def _has_other_value(self, one: Candidate) -> bool:
        """Tell whether a memory has another value of the same type, of the same."""
        if self._old or not self._is_same_subject(one):
            return False
        pair = new_value(one.text, self._revision.plain, read=self._values_in)
        if pair is None or is_of_other_clause(self._revision.plain, pair[1], one.words):
            return False
        spoken = self._rest | self._about
        other = spoken - content(pair[1].text) - one.words
        if len(other) > _FOREIGN * len(spoken & one.words) and not HAN_SIGN.search(self._revision.plain):
            return False
        subject, fixed = self._subject_in(one.text), one.words - content(pair[0].text)
        return self._share(spoken, subject) >= _SUBJECT or self._share(spoken, fixed) >= _MAX

    def _is_same_frame(self, one: Candidate) -> bool:
        """Tell whether all that a memory says beside its last words is said, with other words at the same place."""
        if self._old or not self._is_same_subject(one):
            return False
        pair = new_value(one.text, self._revision.plain, is_loose=True, read=self._values_in)
        return pair is not None and self._share(self._spoken, one.words - content(pair[0].text)) >= _WHOLE

    def _is_changed(self, one: Candidate) -> bool:
        """Tell whether a memory says nothing but what the thing is, of which a change is told."""
        revision, about = self._revision, self._about or self._subject
        if self._old or not {CHANGE, CORRECTION} & set(revision.forms):
            return False
        if not revision.is_authors and about and AUTHOR.match(one.text):
            # what its author does at a thing is not what that is
            return False
        if CHANGE in revision.forms and not (revision.new and _is_value(revision)):
            return False
        new = content(revision.new)
        if new and new <= one.words:
            return False
        if not about:
            return self._is_home_left(one)
        is_about = min(self._share(one.words, about), self._share(about, self._subject_in(one.text))) >= _MAX
        if not is_about or not self._is_same_subject(one):
            return False
        return may_change_to(one.text, revision.new, read=self._values_in)

    def _is_home_left(self, one: Candidate) -> bool:
        return self._is_move and says_home(one)

    @cached_property
    def _values(self) -> frozenset[str]:
        """The words of the values that the sentence says."""
        return content(" ".join(value.text for value in self._values_in(self._revision.rest)))

    def _was_answered_wrong(self, one: Candidate) -> bool:
        """Tell whether what was said before is what a memory says, and the sentence has another value for it.

        An answer says it in words of its own and of what was asked; of what the author said it is what was kept.
        """
        if not self._is_answer:
            return False
        revision = self._revision
        pair = other_number(revision, one.text)
        if pair is not None and len(pair[0].text) >= _MIN_CHARS and says(self._said, pair[0].text):
            return True
        is_bare = pair is not None
        pair = pair or new_value(one.text, revision.rest, is_loose=revision.has_verb, read=self._values_in)
        if pair is None or (revision.old and not any(says(old, pair[0].text) for old in revision.old)):
            return False
        if not is_bare and not revision.has_verb and self._says_more(pair[1].start, one):
            return False
        fixed = one.words - content(pair[0].text)
        return one.text.casefold() in self._said or (
            says(self._answer, pair[0].text)
            and any(self._share(self._before, words) >= _HALF for words in (fixed, self._subject_in(one.text)))
        )

    def _says_more(self, start: int, one: Candidate) -> bool:
        """Tell whether a sentence of few words is about something else than its value: `no lunch on Tuesday`."""
        before = self._revision.rest[:start]
        return _OF_OTHER.search(before) is not None or not self._rest <= self._values | one.words | self._before


_OF_OTHER = caseless(r"\bno\b|\b(?:about|for|until|till|before|after|since)(?: the)?\s*\Z")
"""Before a value that is none of what was said: `sorry for Tuesday`, `wait till Tuesday`."""
_CALLED = caseless(r"\b(?:renam|switch|chang|migrat|upgrad)ed to\b")
_NAME = expression(rf"[A-Z0-9]|[{HAN}]")


def _is_value(revision: Revision) -> bool:
    """Tell whether what holds now is a name or a value, or the one word of what is called or taken otherwise."""
    is_word = bool(_CALLED.search(revision.plain)) and " " not in revision.new.strip()
    return is_word or bool(_NAME.search(revision.new) or values_in(revision.new))


def _over(
    revision: Revision,
    candidate: Candidate,
    alike: Iterable[Candidate],
    pair: tuple[TypedValue, TypedValue] | None = None,
) -> Target:
    """Return what a sentence puts in the place of a line; `pair`: of which the one value alone is another."""
    memory = candidate.memory
    if are_of_other_times(revision, candidate.text):
        # both hold
        return Target(revision.text)
    text = renewed(revision, candidate.text)
    if text == revision.text and still_holds(revision, candidate.text):
        pair = (
            pair
            or replaced_value(new_values_of(revision), candidate.text, candidate.words)
            or other_name(revision, candidate.text)
        )
        if pair is None:
            return Target(text, disputed=(memory,))
        text = exchanged(candidate.text, pair)
    # what was so before is said anew: the oldest line goes with the one between
    same = [one.memory for one in alike if one.memory is not memory and are_same_but_one(one.memory, memory)]
    return Target(text, superseded=(memory, *same))

"""Search for the memory that a sentence revises, and the text of the new line: pure rules over the book.

A memory fits if it states what the sentence denies, has another value of the same type, or states what a change is
about, and if both are about the same thing. Words weigh by their rarity in the book. If exactly one memory fits
clearly, it is superseded. If two or three fit, the new line contradicts them. If more fit, nothing is revised.

If the old line says more than what changes, the new line is the old line with a single value exchanged, or else the
sentence together with the old line, so that the rest stays known.
"""

from datetime import date
from functools import cache, cached_property
from itertools import islice

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.agreement import (
    HOME,
    MOVES,
    NEGATIVE,
    have_exclusive_times,
    is_about_other_person,
    is_bare_place,
    is_in_other_clause,
    is_unrelated,
    match_person,
)
from memoryd.domain.memories.capture.cues import (
    AGAIN,
    ANSWER,
    CHANGE,
    CORRECTION,
    NO_LONGER,
    NOT_BUT,
    NOW,
    SLIP,
    again_clause,
)
from memoryd.domain.memories.capture.exchange import (
    differ_in_one_value,
    has_other_clause,
    line_between,
    number_pair,
    renew_line,
)
from memoryd.domain.memories.capture.lines import LOCK, Candidate, ValidLines, says_home
from memoryd.domain.memories.capture.outdating import RankedLine, rank_outdated
from memoryd.domain.memories.capture.rejections import says_secret
from memoryd.domain.memories.capture.revisions import AUTHOR, Revision, subject_of
from memoryd.domain.memories.capture.values import (
    ContentWords,
    content,
    has_another_word,
    may_change_to,
    new_value,
    states_value,
    values_in,
)
from memoryd.domain.memories.facts.values import HAN, HAN_SIGN, WEEKDAY, is_past_event
from memoryd.domain.memories.generated import message_about
from memoryd.domain.redaction import redact
from memoryd.domain.text.dates import MONTH

_HALF = 0.5
_MAX = 0.6
_MIN = 0.1
"""Weight of a memory that fits by its kind alone, without a common word."""
_COMPLETE = 0.95
_SUBJECT = 0.4
"""Share of a memory's subject that a sentence with another value must name; sentences name it more briefly."""
_CLEARLY = 0.75
"""Share of the best weight above which another memory may be meant, too."""
_FOREIGN = 2
"""Most other words of a sentence for each word in common with a memory; with more it is about something else."""
_DISPUTED_MAX = 3
_MIN_CHARS = 3
_INDEFINITE = caseless(r"\W*(?:(?:the|der|die|das) (?:other|ander\w+)|one|an?|some|eine?r?)\b")
_GERMAN_AUTHOR = caseless(r"\W*(?:ich|wir)\b")


class Target(Struct, frozen=True):
    """Result of a revision: the new text, and the memories that it revises; none if both are valid."""

    text: str
    superseded: tuple[Memory, ...] = ()
    disputed: tuple[Memory, ...] = ()
    """Memories, one of which the sentence may mean."""


def find_target(
    revision: Revision,
    book: Book,
    *,
    scope: str,
    day: date | None,
    answer_before: str,
    said_before: str,
) -> Target | None:
    """Return what a sentence revises among the memories of its scope that are valid on a day; None if nothing fits.

    The sentence may reply to the assistant's `answer_before`, or to its author's own words, `said_before`.
    """
    with LOCK:
        lines = ValidLines(book, scope, day)
        return _target(_Search(revision, (answer_before, said_before), lines), revision)


def _target(search: "_Search", revision: Revision) -> Target | None:
    weighed = [(weight, candidate) for candidate in search.similar if (weight := search.weight(candidate)) > 0]
    if not weighed:
        return search.between()
    weighed.sort(key=lambda pair: (pair[0], pair[1].memory.recorded, pair[1].memory.id), reverse=True)
    best = [candidate for weight, candidate in weighed if weight > _CLEARLY * weighed[0][0]]
    if len(best) > _DISPUTED_MAX or search.is_among_many(best[0]):
        return None
    if len(best) == 1 and not is_bare_place(revision, best[0].text):
        return search.over(best[0])
    return Target(revision.text, disputed=tuple(candidate.memory for candidate in best))


def is_of_request(revision: Revision, *before: str) -> bool:
    """Return whether a fragment denies what neither text before it says: it is about what is to be done."""
    old = content(" ".join(revision.old))
    said = frozenset[str]().union(*map(content, before))
    return ANSWER in revision.forms and not revision.has_verb and bool(old) and old.isdisjoint(said)


_HOMES_MAX = 2
"""Most lines about the author's home that are compared without a common word."""
_LINE_CHARS_MAX = 200
"""Length limit of a line, which is repeated in the new line."""
_MOVES_HOUSE = caseless(r"\b(mov(?:ed?|es|ing)) (?:house|home)s?\b")
"""The house that is left or reached, not one that a line is about."""


def most_likely_outdated(
    text: str, book: Book, *, scope: str, day: date | None, answer_before: str
) -> RankedLine | None:
    """Return the line that a message most likely outdates; None if there is no line to compare."""
    with LOCK:
        lines = ValidLines(book, scope, day)
        said = _MOVES_HOUSE.sub(r"\1", text)
        near, _ = lines.near(content(said) | content(answer_before))
        unique = {line.memory.id: line for line in (*near, *islice(lines.homes, _HOMES_MAX))}
        short = [line for line in unique.values() if len(line.text) <= _LINE_CHARS_MAX]
        return next(iter(rank_outdated(said, answer_before, short, lines.rarity)), None)


def with_line(text: str, line: Candidate) -> Target | None:
    """Return the target that replaces a line by a message together with it; None if they cannot be stored together."""
    new = message_about(text, line.text)
    # a message that repeats the line confirms it
    is_repeated = line.text.rstrip(".。!！").casefold() in text.casefold()
    if is_repeated or says_secret(new) or redact(new) != new:
        return None
    is_pinned = line.memory.line.attributes.is_pinned
    return Target(new, disputed=(line.memory,)) if is_pinned else Target(new, (line.memory,))


class _Search:
    """Search for the memories that one sentence revises."""

    def __init__(self, revision: Revision, before: tuple[str, str], lines: ValidLines) -> None:
        answer, said_before = before
        # several rules parse the same memory, and the sentence for each memory: cached for this search
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
        self._answer = answer
        self._said_before = said_before.casefold()
        self._before = content(answer) | content(said_before)
        self._is_of_request = is_of_request(revision, *before)
        self._is_answer = bool(self._before) and (ANSWER in revision.forms or not (self._about or self._subject))
        self._is_move = revision.is_authors and MOVES.search(revision.plain) is not None
        self._clause = again_clause(revision.plain) if AGAIN in revision.forms else ""

    @cached_property
    def similar(self) -> list[Candidate]:
        """Candidates: lines with a common word, the author's home for a move, and lines that came between."""
        lines = [*self._near[0], *(self._lines.homes if self._is_move else ()), *self._alike]
        unique = list({line.memory.id: line for line in lines}.values())
        return list(filter(self._is_slip, unique)) if SLIP in self._revision.forms else unique

    @cached_property
    def _words(self) -> ContentWords:
        return self._spoken | self._subject | self._before

    @cached_property
    def _near(self) -> tuple[list[Candidate], float]:
        return self._lines.near(self._words)

    def is_among_many(self, line: Candidate) -> bool:
        """Return whether lines over the limit have about as much in common with the sentence as this line."""
        # an old home shares no word with the sentence
        _, left_out = self._near
        return not self._is_home_left(line) and left_out > _CLEARLY * self._lines.weight(line, self._words)

    @cached_property
    def _alike(self) -> list[Candidate]:
        """Lines similar to a line that is valid again."""
        return [near for line in self._restated for near in self._lines.alike(line.words) if near is not line]

    @cached_property
    def _restated(self) -> list[Candidate]:
        """Lines, outdated ones included, that may be valid again: they share a word with the clause of `again`."""
        return self._lines.alike(content(self._clause), with_outdated=True) if self._clause else []

    def _is_slip(self, line: Candidate) -> bool:
        """Return whether a memory contains all words of a sentence, apart from values.

        A memory about a person, who may do several things, must also contain no other words.
        """
        is_contained = self._rest <= line.words | self._values
        if not is_contained or _INDEFINITE.match(self._revision.plain):
            return False
        if is_past_event(self._revision.plain) and not is_past_event(line.text):
            return False
        return not match_person(line.text) or line.words <= self._rest | self._value_words(line.text)

    def weight(self, line: Candidate) -> float:
        """Return the weight of a memory; 0 if it does not fit, or if the sentence is about something else."""
        fits = self._fit(line)
        names = line.words | self._own_names
        return 0.0 if fits and is_unrelated(self._revision, line.text, names, self._spoken) else fits

    def _fit(self, line: Candidate) -> float:
        rules = (self._says_old, self._has_other_value, self._is_same_frame, self._is_changed)
        if not any(fits(line) for fits in rules):
            return self._rarity.weight(line.words & self._before) if self._was_answered_wrong(line) else 0.0
        common = self._sentence & line.words
        fit = _MIN + self._rarity.weight(common) * (_HALF + _HALF * self._rarity.share(common, line.words))
        is_home = MOVES.search(self._revision.plain) and HOME.search(line.text)
        return 2 * fit if is_home else fit

    def over(self, line: Candidate) -> Target:
        """Return the target that replaces a line; for a value that is valid again, also the lines similar to it."""
        revision, memory, text = self._revision, line.memory, line.text
        if have_exclusive_times(revision, text):
            return Target(revision.text)  # both are valid
        new = renew_line(revision, text)
        if new == revision.text and has_other_clause(revision, text):
            # the rest of the line stays valid
            return with_line(new, line) or Target(new, disputed=(memory,))
        # the value is stated again, so its oldest line is superseded with the line that came between
        alike = self._lines.alike(line.words) if AGAIN in revision.forms else ()
        memories = [other.memory for other in alike]
        same = [other for other in memories if other is not memory and differ_in_one_value(other, memory)]
        return Target(new, superseded=(memory, *same))

    def between(self) -> Target | None:
        """Return the target that replaces the line between a former value and the same value again, if there is one."""
        again = AGAIN in self._revision.forms
        between = line_between(self._revision, self.similar, self._restated) if again else None
        return self.over(between) if between else None

    def _share(self, part: ContentWords, words: ContentWords) -> float:
        """Return the share of the weight of `words` that is in `part`."""
        return self._rarity.share(part & words, words)

    def _is_same_subject(self, line: Candidate) -> bool:
        """Return whether nothing shows that sentence and memory have different subjects."""
        subject = self._subject_in(line.text)
        is_about = not self._about or self._share(line.words, self._about) >= _HALF
        if not is_about and self._share(self._spoken - self._about, subject) < _HALF:
            return False
        if self._subject and not self._about and not self._is_named(line, subject):
            return False
        return not (self._revision.is_authors and is_about_other_person(line.text, self._spoken | self._own_names))

    def _is_named(self, line: Candidate, subject: ContentWords) -> bool:
        """Return whether the memory contains the words before the verb, or the rest of the sentence its subject."""
        if self._share(line.words, self._subject) >= _COMPLETE:
            return True
        share = self._share(self._spoken, subject)
        if self._old and share >= _COMPLETE:
            return True
        return bool((self._spoken - self._subject) & subject) and share >= _HALF

    def _says_old(self, line: Candidate) -> bool:
        """Return whether a memory states what the sentence denies, about the same thing."""
        revision, text = self._revision, line.text
        if self._is_of_request:
            return False
        is_no_longer = NO_LONGER in revision.forms
        # a denial without a new value
        is_bare_denial = NOT_BUT in revision.forms and not revision.has_contrast
        least = _COMPLETE if is_bare_denial and not is_no_longer else _MAX
        hits = [
            words
            for old, words in self._old
            # a lower share for Chinese, where some pairs of characters span two words
            if self._share(line.words, words) >= (_HALF if any(map(HAN_SIGN.match, words)) else least)
            or (len(old) >= _MIN_CHARS and HAN_SIGN.match(old) and old in text)
        ]
        value = line.words - self._subject_in(text)
        if not is_no_longer or not revision.has_contrast:
            hits = [old for old in hits if old & value or self._about & value]
        if not hits or not self._is_same_subject(line) or NEGATIVE.search(text):
            return False
        if self._about or (self._rest - content(revision.new) | self._context) & line.words:
            return True
        folded = text.casefold()
        if any(" " in old and old.casefold() in folded for old in revision.old):
            return True
        # Without any other word in common, the old value must identify the memory: a name or a number, but no day. In
        # German a capital shows no name.
        is_any_noun = set(revision.forms) == {NOT_BUT} and _GERMAN_AUTHOR.match(revision.plain)
        is_significant = any(_NAME.search(old) and not _DAY.fullmatch(old) for old in revision.old) and not (
            is_any_noun or (revision.has_pronoun and not self._context and not revision.has_contrast)
        )
        return (is_significant or len(hits[0]) > 1) and not any(
            self._is_same_subject(other) for other in self._lines.having(hits[0]) if other is not line
        )

    def _has_other_value(self, line: Candidate) -> bool:
        """Return whether a memory has another value of the same type, about the same thing."""
        if self._old or not self._is_same_subject(line):
            return False
        pair = new_value(line.text, self._revision.plain, read=self._values_in)
        if pair is None or is_in_other_clause(self._revision.plain, pair[1], line.words):
            return False
        spoken = self._rest | self._about
        other = spoken - content(pair[1].text) - line.words
        if len(other) > _FOREIGN * len(spoken & line.words) and not HAN_SIGN.search(self._revision.plain):
            return False
        subject, fixed = self._subject_in(line.text), line.words - content(pair[0].text)
        return self._share(spoken, subject) >= _SUBJECT or self._share(spoken, fixed) >= _MAX

    def _is_same_frame(self, line: Candidate) -> bool:
        """Return whether the sentence says the same as a memory, but for its last phrase, or for one word and `now`."""
        if self._old or not self._is_same_subject(line):
            return False
        if NOW in self._revision.forms and has_another_word(line.text, self._revision.plain):
            return True
        pair = new_value(line.text, self._revision.plain, is_loose=True, read=self._values_in)
        return pair is not None and self._share(self._spoken, line.words - content(pair[0].text)) >= _COMPLETE

    def _is_changed(self, line: Candidate) -> bool:
        """Return whether a memory states the value of the thing that the sentence changes."""
        revision, about = self._revision, self._about or self._subject
        if self._old or not {CHANGE, CORRECTION} & set(revision.forms):
            return False
        if not revision.is_authors and about and AUTHOR.match(line.text):
            # the memory is about its author, not about the thing
            return False
        home = HOME.search(line.text) if MOVES.search(revision.plain) else None
        if CHANGE in revision.forms and not (revision.new and (home or _is_value(revision))):
            return False
        new = content(revision.new)
        if new and new <= line.words:
            return False
        if not about:
            return self._is_home_left(line)
        is_about = min(self._share(line.words, about), self._share(about, self._subject_in(line.text))) >= _MAX
        # my sister is called Karin and lives in Graz
        is_at_home = home is not None and self._share(content(line.text[: home.start()]), about) >= _COMPLETE
        if not (is_about or is_at_home) or not self._is_same_subject(line):
            return False
        return may_change_to(line.text, revision.new, read=self._values_in)

    def _is_home_left(self, line: Candidate) -> bool:
        return self._is_move and says_home(line)

    @cached_property
    def _values(self) -> ContentWords:
        """Content words of the values in the sentence."""
        return self._value_words(self._revision.rest)

    def _value_words(self, text: str) -> ContentWords:
        return content(" ".join(value.text for value in self._values_in(text)))

    def _was_answered_wrong(self, line: Candidate) -> bool:
        """Return whether the text before the sentence states a memory, and the sentence another value for it.

        An answer may state it in its own words and those of the question; the author's text must contain the memory.
        """
        if not self._is_answer:
            return False
        revision = self._revision
        pair = number_pair(revision, line.text)
        if pair is not None and len(pair[0].text) >= _MIN_CHARS and states_value(self._said_before, pair[0].text):
            return True
        is_bare = pair is not None
        pair = pair or new_value(line.text, revision.rest, is_loose=revision.has_verb, read=self._values_in)
        if pair is None or (revision.old and not any(states_value(old, pair[0].text) for old in revision.old)):
            return False
        if not is_bare and not revision.has_verb and self._says_more(pair[1].start, line):
            return False
        fixed = line.words - content(pair[0].text)
        return line.text.casefold() in self._said_before or (
            states_value(self._answer, pair[0].text)
            and any(self._share(self._before, words) >= _HALF for words in (fixed, self._subject_in(line.text)))
        )

    def _says_more(self, start: int, line: Candidate) -> bool:
        """Return whether a short sentence is about something else than its value: `no lunch on Tuesday`."""
        before = self._revision.rest[:start]
        return _OF_OTHER.search(before) is not None or not self._rest <= self._values | line.words | self._before


_OF_OTHER = caseless(r"\bno\b|\b(?:about|for|until|till|before|after|since)(?: the)?\s*\Z")
"""Before a value of another thing: `sorry for Tuesday`, `wait till Tuesday`."""
_CALLED = caseless(r"\b(?:renam|switch|chang|migrat|upgrad)ed to\b")
_NAME = expression(rf"[A-Z0-9]|[{HAN}]")
_DAY = caseless(rf"\W*(?:{WEEKDAY}|{MONTH})\W*")


def _is_value(revision: Revision) -> bool:
    """Return whether the new value is a name or a typed value, or the single word of a renaming or a switch."""
    is_word = bool(_CALLED.search(revision.plain)) and " " not in revision.new.strip()
    return is_word or bool(_NAME.search(revision.new) or values_in(revision.new))

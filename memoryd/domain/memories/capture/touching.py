"""Which memory a sentence touches that says, in whatever form, that something is otherwise now.

No form tells it, but a sum of evidence: the words that both have, by how rare they are among the memories; those of an
answer that the sentence takes up; another value of the same type; the old value, in a clause by which something ended.
The line that has clearly the most is meant.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.capture.agreement import (
    ATTRIBUTES,
    OF_SORT,
    OWNED,
    are_of_other_things,
    is_of_other,
    is_of_person,
    is_single_event,
)
from memoryd.domain.memories.capture.cues import (
    AGAIN_WORDS,
    ENDED,
    NOT_BUT,
    begins_gone,
    has_gone,
    lasts_by_word,
    over_in,
    says_now,
    says_wrong,
)
from memoryd.domain.memories.capture.exchange import (
    are_same_but_one,
    bare_clause,
    difference,
    other_count,
    other_han_value,
)
from memoryd.domain.memories.capture.lines import Candidate
from memoryd.domain.memories.capture.revisions import AUTHOR, STATES, Revision, is_chinese, subject_of
from memoryd.domain.memories.capture.values import NUMERAL, TIMES, Rarity, TypedValue, content, new_value, values_in
from memoryd.domain.memories.facts.values import HAN_SIGN, PRESENT, WEEKDAY, tells_what_happened
from memoryd.domain.text.dates import MONTH

TOUCHED_MIN = 0.75
"""Of the evidence for a line: one word that hardly another memory has."""
KEPT_MIN = 1.75
"""What is kept though it says nothing against the line: two such words, nearly."""
CLEARLY = 0.5
"""By so much the best line is ahead of the next."""
_AKIN = 0.5
"""A word akin to one of the line."""
_STEM = 4
"""Letters of the shorter one of two words that are akin."""
_HEARD = 1.5
"""An answer told the line, and the sentence answers that."""
_VALUE = 1.0
"""The old value is said where something ended, or another one of its type."""
_HALF = 0.5
_MOST = 0.6
"""Of a line: what ends all of it says so much of it."""
_HAN_PART = 0.3
"""Of the pairs of signs some lie across two words."""


class Claim(IntEnum):
    """What a sentence says of the line that it touches: `ADDS` says what is new, and nothing against the line."""

    NOTHING = 0
    ADDS = 1
    DOUBTS = 2
    REPLACES = 3


class Touch(Struct, frozen=True):
    """How much speaks for one memory, and what the sentence says of it."""

    candidate: Candidate
    weight: float
    claim: Claim
    pair: tuple[TypedValue, TypedValue] | None = None
    """The value that the line gives, and what it is now."""


_CLAUSES = expression(r"[,;:，；：。!！](?!\d)\s*|\.\s+|\s(?:and|but|so|because|und|aber)\s|\s[–—-]+\s")
_VERB = caseless(rf"\b(?:{PRESENT})\b|(?<=\w)['’]s(?= (?:a|an|the|in|on|at|with|by)\b)")
_NAMES = expression(rf"(?<!\A)\b(?!(?i:{WEEKDAY}|{MONTH}|I)\b)[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*|\b\w*\d[\w:.,-]*")
_OWNS = expression(r"(?:['’]s|s['’])(?= (?!(?:now|instead|these|from|since|again)\b)\w)")
_LISTED = expression(r"[,;，；、]\s*|\s(?:and|or|und|oder)\s")
_OPEN = caseless(
    r"\W*(?:it|they|he|she|that|those|es|er|sie)(?:['’ ]|\Z)"
    r"|\W*(?:而|现在|以后|应该|已经|都|就)*[是在由找归用改换去叫从跟]"
)
"""A clause that says of what it is by a pronoun, or not at all."""
_SINCE = caseless(r"\b(?:since|from|as of|starting)(?: the)? [\w ]{2,24}\Z")
_SINCE_FIRST = caseless(r"\A\W*(?:as of|since|from|starting)\b[\w ]{2,20}?,? (?=(?:we|i|the|our|my|they)\b)")
_PLACED = caseless(
    r".*\b(?P<join>on|at|with|through|by|via|from)(?: the)? (?P<name>(?-i:[A-Z])[\w' ’-]*?)(?: now| instead)?\W*\Z"
)
_IS = caseless(r"(?<=\w)['’]s (?=(?:now )?(?:\w+ed|done|run|made|sold|kept|held|from|in|on|at|by|with|an?|the)\b)")
_WHO_MOVED = caseless(
    r"\A.*?\b(?:put|puts|raised?|lowered|moved|changed|cut|increased|reduced|bumped|pushed|set) "
    r"(?=(?:the|our|my|his|her|their|its)\b)"
)
"""Who changes a thing is not what is spoken of."""
_EACH = expression(r"[一每][节次个月年天周位人晚堂张份]")
_LAST_STOP = expression(r"[.!]+\s*\Z")
_NUMERAL = caseless(rf"\b(?:{NUMERAL}|\d+)\b")
_TOPIC_SIGNS = 2


def touched(
    revision: Revision,
    standing: Sequence[Candidate],
    rarity: Rarity,
    *,
    answer: str,
    own_names: frozenset[str],
) -> Touch | None:
    """Return the line that a sentence touches clearly more than any other; None if it touches none, or several."""
    sentence = _Sentence(revision, rarity, answer, own_names)
    touches = [touch for one in standing if (touch := sentence.touch(one)).weight >= TOUCHED_MIN]
    touches.sort(key=lambda one: one.weight, reverse=True)
    if not touches:
        return None
    is_clear = len(touches) == 1 or touches[0].weight >= touches[1].weight + CLEARLY
    best = touches[0]
    return best if is_clear else replace(best, claim=min(best.claim, Claim.ADDS))


def came_between(
    revision: Revision, standing: Sequence[Candidate], candidates: Sequence[Candidate]
) -> Candidate | None:
    """Return the one line that says otherwise than what a sentence says to hold again, and than what held before.

    The sentence says of what both are, or what came between: what happened to a value once more is no return to it.
    """
    clauses = [one for one in _CLAUSES.split(revision.plain) if any(again.search(one) for again in AGAIN_WORDS)]
    again, said = content(" ".join(clauses)), content(revision.plain)
    found = dict[str, Candidate]()
    for before in candidates if again else ():
        if before.words.isdisjoint(again):
            continue  # of thousands hardly one
        for one in standing:
            if one is before or not are_same_but_one(before.memory, one.memory):
                continue
            old, new = difference(before.text, one.text), difference(one.text, before.text)
            is_named = not said.isdisjoint(before.words & one.words - content(old)) or _says(said, content(new))
            if is_named and _is_said(old, clauses) and not _is_said(new, clauses):
                found[one.memory.id] = one
    return next(iter(found.values())) if len(found) == 1 else None


def _is_said(value: str, clauses: Sequence[str]) -> bool:
    return any(value in one if HAN_SIGN.match(value) else _says(content(one), content(value)) for one in clauses)


def _says(words: frozenset[str], value: frozenset[str]) -> bool:
    """Tell whether words name a value, all of it or by half."""
    least = _HAN_PART if _is_han(value) else _HALF
    return bool(value) and len(words & value) >= least * len(value)


class _Line(Struct, frozen=True):
    """A line taken apart: the words of its values, by whether these are names, and those of what they are of."""

    words: frozenset[str]
    values: tuple[frozenset[str], ...]
    has_names: bool
    is_gone: bool

    @property
    def topic(self) -> frozenset[str]:
        """All its words but those of its values."""
        return self.words.difference(*self.values)


def _line(one: Candidate) -> _Line:
    text = one.text
    subject = subject_of(text)
    if is_chinese(text):
        # where no verb is known what it is about comes first
        subject = subject if len(subject) < len(text.rstrip("。.")) else text[:_TOPIC_SIGNS]
        text = text[len(subject) :]
    elif (verb := _VERB.search(text)) and verb.start() > len(subject):
        subject = text[: verb.start()]
    thing = content(" ".join((subject, *one.memory.line.entities)))
    names = [words for name in _NAMES.findall(text) if (words := content(name) - thing)]
    rest = [words for part in _LISTED.split(text) if (words := content(part) - thing)]
    return _Line(one.words, tuple(names or rest), bool(names), has_gone(one.text))


class _Clause:
    """A clause of a sentence: its words, those of names in it, and what it says to be over."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text, self.words, self.at = text, content(text), at
        self.is_open = _OPEN.match(text) is not None
        names = _NAMES.finditer(f" {text}")
        self.names = content(" ".join(one[0] for one in names if not _OWNS.match(f" {text}", one.end() - 2)))
        self.is_gone, self.is_now = has_gone(text), says_now(text)
        self.over = content(over_in(text))

    @cached_property
    def bare(self) -> frozenset[str]:
        """Its words without those by which something ends, and without numbers."""
        text = self.text
        for one in (*ENDED, _NUMERAL):
            text = one.sub(" ; ", text)
        return content(text)

    def states_more(self, line: _Line) -> bool:
        """Tell whether it is no order, and says what a line does not."""
        return bool(self.words - line.words) and STATES.search(self.text) is not None

    def says_new(self, line: _Line, *, is_corrected: bool = False) -> bool:
        """Tell whether it gives what a line is of another value, of names another name."""
        is_named = line.has_names and not _is_han(line.words)
        fresh = (self.names if is_named else self.words) - line.words
        is_of_topic = not self.words.isdisjoint(line.topic) or bool(_akin(self.words, line.topic))
        return bool(fresh) and (self.is_open or (is_of_topic and (is_named or self.is_now or is_corrected)))


class _Sentence:
    """A sentence that says that something is otherwise, to be held against lines."""

    def __init__(self, revision: Revision, rarity: Rarity, answer: str, own_names: frozenset[str]) -> None:
        self._revision, self._rarity, self._own_names = revision, rarity, own_names
        self._said, self._answer = content(revision.plain), content(answer)
        self._unit = rarity.weight(("\0",)) or 1.0
        self._clauses = [_Clause(one, at) for at, one in enumerate(_CLAUSES.split(revision.plain)) if one]
        self._denied = frozenset[str]().union(*map(content, revision.old))
        # what is said beside what is denied in the same clause: not X but Y, from X to Y
        rest = _Clause(revision.rest)
        self._rest = [rest] if self._denied and (revision.new or NOT_BUT in revision.forms) else []

    def _weight(self, words: Iterable[str]) -> float:
        """Return how much words say: one 1, that a single memory has."""
        return self._rarity.weight(words) / self._unit

    def touch(self, one: Candidate) -> Touch:
        """Return what speaks for a line, and what is said of it."""
        line = _line(one)
        akin = _akin(self._said - one.words, one.words)
        is_answer = self._was_told(line)
        ended = [clause for clause in self._clauses if any(_says(clause.over, value) for value in line.values)]
        ended = ended or self._left_behind(line)
        is_denied = any(_says(self._denied, value) for value in line.values)
        pair = new_value(one.text, self._revision.rest, is_loose=is_answer and self._revision.has_verb)
        weight = self._weight(self._said & one.words) + _AKIN * len(akin) + _HEARD * is_answer
        weight += _VALUE * (bool(ended) or is_denied) + _VALUE * (pair is not None)
        if weight < TOUCHED_MIN:
            return Touch(one, weight, Claim.NOTHING)
        claim = self._of_ended(line, ended, is_denied=is_denied, is_answer=is_answer)
        if is_answer and any(clause.is_open and _is_instead(one.text, clause.text, pair) for clause in self._clauses):
            claim = Claim.REPLACES
        pair = self._only_value(one)
        claim = Claim.REPLACES if pair or self._has_other_values(one) else max(claim, self._of_new(line))
        if claim and is_of_other(one.text, self._said | self._own_names):
            person = is_of_person(one.text)
            # all is said but of whom
            is_all = person is not None and one.words - content(person[0]) <= self._said
            return Touch(one, weight, min(claim, Claim.DOUBTS) if is_all else Claim.NOTHING)
        return Touch(one, weight, Claim.NOTHING if claim and self._is_elsewhere(one, line) else claim, pair)

    def _of_ended(self, line: _Line, ended: Sequence[_Clause], *, is_denied: bool, is_answer: bool) -> Claim:
        """Return what is said of a line the value of which is over: beside that has to be said what is instead."""
        beside = [one for one in self._clauses if one not in ended]
        if ended and self._left_behind(line):
            return Claim.REPLACES
        new = [*beside, *(self._rest if is_denied else ())] if ended or is_denied else []
        is_wrong = says_wrong(self._revision.plain)
        if any(one.says_new(line, is_corrected=is_wrong) or (is_answer and one.states_more(line)) for one in new):
            return Claim.REPLACES
        said = self._weight(self._said & line.words)
        least = _HAN_PART if _is_han(line.words) else _MOST
        is_whole = said >= least * self._weight(line.words)
        value = line.words - line.topic
        gone = [one for one in self._clauses if one.is_gone and one.bare & value]
        if is_whole and not line.is_gone and any(one.bare <= line.words for one in gone):
            return Claim.REPLACES
        is_bare = any(one.bare <= value for one in ended if one.is_gone)
        is_told = any(one.is_now and one.words - line.words for one in beside)
        return Claim.DOUBTS if is_bare and is_told else Claim.NOTHING

    def _left_behind(self, line: _Line) -> list[_Clause]:
        """Return the clauses with the old value where another says what there is now in its place."""
        with_old = [one for one in self._clauses if any(_says(one.words, value) for value in line.values)]
        names = self._said - line.words
        for one in self._clauses if with_old else ():
            is_of_topic = not one.words.isdisjoint(line.topic) or (one.is_open and line.topic & self._said)
            if one in with_old or not one.is_now or not is_of_topic:
                continue
            # her name stands in the other: he handed it over to Ms Okoro, she's our lawyer now
            fresh = one.names | (frozenset[str]().union(*(old.names for old in with_old)) if one.is_open else one.names)
            if (_is_han(line.words) and with_old[0].at < one.at and one.words - line.words) or (
                line.has_names and fresh & names
            ):
                return with_old
        return []

    def _of_new(self, line: _Line) -> Claim:
        """Return what a sentence adds that says what is new of what a line is of."""
        topic = line.topic
        is_named = self._weight(self._said & topic) >= _HALF * self._weight(topic)
        new = [one for one in self._clauses if one.is_now and one.says_new(line) and one.names - line.words]
        if not topic or not is_named or not new:
            return Claim.NOTHING
        is_placed = line.has_names and not any(_says(self._said, value) for value in line.values)
        places = [found["name"] for one in new if (found := _PLACED.match(_SINCE.sub("", one.text)))]
        return Claim.DOUBTS if is_placed and any(content(one) - line.words for one in places) else Claim.ADDS

    def _only_value(self, one: Candidate) -> tuple[TypedValue, TypedValue] | None:
        """Return the value of a line and the other one of a clause that says nothing else than what that is of."""
        old, new = one.text, self._revision.rest
        pair = new_value(old, new) or other_count(old, new)
        if pair is not None and self._names(one) and self._says_only(pair[1].text, one):
            return pair
        return other_han_value(old, new) if self._said & _line(one).topic else None

    def _has_other_values(self, one: Candidate) -> bool:
        """Tell whether a sentence has others for all times, days and amounts of a line, and says nothing else of it."""
        mine, theirs = ({value.kind: value for value in values_in(text)} for text in (one.text, self._revision.rest))
        kinds = [kind for kind in mine if kind in TIMES or kind.startswith("amount")]
        if len(kinds) < 2 or not self._names(one) or not all(kind in theirs for kind in kinds):
            return False
        last = theirs[kinds[-1]].text
        return any(mine[kind].key != theirs[kind].key for kind in kinds) and self._says_only(last, one)

    def _says_only(self, value: str, one: Candidate) -> bool:
        clause = next((said.text for said in self._clauses if value in said.text), "")
        clause = _SINCE.sub("", _SINCE_FIRST.sub("", clause).replace(value, ";"))
        return content(_EACH.sub("", bare_clause(clause))) - ATTRIBUTES <= one.words

    def _names(self, one: Candidate) -> bool:
        """Tell whether a sentence names what a line is about: its entity, or most of what stands before the verb."""
        entities = content(" ".join(one.memory.line.entities))
        thing = content(subject_of(one.text))
        return (bool(entities) and entities <= self._said) or _is_half(thing, self._said)

    def _was_told(self, line: _Line) -> bool:
        """Tell whether the answer before has a value of a line, something of what it is of, and half of all it says."""
        heard = self._answer & line.words
        has_value = any(_says(heard, value) and heard - value for value in line.values)
        return has_value and self._weight(heard) >= _HALF * self._weight(line.words)

    def _is_elsewhere(self, one: Candidate, line: _Line) -> bool:
        """Tell whether a sentence is about another thing, owner or time: of its clauses those that touch the line.

        Where the old value is the subject, the thing is none.
        """
        plain = self._revision.plain
        is_changed = lasts_by_word(plain) or self._was_told(line)
        if is_single_event(self._revision) and not (is_changed or tells_what_happened(one.text)):
            return True
        value = line.words - line.topic
        clauses = []
        for clause in self._clauses:
            subject = content(phrase := subject_of(said := _IS.sub(" is ", clause.text)))
            owners = filter(None, map(content, OWNED.findall(phrase)))
            if subject & value and any(owner.isdisjoint(one.words) for owner in owners):
                # another's one of the kind is over
                return True
            is_of_new = line.has_names and subject & (clause.names - line.words) and not OF_SORT.search(said)
            is_of_value = _is_half(subject, value) or is_of_new
            # what its author left is told without a subject
            if not (clause.words.isdisjoint(one.words) or is_of_value or begins_gone(said)):
                clauses.append(said)
        plain = _SINCE_FIRST.sub("", "; ".join(clauses))
        is_authors = AUTHOR.match(plain) is not None
        plain = plain if is_authors else _WHO_MOVED.sub("", plain)
        revision = replace(
            self._revision,
            plain=plain or self._revision.plain,
            old=self._revision.old if not self._denied.isdisjoint(one.words) else (),
            is_authors=is_authors,
            has_pronoun=self._revision.has_pronoun or not clauses,
            subject="" if is_authors or not clauses else subject_of(plain),
            about="" if is_authors or not clauses else self._revision.about,
            thing="" if not clauses else self._revision.thing,
        )
        return are_of_other_things(revision, one.text, one.words | self._own_names, self._said)


def _is_instead(old: str, clause: str, pair: tuple[TypedValue, TypedValue] | None) -> bool:
    """Tell whether a clause has the other value, or another name behind the same preposition."""
    places = [_PLACED.match(_LAST_STOP.sub("", one)) for one in (old, clause)]
    if all(places):
        (join, name), (other_join, other_name) = ((one["join"], one["name"]) for one in places if one)
        return join == other_join and name != other_name
    return pair is not None and pair[1].text in clause


def _akin(words: Iterable[str], others: Iterable[str]) -> set[str]:
    """Return the words that begin others, or with which others begin: who drums, and the drummer."""
    pairs = ((one, other) for one in words for other in others if len(one) >= _STEM and len(other) >= _STEM)
    return {other for one, other in pairs if one.startswith(other) or other.startswith(one)}


def _is_half(part: frozenset[str], whole: frozenset[str]) -> bool:
    return bool(part) and len(part & whole) >= _HALF * len(part)


def _is_han(words: Iterable[str]) -> bool:
    return any(map(HAN_SIGN.match, words))

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
from memoryd.domain.memories.book import Memory
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
    ANSWER,
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
    difference,
    instead_word,
    other_han_value,
)
from memoryd.domain.memories.capture.lines import NAMES, Candidate, LineParts, StandingLines, parts_of
from memoryd.domain.memories.capture.rejections import STATES
from memoryd.domain.memories.capture.revisions import AUTHOR, ELIDED, Revision, subject_of
from memoryd.domain.memories.capture.values import (
    NUMERAL,
    TIMES,
    TypedValue,
    content,
    new_value,
    other_figure,
    other_name_or_side,
    values_in,
)
from memoryd.domain.memories.facts.values import HAN_SIGN, LONG_AGO, tells_what_happened

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
_FOREIGN = 2
"""Words that a clause with another value may say of something else, for each that a line has, too."""
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
    others: tuple[Memory, ...] = ()
    """Lines of the same, each with another value, that was wrong, too."""


_CLAUSES = expression(r"[,;:，；：。!！](?!\d)\s*|\.\s+|\s(?:and|but|so|because|und|aber)\s|\s[–—-]+\s")
_OWNS = expression(r"(?:['’]s|s['’])(?= (?!(?:now|instead|these|from|since|again)\b)\w)")
_OPEN = caseless(
    r"\W*(?:it|they|he|she|that|those|es|er|sie)(?:['’ ]|\Z)|\W*(?:(?:go|stick) (?:to|with)|use|got) "
    r"|\W*(?:i|we)['’](?:m|re|ve) (?:on|with|at|in|got|now)\b|\W*(?:now )?[a-z]{2,}ing (?:an?|the|on|in|at|with|for) "
    r"|\W*(?:而|现在|以后|应该|已经|都|就)*[是在由找归用改换去叫从跟]"
)
"""A clause that says of what it is by a pronoun, or not at all."""
_SINCE = caseless(r"\b(?:since|from|as of|starting)(?: the)? [\w ]{2,24}\Z")
_SINCE_FIRST = caseless(r"\A\W*(?:as of|since|from|starting)\b[\w ]{2,20}?,? (?=(?:we|i|the|our|my|they)\b)")
_PLACED = caseless(
    r".*\b(?P<join>in|on|at|with|through|by|via|from)(?: the)? (?P<name>(?-i:[A-Z])[\w' ’-]*?)(?: now| instead)?\W*\Z"
)
_IS = caseless(r"(?<=\w)['’]s (?=(?:now )?(?:\w+ed|done|run|made|sold|kept|held|from|in|on|at|by|with|an?|the)\b)")
_WHO_MOVED = caseless(
    r"\A.*?\b(?:put|puts|raised?|lowered|moved|changed|cut|increased|reduced|bumped|pushed|set|make|upped|doubled"
    r"|halved) (?!\w+ minds?\b)(?=(?:the|our|my|his|her|their|its)\b|\w+['’]?s )"
)
"""Who changes a thing is not what is spoken of."""
_IN_PLACE = caseless(r"\b(?:in|at|on|with|it|that|them)\b")
_IT_IS = caseless(r"\W*(?:it|that)(?:['’]s| is| was)\b")
_MY = caseless(r"\bmy\b")
_THAT = caseless(
    r"\b(?:gave|given|packed|jacked|gr(?:ew|own)|quit|stopped|sold|cancel+ed|scrapped|ditched|binned)\b.*\b(?:it|that|them)\b"
    r"|\b(?:it|that|them|there)\b.* any ?more\b|[他她它]|不[是在用]"
)
_EACH = expression(r"[一每][节次个月年天周位人晚堂张份]|\b(?:an?|per|each|every) [a-z]+")
_NUMERAL = caseless(rf"\b(?:{NUMERAL}|\d+)\b")


def touched(
    revision: Revision,
    standing: Sequence[Candidate],
    lines: StandingLines,
    *,
    answer: str,
) -> Touch | None:
    """Return the line that a sentence touches clearly more than any other; None if it touches none, or several."""
    sentence = _Sentence(revision, lines, answer)
    touches = [touch for one in standing if (touch := sentence.touch(one)).weight >= TOUCHED_MIN]
    touches.sort(key=lambda one: (one.weight, one.claim), reverse=True)
    if not touches:
        return None
    best = touches[0]
    # of what nothing is said a line with as much is no rival to one that is replaced
    least = Claim.ADDS if best.claim is Claim.REPLACES else Claim.NOTHING
    rivals = [one for one in touches[1:] if one.claim >= least and one.weight > best.weight - CLEARLY]
    wrong = [one for one in touches[1:] if _went_wrong_before(one, best)]
    if any(one not in wrong for one in rivals):
        return replace(best, claim=min(Claim.ADDS, best.claim, *(one.claim for one in rivals)))
    return replace(best, others=tuple(one.candidate.memory for one in wrong))


def _went_wrong_before(one: Touch, best: Touch) -> bool:
    """Tell whether a line says of the same as another what a sentence has the same other value for."""
    is_same = one.claim is Claim.REPLACES and one.pair and best.pair and one.pair[1] == best.pair[1]
    old, new = one.candidate, best.candidate
    return bool(is_same and old.memory.slugs == new.memory.slugs and parts_of(old).topic <= new.words)


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


class _Clause:
    """A clause of a sentence: its words, those of names in it, and what it says to be over."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text, self.words, self.at = text, content(text), at
        self.is_open = _OPEN.match(text) is not None
        names = NAMES.finditer(f" {text}")
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

    def answers(self, line: LineParts) -> bool:
        """Tell whether it says what is instead of what was told: of a pronoun, in Chinese of anything, or a place."""
        times = content(" ".join(one.text for one in values_in(self.text) if one.kind in TIMES))
        fresh = self.words - line.words - times
        is_of_author = AUTHOR.match(self.text) or _MY.search(self.text) or "我" in self.text
        is_bare = _IN_PLACE.search(self.text) or not STATES.search(self.text)
        is_place = line.has_names and is_bare and any(one[0].isalpha() for one in self.names - line.words)
        is_past = LONG_AGO.search(self.text) or "第" in self.text
        return bool(fresh and not is_past) and bool(
            is_place or self.is_open or (_is_han(self.words) and not is_of_author)
        )

    def says_new(self, line: LineParts, *, is_corrected: bool = False) -> bool:
        """Tell whether it gives what a line is of another value, of names another name."""
        is_named = line.has_names and not _is_han(line.words)
        fresh = (self.names if is_named else self.words) - line.words
        is_of_topic = not self.words.isdisjoint(line.topic) or bool(_akin(self.words, line.topic))
        return bool(fresh) and (self.is_open or (is_of_topic and (is_named or self.is_now or is_corrected)))


class _Sentence:
    """A sentence that says that something is otherwise, to be held against lines."""

    def __init__(self, revision: Revision, lines: StandingLines, answer: str) -> None:
        self._revision, self._rarity = revision, lines.rarity
        self._said, self._answer = content(revision.plain), content(answer)
        self._unit = self._rarity.weight(("\0",)) or 1.0
        self._own_names, self._author = lines.own_names, lines.author
        self._clauses = [_Clause(one, at) for at, one in enumerate(_CLAUSES.split(revision.plain)) if one]
        self._denied = frozenset[str]().union(*map(content, revision.old))
        self._times = content(" ".join(one.text for one in values_in(revision.plain) if one.kind in TIMES))
        # what is said beside what is denied in the same clause: not X but Y, from X to Y
        rest = _Clause(revision.rest)
        self._rest = [rest] if self._denied and (revision.new or NOT_BUT in revision.forms) else []

    def _weight(self, words: Iterable[str]) -> float:
        """Return how much words say: one 1, that a single memory has."""
        return self._rarity.weight(words) / self._unit

    def touch(self, one: Candidate) -> Touch:
        """Return what speaks for a line, and what is said of it."""
        line = parts_of(one)
        akin = _akin(self._said - one.words, one.words)
        is_answer = self._was_told(line)
        ended = [clause for clause in self._clauses if any(_says(clause.over, value) for value in line.values)]
        ended = ended or self._left_behind(line)
        is_denied = any(_says(self._denied, value) for value in line.values)
        weight = self._weight((self._said - self._times) & one.words) + _AKIN * len(akin) + _HEARD * is_answer
        pair = self._other_value(one, line, is_answer=is_answer)
        weight += _VALUE * (bool(ended) or is_denied) + _VALUE * (pair is not None)
        if weight < TOUCHED_MIN:
            return Touch(one, weight, Claim.NOTHING)
        claim = self._of_ended(line, ended, is_denied=is_denied, is_answer=is_answer)
        is_over = pair or self._is_given_up(one, is_answer=is_answer)
        claim = Claim.REPLACES if is_over else max(claim, self._of_new(line))
        named = self._said | (self._answer if is_answer else self._own_names)
        if any(map(_is_own, self._clauses)):
            named |= self._author
        if claim and is_of_other(one.text, named) and not (pair and self._is_subject(pair[1], one)):
            person = is_of_person(one.text)
            # all is said but of whom
            is_all = person is not None and one.words - content(person[0]) <= self._said
            return Touch(one, weight, min(claim, Claim.DOUBTS) if is_all else Claim.NOTHING)
        return Touch(one, weight, Claim.NOTHING if claim and self._is_elsewhere(one, line) else claim, pair)

    def _of_ended(self, line: LineParts, ended: Sequence[_Clause], *, is_denied: bool, is_answer: bool) -> Claim:
        """Return what is said of a line the value of which is over: beside that has to be said what is instead."""
        beside = [one for one in self._clauses if one not in ended]
        is_denied_told = is_answer and ANSWER in self._revision.forms
        if (ended and self._left_behind(line)) or (is_denied_told and any(one.answers(line) for one in self._clauses)):
            return Claim.REPLACES
        new = [*beside, *(self._rest if is_denied else ())] if ended or is_denied else []
        is_wrong = says_wrong(self._revision.plain)
        if any(one.says_new(line, is_corrected=is_wrong) for one in new):
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

    def _left_behind(self, line: LineParts) -> list[_Clause]:
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

    def _of_new(self, line: LineParts) -> Claim:
        """Return what a sentence adds that says what is new of what a line is of."""
        topic = line.topic
        is_named = self._weight(self._said & topic) >= _HALF * self._weight(topic)
        new = [one for one in self._clauses if one.is_now and one.says_new(line) and one.names - line.words]
        if not topic or not is_named or not new:
            return Claim.NOTHING
        is_placed = line.has_names and not any(_says(self._said, value) for value in line.values)
        places = [found["name"] for one in new if (found := _PLACED.match(_SINCE.sub("", one.text)))]
        return Claim.DOUBTS if is_placed and any(content(one) - line.words for one in places) else Claim.ADDS

    def _other_value(self, one: Candidate, line: LineParts, *, is_answer: bool) -> tuple[TypedValue, TypedValue] | None:
        """Return the value of a line and what a clause about it, or about nothing else, has in its place."""
        old, new = one.text, self._revision.rest
        if self._said & line.topic and (pair := other_han_value(old, new)):
            return pair
        pair = new_value(old, new) or other_figure(old, new)
        is_wrong = is_answer or says_wrong(self._revision.plain)
        pair = pair or instead_word(self._revision, old) or other_name_or_side(old, new, is_wrong=is_wrong)
        clause = self._clause_with(pair[1].text) if pair else None
        if pair is None or clause is None or (pair[1].kind == "time" and pair[1].text in old):
            return None
        head, colon, _ = self._revision.plain.partition(": ")
        before = _WHO_MOVED.sub("", _SINCE_FIRST.sub("", clause.text[: clause.text.index(pair[1].text)]))
        subject = content(subject_of(before) if STATES.search(clause.text) else before) - ATTRIBUTES
        subject |= content(subject_of(head)) if colon and STATES.search(clause.text) else frozenset()
        is_of_line = clause.is_open or all(_akin((word,), one.words) for word in subject - one.words)
        others = content(_EACH.sub("", clause.text)) - one.words - content(pair[1].text)
        is_of_line = is_of_line and len(others) <= _FOREIGN * max(clause.is_open, len(clause.words & one.words))
        # a room is any room
        anchor = pair[0].kind.partition("number ")[2]
        named = self._said & one.words - content(f"{pair[0].text} {anchor}")
        # the landlord raises the rent: 房东, 房租
        is_named = named or (HAN_SIGN.match(old) and old[0] == self._revision.plain[0])
        # `it's 5 now` may be the clock, and that Wednesday is a birthday is of something else
        is_denied = ANSWER in self._revision.forms or (pair[1].kind and not pair[1].kind.startswith("number"))
        is_told = is_answer and (clause.is_open or not others) and is_denied
        return pair if is_of_line and (is_told or is_named) else None

    def _clause_with(self, value: str) -> _Clause | None:
        return next((one for one in self._clauses if value in one.text), None)

    def _is_subject(self, value: TypedValue, one: Candidate) -> bool:
        """Tell whether a clause says a value of a thing that a line names."""
        clause = self._clause_with(value.text)
        subject = content(subject_of(clause.text)) - content(value.text) if clause else frozenset[str]()
        return bool(subject) and subject <= one.words

    def _is_given_up(self, one: Candidate, *, is_answer: bool) -> bool:
        """Tell whether its author ends what a line says of them, or what the answer before told, and names no other."""
        gone = [clause for clause in self._clauses if clause.is_gone]
        name = content(who[0]) if (who := is_of_person(one.text)) else frozenset[str]()
        is_authors = AUTHOR.match(one.text) or self._author & content(subject_of(one.text))
        known, han = {word.rstrip("e") for word in one.words}, one.text if HAN_SIGN.search(one.text) else ""
        return any(
            (is_answer and _THAT.search(clause.text) and len(clause.bare - one.words) <= 1)
            or (
                ((is_authors and _is_own(clause)) or (name and name <= clause.bare))
                and clause.bare & one.words - name
                and all(word.rstrip("e") in known or _akin((word,), known) or word in han for word in clause.bare)
            )
            for clause in gone
        )

    def _was_told(self, line: LineParts) -> bool:
        """Tell whether the answer before has a value of a line, something of what it is of, and half of all it says."""
        heard = self._answer & line.words
        has_value = heard == line.words or any(
            _says(heard, value) and (heard - value or self._author & line.topic) for value in line.values
        )
        return has_value and self._weight(heard) >= _HALF * self._weight(line.words)

    def _is_elsewhere(self, one: Candidate, line: LineParts) -> bool:
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
            if subject & value and not _IT_IS.match(said) and any(owner.isdisjoint(one.words) for owner in owners):
                # another's one of the kind is over
                return True
            is_of_new = line.has_names and subject & (clause.names - line.words) and not OF_SORT.search(said)
            is_of_new = is_of_new and not clause.is_gone
            is_of_value = _is_half(subject, value) or is_of_new
            # what its author left is told without a subject
            is_elided = begins_gone(said) or ELIDED.match(said) or _IT_IS.match(said)
            is_verbless = NOT_BUT in self._revision.forms and not STATES.search(said)
            if not (clause.words.isdisjoint(one.words) or is_of_value or is_elided or is_verbless):
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


def _akin(words: Iterable[str], others: Iterable[str]) -> set[str]:
    """Return the words that begin others, or with which others begin: who drums, and the drummer."""
    pairs = ((one, other) for one in words for other in others if len(one) >= _STEM and len(other) >= _STEM)
    return {other for one, other in pairs if one.startswith(other) or other.startswith(one)}


def _is_own(clause: _Clause) -> bool:
    """Tell whether a clause says of whom it is by no name: its author says it of what is theirs."""
    text = clause.text
    is_bare = HAN_SIGN.match(text) or not subject_of(text)
    is_own = AUTHOR.match(text) or ELIDED.match(text) or _MY.search(text) or is_bare
    return bool(is_own) and not is_of_other(text, frozenset())


def _is_half(part: frozenset[str], whole: frozenset[str]) -> bool:
    return bool(part) and len(part & whole) >= _HALF * len(part)


def _is_han(words: Iterable[str]) -> bool:
    return any(map(HAN_SIGN.match, words))

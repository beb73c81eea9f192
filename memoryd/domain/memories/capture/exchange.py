"""Exchange of one value in a memory whose other content stays valid, and search for that value.

A sentence may name a thing more briefly than a memory, or by another word form: the opening, and what opens. So all
words in the clause of the new value, except the words of change, or words related to them must be in the memory, and
the memory must have one value of the same type. If the sentence names anything else, it is about another thing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression, word_set
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.capture.agreement import MOVES, is_about_other_person, is_made_of
from memoryd.domain.memories.capture.cues import (
    AGAIN,
    AGAIN_WORDS,
    ANSWER,
    CHANGE,
    CLAUSE_END,
    CORRECTION,
    FROM_TO,
    NEW,
    NO_LONGER,
    NOW,
)
from memoryd.domain.memories.capture.lines import Candidate
from memoryd.domain.memories.capture.revisions import Revision, subject_of
from memoryd.domain.memories.capture.values import (
    HAN_NUMBER,
    ContentWords,
    TypedValue,
    ValuePair,
    common_start,
    content,
    new_value,
    stem,
    values_in,
)
from memoryd.domain.memories.facts.values import HAN, HAN_SIGN, PARTICIPLE, is_past_event

_SEGMENT = caseless(
    r"[,;，；。]\s*|\s(?=(?:in|on|at|with|from|for|near|behind|under|between|until|and"
    r"|am|im|um|mit|bei|beim|vom|bis|auf|für|hinter|neben|und)\s)"
)


def renew_line(revision: Revision, old: str) -> str:
    """Return the old line with one value exchanged, if it says more than what changes; else the sentence."""
    line = _with_number(revision, old)
    if line or (has_other_clause(revision, old) and (line := _with_place(revision, old) or _with_word(revision, old))):
        return line
    if NO_LONGER in revision.forms and (ended := content(" ".join(revision.old))) and ended <= content(subject_of(old)):
        # the thing itself has ended, and no value of it remains: `training is over, and I am home at 9`
        return revision.text
    is_answer = ANSWER in revision.forms or revision.has_pronoun
    pair = new_value(old, revision.rest, is_loose=is_answer) or number_pair(revision, old)
    if pair is None or not (is_answer or _says_more(old, pair[0])) or _adds_more(revision, old, pair):
        return revision.text
    if not _are_in_one_place(old, revision.rest, pair) or _is_of_another(revision, old, pair[0]):
        return revision.text
    line = exchange_value(old, pair)
    keeps_denied = any((denied := content(value)) and denied <= content(line) for value in revision.old)
    return revision.text if line == old or keeps_denied else line


_ONE_NUMBER = expression(r"(?<![A-Za-z0-9_.,:/-])\d+(?:\.\d+)*(?![A-Za-z0-9_@%°€$£]|[.,:/-]\w)")
_BARE_NUMBER = caseless(
    r"(?:(?:it|that)(?:['’]s| is| are) |es ist |das ist |现在|应该|是|改成|换成|[了:：])*(?:now |jetzt )?"
    r"(?P<number>\d+(?:\.\d+)*)(?: now| instead| jetzt|了)?\W*\Z"
)


def number_pair(revision: Revision, old: str) -> ValuePair | None:
    """Return the only number of an old line, and the number that is all of a correction: `no, it is 8443`."""
    bare, numbers = _BARE_NUMBER.match(revision.plain), list(_ONE_NUMBER.finditer(old))
    if not bare or len(numbers) != 1 or {ANSWER, CORRECTION}.isdisjoint(revision.forms):
        return None
    (was,), now = numbers, bare["number"]
    if was[0] == now:
        return None
    return TypedValue("number", was[0], *was.span()), TypedValue("number", now, *bare.span("number"))


_PERSON = expression(r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")


def name_pair(revision: Revision, old: str) -> ValuePair | None:
    """Return the name in an old line that a sentence says has ended, and the only other name in the sentence."""
    subject = subject_of(revision.plain)
    ended = [name for name in {*_PERSON.findall(subject), *revision.old} if _PERSON.fullmatch(name)]
    fresh = [match for match in _NAME.finditer(revision.plain) if match[0] not in old and match.start()]
    if len(ended) != 1 or len(fresh) != 1 or old.count(ended[0]) != 1:
        return None
    (name,), (new,) = ended, fresh
    start = old.index(name)
    if not start:
        return None
    return TypedValue("name", name, start, start + len(name)), TypedValue("name", new[0], *new.span())


def exchange_value(old: str, pair: ValuePair) -> str:
    """Return a line with the first value of the pair, which it contains, replaced by the second."""
    return old[: pair[0].start] + pair[1].text + old[pair[0].end :]


_CLAUSES = caseless(r"[,;，；。]\s*|\s(?:and|und)\s")


def has_other_clause(revision: Revision, text: str) -> bool:
    """Return whether a memory has a clause that the sentence does not revise, and that would be hidden with it."""
    spoken, subject = content(revision.text), content(subject_of(text))
    clauses = [words for clause in _CLAUSES.split(text) if (words := content(clause) - subject)]
    return AGAIN not in revision.forms and len(clauses) > 1 and any(words.isdisjoint(spoken) for words in clauses)


_VALUE = expression(r"[A-Za-z0-9][A-Za-z0-9.:/-]*\Z")
_INSTEAD = caseless(
    r"[,;，；]\s*(?:but |而)?(?:it['’]?s|it is|是|在|叫|用)\s*(?:(?:on|at|in|with) )?"
    r"(?P<value>[A-Za-z0-9][A-Za-z0-9.:/-]*)[\s.。!！]*\Z"
)


def _with_word(revision: Revision, old: str) -> str:
    """Return an old line with the denied word replaced by the word that is valid instead; empty if it cannot be."""
    instead, denied = _INSTEAD.search(revision.plain), revision.old[0] if len(revision.old) == 1 else ""
    denied = denied.split(" ")[-1]
    if not instead or not _VALUE.match(denied):
        return ""
    places = list(re.finditer(rf"(?<![A-Za-z0-9]){re.escape(denied)}(?![A-Za-z0-9])", old))
    are_alike = denied[0].isdigit() == instead["value"][0].isdigit()
    if len(places) != 1 or not are_alike:
        return ""
    return old[: places[0].start()] + instead["value"].rstrip(".:/-") + old[places[0].end() :]


_HAN_NUMBER = expression(rf"(?<!第)(?:\d[\d.,]*|{HAN_NUMBER})(?P<behind>[{HAN}A-Za-z]?)")


def _with_number(revision: Revision, old: str) -> str:
    """Return an old line with the denied number replaced by the only other number of the sentence, or ""."""
    denied = {match[0] for value in revision.old for match in _HAN_NUMBER.finditer(value)}
    fresh = {match[0]: match for match in _HAN_NUMBER.finditer(revision.rest)}
    matches = [match for match in _HAN_NUMBER.finditer(old) if match[0] in denied]
    has_more = HAN_SIGN.search(old) and _CLAUSES.search(old.rstrip("。."))
    if not has_more or (len(denied), len(fresh), len(matches)) != (1, 1, 1):
        return ""
    (new,) = fresh.values()
    are_alike = new["behind"] == matches[0]["behind"] and new[0] != matches[0][0]
    return old[: matches[0].start()] + new[0] + old[matches[0].end() :] if are_alike else ""


_LIVES_IN = expression(r"\blives? in (?P<place>[A-Z][\w-]*(?: [A-Z][\w-]*)*)")
_PLACE = expression(r"[A-Z][\w-]*(?: [A-Z][\w-]*)*\Z")


def _with_place(revision: Revision, old: str) -> str:
    """Return an old line about where a person lives with the place to which the person moved, or ""."""
    home, place = _LIVES_IN.search(old), revision.new.rstrip(". !")
    if not home or not MOVES.search(revision.plain) or not _PLACE.match(place):
        return ""
    return old[: home.start("place")] + place + old[home.end("place") :]


_PREPOSITION = caseless(
    r"\b(on|at|in|with|by|from|through|via|under|of|for|until|till|before|after|near|behind|between|since"
    r"|am|im|um|mit|bei|beim|vom|bis|für|hinter|neben)"
    r"(?: (?:the|an?|de[mnr]))? *\Z"
)


def _are_in_one_place(old: str, new: str, pair: ValuePair) -> bool:
    """Return whether no different prepositions precede the old and the new value: then the new may replace the old."""
    places = [_PREPOSITION.search(text[: value.start]) for text, value in zip((old, new), pair, strict=True)]
    joins = {place[1].lower() for place in places if place}
    return len(joins) <= 1


def _says_more(text: str, value: TypedValue) -> bool:
    """Return whether a statement has a part besides its subject and verb, and besides the part with the value."""
    parts = list(_parts(_SEGMENT, text))
    others = [text[start:end] for start, end in parts[1:] if not start <= value.start < end]
    is_first = parts[0][0] <= value.start < parts[0][1]
    first = CLAUSE_END.split(text)[0]
    if not is_first and parts[0][1] >= len(first) and content(first) - content(subject_of(first)):
        others.append(first)
    return any(map(content, others))


_IS = caseless(
    r"\A[^,;，；。]*(?:\b(?:is|are|was|were|ist|sind|war|heißt|called|named)|['’]s|[是叫])\s*(?:now |jetzt )?\Z"
)
"""The beginning of a line up to what its subject is or is called."""
_PERSONAL = expression(rf"(?:电话|手机|微信|邮箱|地址|办公|住|号码)|\A[^{HAN}]*\Z", re.DOTALL)


def _is_of_another(revision: Revision, old: str, value: TypedValue) -> bool:
    """Return whether another person takes a position, so that a number or address after the name would be wrong.

    A correction of a wrong name is no such change.
    """
    is_place = value.kind.startswith(("name", "titled")) and _IS.search(old, 0, value.start)
    changes = not {NEW, NOW, CHANGE, FROM_TO, NO_LONGER}.isdisjoint(revision.forms)
    return bool(is_place and changes and _PERSONAL.search(old[value.end :]))


_CAPITAL = expression(
    r"(?<=[ (])(?!I\b|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)[a-z]*\b)"
    r"[A-Z][\w-]*"
)


def _adds_more(revision: Revision, old: str, pair: ValuePair) -> bool:
    """Return whether a sentence has further values or names that the old line lacks."""
    known = {value.key for value in (*values_in(old), pair[1])}
    if any(value.key not in known and value.kind != "daypart" for value in values_in(revision.rest)):
        return True
    known_text = f"{old} {pair[1].text}".casefold()
    return any(name.casefold() not in known_text for name in _CAPITAL.findall(revision.rest))


_KINDS = word_set("date time days phone money")
_AMOUNT = "amount "
_END = caseless(r"[,;，；。:：](?!\d)\s*|\s[–—-]+\s|\s(?:and|but|so|because|since)\s(?!\d)|\.(?=\s|\Z)")
_CHANGES = caseless(
    r"\b(?:(?:has|have|had|['’]s|is|are|was|were|been|being|got|gets?|to|now|just|finally|already|have to|will)\s)*"
    r"(?:mov|chang|slip|slid|put|push|shift|postpon|delay|defer|adjourn|reschedul|rearrang|rebook|bring|brought|rais|lower"
    r"|extend|shorten|rose|ris|went|go|gone|drop|fell|fall|increas|reduc|cut|bump|switch|updat|set|fix|turn|pull"
    r"|correct|adjust)(?:p?ed|en|es|s|ing|d|e)?\b"
    r"|\b(?:back|forward|forwards|earlier|later|up|down|over|instead|onwards?|this|next|week|month|year|on|from|as of"
    r"|today|starting|since|new|fresh|different|sharp|have|has|had|got|need|needs|must|should)\b"
    r"|(?:已经|现在|目前|如今|以后|改|换|推迟|提前|延期|延后|顺延|挪|调整?|变|涨|降|升|加|减|定|算|重新|新|成|到|为|至|去|在"
    r"|要|得|是|用|了|都|也|就|才|的|先|又|起|开始|从)"
)
"""Words of change, and words that only introduce the value."""
_WHEN = caseless(r"\b(?:from|since|starting|beginning|as of|effective|until|till)(?: on| from)?\W*\Z|(?:从|自)\W*\Z")
_DENIES = caseless(r"\b(?:not|never|no|nobody|hardly|almost|nearly)\b|n['’]t\b|[不没未别]|差点")
_NUMBER = caseless(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both|half)\b|[一二两三四五六七八九十百千万半][^\W\d_]?"
)
_NAME = expression(
    r"\b(?!(?:I|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:[a-z]*day|[a-z]*ber|uary"
    r"|ruary|ch|il|e|y|ust)?\b)[A-Z][\w-]+"
)
_HAN_RUN = expression(f"[{HAN}]+")
_MIN_CHARS = 2
_KIN_ENDINGS = word_set("ist ian al anc enc ion ur ag t")
"""Endings by which two stems of one word may differ, if the shorter has five letters."""
_MIN = 5
_FAMILIES = tuple(
    frozenset(map(stem, words.split()))
    for words in (
        "wedding wed married marry marrying marriage",
        "flight fly flies flying",
        "departure leave leaves leaving depart",
        "funeral burial buried",
        "premiere opening opens",
    )
)
"""Events and their verbs that share no stem."""


class NewValue(Struct, frozen=True):
    """A new value in a sentence, with its context."""

    value: TypedValue
    bare: str
    """The clause without typed values and words of change."""
    spoken: ContentWords
    """Content words of `bare`."""
    rest: str
    """The sentence without that clause."""
    names: ContentWords
    """Content words of the names in `rest`."""

    def fits_memory(self, text: str, words: ContentWords) -> bool:
        """Return whether a memory contains all words that the sentence has about the value."""
        if not _are_in(self.names, words):
            return False
        if not _HAN_RUN.search(self.bare):
            return _are_in(self.spoken, words)
        has_heads = all(run[:_MIN_CHARS] in text for run in _HAN_RUN.findall(self.rest))
        return has_heads and all(is_made_of(run, text) for run in _HAN_RUN.findall(self.bare))


def new_values_of(revision: Revision) -> list[NewValue]:
    """Return the typed values of a sentence with their context; none if the sentence denies something."""
    if revision.old or _DENIES.search(revision.plain):
        return []
    plain, new = revision.plain, list[NewValue]()
    for start, end in _parts(_END, plain):
        values = [value for value in values_in(plain[start:end]) if _is_typed(value)]
        if not content(bare_clause(plain[start:end])):
            # a clause with nothing but the value belongs to the text before it
            start = 0
        bare, rest = bare_clause(plain[start:end]), f"{plain[:start]} {plain[end:]}"
        spoken, names = content(bare), frozenset[str]().union(*map(content, _NAME.findall(rest)))
        if spoken and not _NUMBER.search(bare):
            new += [
                NewValue(value, bare, spoken, rest, names)
                for value in values
                if value.text in revision.new or not _WHEN.search(plain[start:end].partition(value.text)[0])
            ]
    return new


def value_pair(new: Sequence[NewValue], text: str, words: ContentWords) -> ValuePair | None:
    """Return a value of a memory, and the new value that replaces it; None if the sentence is about another thing."""
    known = {value.key for value in values_in(text)}
    fresh = [value for value in new if value.value.key not in known]
    if len(fresh) != 1 or not fresh[0].fits_memory(text, words) or is_past_event(text):
        return None
    (only,) = fresh
    if is_about_other_person(text, only.spoken | only.names):
        return None
    # each clause of the memory is compared on its own: another clause may be about another thing
    common = content(subject_of(text)) | (words - content(text))
    places = [
        values[0]
        for own, values in _places(text, only.value.kind)
        if len(values) == 1 and _agree(only.spoken, own, common)
    ]
    return (places[0], only.value) if len(places) == 1 else None


def _agree(spoken: ContentWords, own: str, common: ContentWords) -> bool:
    """Return whether a clause of a memory contains all words of a sentence, and is about them."""
    about = content(own)
    if _HAN_RUN.search(own):
        return not spoken.isdisjoint(about)
    # the main noun is the last word before `of`
    nouns = map(content, reversed(subject_of(own).partition(" of ")[0].split()))
    return (
        _are_in(spoken, about | common)
        and any(_are_in({word}, about) for word in spoken)
        and _are_in(next(filter(None, nouns), frozenset()), spoken)
    )


def _are_in(spoken: Iterable[str], words: ContentWords) -> bool:
    return all(word in words or any(_are_related(word, other) for other in words) for word in spoken)


def _are_related(first: str, second: str) -> bool:
    """Return whether two stems belong to one word, or to one event."""
    short, long = sorted((first, second), key=len)
    if len(short) >= _MIN and long.startswith(short) and long[len(short) :] in _KIN_ENDINGS:
        return True
    return any(first in family and second in family for family in _FAMILIES)


def _is_typed(value: TypedValue) -> bool:
    return value.kind in _KINDS or value.kind.startswith(_AMOUNT)


def _parts(between: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts of a text."""
    start = 0
    for match in between.finditer(text):
        yield start, match.start()
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


def _places(text: str, kind: str) -> Iterator[tuple[str, list[TypedValue]]]:
    """Yield each clause with values of a kind, bare or else the first bare clause, and these values."""
    values = [value for value in values_in(text) if value.kind == kind]
    main = ""
    for start, end in _parts(_END, text):
        own = [value for value in values if start <= value.start < end]
        bare = bare_clause(text[start:end])
        about = bare if content(bare) else main
        main = main or about
        if own:
            yield about, own


def bare_clause(clause: str) -> str:
    """Return a clause without its typed values and the words of change."""
    for value in reversed(values_in(clause)):
        if _is_typed(value):
            clause = f"{clause[: value.start]} ; {clause[value.end :]}"
    return _CHANGES.sub(" ", clause)


_TOKENS = expression(rf"[^\W{HAN}]+(?:['’.-][^\W{HAN}]+)*|[{HAN}]|\S")
_NO_VALUE = caseless(rf"(?<!\S)(?:is|are|was|were|has|have|had|是|在|有)(?!\S)|\A{PARTICIPLE} (?:in|at|by|with)\b")
_MIDDLE_MAX = 8


def differ_in_one_value(first: Memory, second: Memory) -> bool:
    """Return whether two memories are about the same in the same words, except for one value."""
    text, other = first.text.strip(), second.text.strip()
    # most pairs are rejected here, before they are split
    if first.line.slugs != second.line.slugs or (text[:1] != other[:1] and text[-1:] != other[-1:]):
        return False
    mine, theirs = _TOKENS.findall(text), _TOKENS.findall(other)
    ahead, middle, behind = _split_alike(mine, theirs)
    values = middle, theirs[len(ahead) : len(theirs) - len(behind)]
    are_values = all(0 < len(value) <= _MIDDLE_MAX and not _NO_VALUE.search(" ".join(value)) for value in values)
    # `eats meat` and `plays the clarinet` are both valid: besides the subject, the verb or the end must be the same
    is_verb_same = len(ahead) > len(_TOKENS.findall(subject_of(first.text))) or content(" ".join(behind))
    return are_values and bool(is_verb_same and content(" ".join(ahead + behind)))


def _split_alike(mine: list[str], theirs: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Return `mine` as the common beginning with `theirs`, the part that differs, and the common end."""
    ahead = common_start(mine, theirs)
    behind = len(mine) - common_start(mine[ahead:][::-1], theirs[ahead:][::-1])
    return mine[:ahead], mine[ahead:behind], mine[behind:]


def difference(text: str, other: str) -> str:
    """Return the part of a text that differs in another text of the same words."""
    _, middle, _ = _split_alike(_TOKENS.findall(text), _TOKENS.findall(other))
    return ("" if all(len(token) == 1 for token in middle) else " ").join(middle)


_SPOKEN_PARTS = expression(r"[,;:，；：。!！](?!\d)\s*|\.\s+|\s(?:and|but|so|because|und|aber)\s|\s[–—-]+\s")
_HALF, _HAN_PART = 0.5, 0.3
"""Least shares of a value's words; the Chinese one is lower, since some pairs of characters span two words."""


def line_between(
    revision: Revision, standing: Sequence[Candidate], candidates: Sequence[Candidate]
) -> Candidate | None:
    """Return the only line in `standing` that came between two equal values: a sentence says that the first is back.

    `candidates` are the lines that may have the first value. The sentence must also name the topic of the lines or the
    value in between: an event that happens to a value once more is not a return to it.
    """
    parts = _SPOKEN_PARTS.split(revision.plain)
    clauses = [part for part in parts if any(pattern.search(part) for pattern in AGAIN_WORDS)]
    again, spoken = content(" ".join(clauses)), content(revision.plain)
    between = dict[str, Candidate]()
    for before in candidates if again else ():
        if before.words.isdisjoint(again):
            continue  # true of nearly all lines
        for line in standing:
            if line is before or not differ_in_one_value(before.memory, line.memory):
                continue
            old, new = difference(before.text, line.text), difference(line.text, before.text)
            is_named = not spoken.isdisjoint(before.words & line.words - content(old)) or _names(spoken, content(new))
            if is_named and _is_in(old, clauses) and not _is_in(new, clauses):
                between[line.memory.id] = line
    return next(iter(between.values())) if len(between) == 1 else None


def _is_in(value: str, clauses: Sequence[str]) -> bool:
    return any(
        value in clause if HAN_SIGN.match(value) else _names(content(clause), content(value)) for clause in clauses
    )


def _names(words: ContentWords, value: ContentWords) -> bool:
    """Return whether words contain a sufficient share of the words of a value."""
    least = _HAN_PART if any(map(HAN_SIGN.match, value)) else _HALF
    return bool(value) and len(words & value) >= least * len(value)

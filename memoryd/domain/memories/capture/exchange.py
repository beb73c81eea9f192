"""What a memory says once one of its values is exchanged, where nothing else of it changes; and which value that is.

The words before a verb name a thing more shortly, by another form or beside more of it: the opening, and what opens. So
all words of the clause with the new value, but those of the change itself, have to stand in the memory, as they are or
akin; and at its place stands one value of the same type. Whatever else is named makes it another thing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression, word_set
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.capture.agreement import MOVES, is_made_of, is_of_other
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
    TypedValue,
    common_start,
    content,
    new_value,
    stem,
    values_in,
)
from memoryd.domain.memories.facts.values import HAN, HAN_SIGN, PARTICIPLE, tells_what_happened

_SEGMENT = caseless(
    r"[,;，；。]\s*|\s(?=(?:in|on|at|with|from|for|near|behind|under|between|until|and"
    r"|am|im|um|mit|bei|beim|vom|bis|auf|für|hinter|neben|und)\s)"
)


def renewed(revision: Revision, old: str) -> str:
    """Return the old line with the one value exchanged, where it says more than what changes; else the sentence."""
    line = _with_number(revision, old)
    if line or (still_holds(revision, old) and (line := _with_place(revision, old) or _with_word(revision, old))):
        return line
    is_answer = ANSWER in revision.forms or revision.has_pronoun
    if NO_LONGER in revision.forms and (ended := content(" ".join(revision.old))) and ended <= content(subject_of(old)):
        # there is nothing left that has a value: training is over, and I am home at 9
        return revision.text
    pair = new_value(old, revision.rest, is_loose=is_answer) or other_number(revision, old)
    if pair is None or not (is_answer or _says_more(old, pair[0])) or _adds_more(revision, old, pair):
        return revision.text
    if not _are_in_one_place(old, revision.rest, pair):
        return revision.text
    if _is_of_another(revision, old, pair[0]):
        return revision.text
    line = exchanged(old, pair)
    return line if line != old else revision.text


_ONE_NUMBER = expression(r"(?<![A-Za-z0-9_.,:/-])\d+(?:\.\d+)*(?![A-Za-z0-9_@%°€$£]|[.,:/-]\w)")
_BARE_NUMBER = caseless(
    r"(?:(?:it|that)(?:['’]s| is| are) |es ist |das ist |现在|应该|是|改成|换成|[了:：])*(?:now |jetzt )?"
    r"(?P<number>\d+(?:\.\d+)*)(?: now| instead| jetzt|了)?\W*\Z"
)


def other_number(revision: Revision, old: str) -> tuple[TypedValue, TypedValue] | None:
    """Return the one number of an old line, and the bare one that is all that a correction says: `no, it is 8443`."""
    found, numbers = _BARE_NUMBER.match(revision.plain), list(_ONE_NUMBER.finditer(old))
    if not found or len(numbers) != 1 or {ANSWER, CORRECTION}.isdisjoint(revision.forms):
        return None
    was, now = (
        TypedValue("number", *one)
        for one in ((numbers[0][0], *numbers[0].span()), (found["number"], *found.span("number")))
    )
    return (was, now) if was.text != now.text else None


_PERSON = expression(r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")


def other_name(revision: Revision, old: str) -> tuple[TypedValue, TypedValue] | None:
    """Return the name in an old line of whom something ended, and the one other that a sentence has."""
    subject = subject_of(revision.plain)
    gone = [name for name in {*_PERSON.findall(subject), *(one for one in revision.old)} if _PERSON.fullmatch(name)]
    fresh = [found for found in _NAME.finditer(revision.plain) if found[0] not in old and found.start()]
    if len(gone) != 1 or len(fresh) != 1 or old.count(gone[0]) != 1:
        return None
    start, (new,) = old.index(gone[0]), fresh
    if not start:
        return None
    return TypedValue("name", gone[0], start, start + len(gone[0])), TypedValue("name", new[0], *new.span())


def exchanged(old: str, pair: tuple[TypedValue, TypedValue]) -> str:
    """Return a line with the one of its values in the place of the other."""
    return old[: pair[0].start] + pair[1].text + old[pair[0].end :]


_CLAUSES = caseless(r"[,;，；。]\s*|\s(?:and|und)\s")


def still_holds(revision: Revision, text: str) -> bool:
    """Tell whether a memory has a clause of which nothing is said: it would be hidden with what is revised."""
    spoken, subject = content(revision.text), content(subject_of(text))
    clauses = [said for one in _CLAUSES.split(text) if (said := content(one) - subject)]
    return AGAIN not in revision.forms and len(clauses) > 1 and any(one.isdisjoint(spoken) for one in clauses)


_VALUE = expression(r"[A-Za-z0-9][A-Za-z0-9.:/-]*\Z")
_INSTEAD = caseless(
    r"[,;，；]\s*(?:but |而)?(?:it['’]?s|it is|是|在|叫|用)\s*(?:(?:on|at|in|with) )?"
    r"(?P<value>[A-Za-z0-9][A-Za-z0-9.:/-]*)[\s.。!！]*\Z"
)


def _with_word(revision: Revision, old: str) -> str:
    """Return an old line with the one word that is denied exchanged for the one that holds instead."""
    found, denied = _INSTEAD.search(revision.plain), revision.old[0] if len(revision.old) == 1 else ""
    denied = denied.split(" ")[-1]
    if not found or not _VALUE.match(denied):
        return ""
    places = list(re.finditer(rf"(?<![A-Za-z0-9]){re.escape(denied)}(?![A-Za-z0-9])", old))
    are_alike = denied[0].isdigit() == found["value"][0].isdigit()
    if len(places) != 1 or not are_alike:
        return ""
    return old[: places[0].start()] + found["value"].rstrip(".:/-") + old[places[0].end() :]


_HAN_NUMBER = expression(rf"(?<!第)(?:\d[\d.,]*|{HAN_NUMBER})(?P<behind>[{HAN}A-Za-z]?)")


def _with_number(revision: Revision, old: str) -> str:
    """Return an old line with the one number that is denied exchanged for the one other that a sentence says."""
    denied = {found[0]: found for one in revision.old for found in _HAN_NUMBER.finditer(one)}
    fresh = {found[0]: found for found in _HAN_NUMBER.finditer(revision.rest)}
    matches = [found for found in _HAN_NUMBER.finditer(old) if found[0] in denied]
    has_more = HAN_SIGN.search(old) and _CLAUSES.search(old.rstrip("。."))
    if not has_more or (len(denied), len(fresh), len(matches)) != (1, 1, 1):
        return ""
    (new,) = fresh.values()
    are_alike = new["behind"] == matches[0]["behind"] and new[0] != matches[0][0]
    return old[: matches[0].start()] + new[0] + old[matches[0].end() :] if are_alike else ""


_LIVES_IN = expression(r"\blives? in (?P<place>[A-Z][\w-]*(?: [A-Z][\w-]*)*)")
_PLACE = expression(r"[A-Z][\w-]*(?: [A-Z][\w-]*)*\Z")


def _with_place(revision: Revision, old: str) -> str:
    """Return an old line with the place to which somebody moved, where it says in which one they lived."""
    home, place = _LIVES_IN.search(old), revision.new.rstrip(". !")
    if not home or not MOVES.search(revision.plain) or not _PLACE.match(place):
        return ""
    return old[: home.start("place")] + place + old[home.end("place") :]


_PREPOSITION = caseless(
    r"\b(on|at|in|with|by|from|through|via|under|of|for|until|till|before|after|near|behind|between|since"
    r"|am|im|um|mit|bei|beim|vom|bis|für|hinter|neben)"
    r"(?: (?:the|an?|de[mnr]))? *\Z"
)


def _are_in_one_place(old: str, new: str, pair: tuple[TypedValue, TypedValue]) -> bool:
    """Tell whether no other preposition leads to a new value than to the old one: then it may stand in its place."""
    places = [_PREPOSITION.search(text[: value.start]) for text, value in zip((old, new), pair, strict=True)]
    joins = {place[1].lower() for place in places if place}
    return len(joins) <= 1


def _says_more(text: str, value: TypedValue) -> bool:
    """Tell whether a statement has a part beside its subject with its verb, and beside the one that holds a value."""
    parts = list(_parts(_SEGMENT, text))
    others = [text[start:end] for start, end in parts[1:] if not start <= value.start < end]
    is_first = parts[0][0] <= value.start < parts[0][1]
    first = CLAUSE_END.split(text)[0]
    if not is_first and parts[0][1] >= len(first) and content(first) - content(subject_of(first)):
        others.append(first)
    return any(content(one) for one in others)


_IS = caseless(
    r"\A[^,;，；。]*(?:\b(?:is|are|was|were|ist|sind|war|heißt|called|named)|['’]s|[是叫])\s*(?:now |jetzt )?\Z"
)
"""Before who or what the subject of a line is."""
_PERSONAL = expression(rf"(?:电话|手机|微信|邮箱|地址|办公|住|号码)|\A[^{HAN}]*\Z", re.DOTALL)


def _is_of_another(revision: Revision, old: str, value: TypedValue) -> bool:
    """Tell whether another takes a place: what stands behind the name, as a number or address, is told of the old one.

    A name that was only wrong is exchanged for the right one.
    """
    is_place = value.kind.startswith(("name", "titled")) and _IS.search(old, 0, value.start)
    changes = not {NEW, NOW, CHANGE, FROM_TO, NO_LONGER}.isdisjoint(revision.forms)
    return bool(is_place and changes and _PERSONAL.search(old[value.end :]))


_CAPITAL = expression(
    r"(?<=[ (])(?!I\b|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)[a-z]*\b)"
    r"[A-Z][\w-]*"
)


def _adds_more(revision: Revision, old: str, pair: tuple[TypedValue, TypedValue]) -> bool:
    """Tell whether a sentence has further values, or names, that the old line has not."""
    known = {one.key for one in values_in(old)}
    more = [one for one in values_in(revision.rest) if one.key not in known and one.key != pair[1].key]
    names = {one.casefold() for one in _CAPITAL.findall(revision.rest)}
    return any(one.kind != "daypart" for one in more) or any(
        one not in f"{old} {pair[1].text}".casefold() for one in names
    )


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
"""Words by which the clause says that something changes, or of what nothing but the value follows."""
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
"""What a stem may have more than another of the same word, where that has five letters."""
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
"""Events, and the verbs by which one tells of them, that share no stem."""


class NewValue(Struct, frozen=True):
    """The one value that a sentence says something has now, and what its clause says beside it."""

    value: TypedValue
    bare: str
    spoken: frozenset[str]
    rest: str
    """What the sentence says beside that clause."""
    names: frozenset[str]
    """Of these, who or what is named there."""

    def may_be_of(self, text: str, words: frozenset[str]) -> bool:
        """Tell whether all that is said of the value stands in a memory."""
        if not _are_in(self.names, words):
            return False
        if not _HAN_RUN.search(self.bare):
            return _are_in(self.spoken, words)
        heads = all(one[:_MIN_CHARS] in text for one in _HAN_RUN.findall(self.rest))
        return heads and all(is_made_of(one, text) for one in _HAN_RUN.findall(self.bare))


def new_values_of(revision: Revision) -> list[NewValue]:
    """Return the typed values of a sentence with the clauses where they stand; none if it denies something."""
    if revision.old or _DENIES.search(revision.plain):
        return []
    plain, found = revision.plain, list[NewValue]()
    for start, end in _parts(_END, plain):
        values = [one for one in values_in(plain[start:end]) if _is_typed(one)]
        if not content(bare_clause(plain[start:end])):
            # a bare value belongs to what stands before it
            start = 0
        bare, rest = bare_clause(plain[start:end]), f"{plain[:start]} {plain[end:]}"
        spoken, names = content(bare), frozenset[str]().union(*map(content, _NAME.findall(rest)))
        if spoken and not _NUMBER.search(bare):
            found += [
                NewValue(one, bare, spoken, rest, names)
                for one in values
                if one.text in revision.new or not _WHEN.search(plain[start:end].partition(one.text)[0])
            ]
    return found


def replaced_value(new: Sequence[NewValue], text: str, words: frozenset[str]) -> tuple[TypedValue, TypedValue] | None:
    """Return the one value of a memory, and the one that a sentence has for it; None: it is of something else."""
    known = {one.key for one in values_in(text)}
    fresh = [one for one in new if one.value.key not in known]
    if len(fresh) != 1 or not fresh[0].may_be_of(text, words) or tells_what_happened(text):
        return None
    (one,) = fresh
    if is_of_other(text, one.spoken | one.names):
        return None
    # what another clause says is of another thing
    common = content(subject_of(text)) | (words - content(text))
    places = [
        values[0]
        for own, values in _places(text, one.value.kind)
        if len(values) == 1 and _agree(one.spoken, own, common)
    ]
    return (places[0], one.value) if len(places) == 1 else None


def _agree(spoken: frozenset[str], own: str, common: frozenset[str]) -> bool:
    """Tell whether a clause of a memory says all that is said, and is about that."""
    about = content(own)
    if _HAN_RUN.search(own):
        return not spoken.isdisjoint(about)
    # the noun that it is about: of a compound the last word
    nouns = map(content, reversed(subject_of(own).partition(" of ")[0].split()))
    return (
        _are_in(spoken, about | common)
        and any(_are_in({word}, about) for word in spoken)
        and _are_in(next(filter(None, nouns), frozenset()), spoken)
    )


def _are_in(spoken: Iterable[str], words: frozenset[str]) -> bool:
    return all(one in words or any(_are_akin(one, other) for other in words) for one in spoken)


def _are_akin(one: str, other: str) -> bool:
    """Tell whether two stems are of one word, or tell of one event."""
    short, long = sorted((one, other), key=len)
    if len(short) >= _MIN and long.startswith(short) and long[len(short) :] in _KIN_ENDINGS:
        return True
    return any(one in family and other in family for family in _FAMILIES)


def _is_typed(one: TypedValue) -> bool:
    return one.kind in _KINDS or one.kind.startswith(_AMOUNT)


def _parts(between: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield where the parts of a text start and end."""
    start = 0
    for found in between.finditer(text):
        yield start, found.start()
        start = found.end()
    if text[start:].strip():
        yield start, len(text)


def _places(text: str, kind: str) -> Iterator[tuple[str, list[TypedValue]]]:
    """Yield what each clause with values of a kind is about, and these: its own words, else those of the first."""
    values = [one for one in values_in(text) if one.kind == kind]
    main = ""
    for start, end in _parts(_END, text):
        clause = text[start:end]
        own = [one for one in values if start <= one.start < end]
        bare = bare_clause(clause)
        about = bare if content(bare) else main
        main = main or about
        if own:
            yield about, own


def bare_clause(clause: str) -> str:
    """Return a clause without its typed values, and the words of a change."""
    for one in reversed(values_in(clause)):
        if _is_typed(one):
            clause = f"{clause[: one.start]} ; {clause[one.end :]}"
    return _CHANGES.sub(" ", clause)


_TOKENS = expression(rf"[^\W{HAN}]+(?:['’.-][^\W{HAN}]+)*|[{HAN}]|\S")
_NO_VALUE = caseless(rf"(?<!\S)(?:is|are|was|were|has|have|had|是|在|有)(?!\S)|\A{PARTICIPLE} (?:in|at|by|with)\b")
_MIDDLE_MAX = 8


def are_same_but_one(one: Memory, other: Memory) -> bool:
    """Tell whether two memories are about the same in the same words, but for one value."""
    if one.line.slugs != other.line.slugs or not _begin_or_end_alike(one.text.strip(), other.text.strip()):
        return False
    mine, theirs = _TOKENS.findall(one.text), _TOKENS.findall(other.text)
    ahead, middle, behind = _unlike(mine, theirs)
    middles = middle, theirs[len(ahead) : len(theirs) - len(behind)]
    are_values = all(0 < len(middle) <= _MIDDLE_MAX and not _NO_VALUE.search(" ".join(middle)) for middle in middles)
    # who eats meat and plays the clarinet does both: beside their subject they share a verb, or what follows
    is_verb_same = len(ahead) > len(_TOKENS.findall(subject_of(one.text))) or content(" ".join(behind))
    return are_values and bool(is_verb_same and content(" ".join(ahead + behind)))


def _begin_or_end_alike(mine: str, theirs: str) -> bool:
    return mine[:1] == theirs[:1] or mine[-1:] == theirs[-1:]


def _unlike(mine: list[str], theirs: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the tokens with which two texts begin alike, those that one has otherwise, and those that both end on."""
    ahead = common_start(mine, theirs)
    behind = len(mine) - common_start(mine[ahead:][::-1], theirs[ahead:][::-1])
    return mine[:ahead], mine[ahead:behind], mine[behind:]


def difference(text: str, other: str) -> str:
    """Return the part of a text that another one of the same words has otherwise."""
    _, middle, _ = _unlike(_TOKENS.findall(text), _TOKENS.findall(other))
    return ("" if all(len(token) == 1 for token in middle) else " ").join(middle)


_SPOKEN_PARTS = expression(r"[,;:，；：。!！](?!\d)\s*|\.\s+|\s(?:and|but|so|because|und|aber)\s|\s[–—-]+\s")
_HALF, _HAN_PART = 0.5, 0.3
"""Of the pairs of signs some lie across two words."""


def came_between(
    revision: Revision, standing: Sequence[Candidate], candidates: Sequence[Candidate]
) -> Candidate | None:
    """Return the one line that says otherwise than what a sentence says to hold again, and than what held before.

    The sentence says of what both are, or what came between: what happened to a value once more is no return to it.
    """
    clauses = [one for one in _SPOKEN_PARTS.split(revision.plain) if any(again.search(one) for again in AGAIN_WORDS)]
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
    least = _HAN_PART if any(map(HAN_SIGN.match, value)) else _HALF
    return bool(value) and len(words & value) >= least * len(value)

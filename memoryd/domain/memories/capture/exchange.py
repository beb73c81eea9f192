"""Exchange of one value in a memory whose other content stays valid, and the line between two equal values."""

import re
from collections.abc import Iterator, Sequence

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.book import Memory
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
    ContentWords,
    TypedValue,
    ValuePair,
    common_start,
    content,
    new_value,
    values_in,
)
from memoryd.domain.memories.facts.values import HAN, HAN_SIGN, PARTICIPLE

_SEGMENT = caseless(
    r"[,;，；。]\s*|\s(?=(?:in|on|at|with|from|for|near|behind|under|between|until|and"
    r"|am|im|um|mit|bei|beim|vom|bis|auf|für|hinter|neben|und)\s)"
)


def renew_line(revision: Revision, old: str) -> str:
    """Return the old line with one value exchanged, if it says more than what changes; else the sentence."""
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


def exchange_value(old: str, pair: ValuePair) -> str:
    """Return a line with the first value of the pair, which it contains, replaced by the second."""
    return old[: pair[0].start] + pair[1].text + old[pair[0].end :]


_CLAUSES = caseless(r"[,;，；。]\s*|\s(?:and|und)\s")


def has_other_clause(revision: Revision, text: str) -> bool:
    """Return whether a memory has a clause that the sentence does not revise, and that would be hidden with it."""
    spoken, subject = content(revision.text), content(subject_of(text))
    clauses = [words for clause in _CLAUSES.split(text) if (words := content(clause) - subject)]
    return AGAIN not in revision.forms and len(clauses) > 1 and any(words.isdisjoint(spoken) for words in clauses)


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


def _parts(between: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts of a text."""
    start = 0
    for match in between.finditer(text):
        yield start, match.start()
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


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

"""What reflect infers by rules: retained lines for a log that has none, and observations of what recurred.

Few and plain rather than many. A sentence is taken word for word if it is self-contained: it names a known entity,
says something definite (a verb of the list, a number, a date), and is no question, supposition, quotation or secret.

An observation is made of experiences of several days about one entity that share a word. It rests on the first 3, 6,
12 … memories, so that it stays the same until there are twice as many.
"""

from calendar import day_name, month_name
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date
from itertools import islice
from typing import Final

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.kinds import Kind, MemoryId, Network, short_id
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.scopes import GLOBAL
from memoryd.domain.memories.sections import scoped_spans
from memoryd.domain.redaction import redacted
from memoryd.domain.text.lines import padded, tabulate
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.domain.text.structure import Structure, analyse
from memoryd.domain.text.words import is_unspaced, query_terms

MAX_LINES: Final = 5
"""Of one log."""
MAX_SENTENCES: Final = 2_000
"""Of one log that are looked at."""
MIN_CHARS, MIN_CHARS_UNSPACED, MAX_CHARS = 25, 8, 300
MAX_NAMES: Final = 3
"""Entities of one line."""
_ENDS: Final = expression(r"(?<=[.!?])[ \t]+(?=[\"“‘A-Z0-9@\u3040-\u9fff])|(?<=[。！？])")
_RETAIN: Final = expression(r"(?im)^ {0,3}#{2,6}[ \t]+retain\b")
_MARK: Final = expression(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_NO_PROSE: Final = expression(r"[ \t]*(?:[>|<#]|!\[|https?://|\w+:[ \t]*$)")
_LEANS: Final = expression(
    r"(?i)(?:it|he|she|they|this|that|these|those|there|and|but|so|then|also|or|which|because|however|still|again"
    r"|such|here)\b|[它他她这那但所然并还]"
)
"""How a sentence begins that leans on the one before it."""
_SUPPOSED: Final = expression(
    r"(?i)\b(?:may|might|maybe|perhaps|probably|if|would|could|should|todo|tbd|wonder\w*|guess\w*|unless|whether"
    r"|plan(?:s|ning)? to|want(?:s)? to|going to)\b|[?？]|可能|也许|如果|大概|或许|是否|要不要|打算|想要|应该"
)
_PREFERS: Final = expression(r"(?i)\b(?:prefers?|likes?|loves?|hates?|dislikes?|favou?rs?)\b|喜欢|讨厌|偏好|更愿意")
_DID: Final = expression(
    r"(?:\b(?:I|We) (?:have )?(?:[a-z]{1,12}ly )?(?:[a-z]{2,20}ed|made|set|wrote|found|built|ran|put|took|sent|met|went"
    r"|got|gave|bought|sold|began|cut|chose|kept|left|lost|paid|told|won)\b)|(?:我们?|咱们)[^。！？]{0,40}了"
)
_DEFINITE: Final = expression(
    r"(?i)\b(?:is|are|has|have|decided|agreed|moved|lives?|works?|uses?|runs?|starts?|costs?|owns?|became|joined|left"
    r"|changed|fixed|switched|replaced|released|shipped|bought|sold|married|born|hired|signed|opened|closed|allergic"
    r"|was|were)\b|[0-9]|是|在|住|有|决定|改为|改成|换成|修复|搬|买|用|上线|发布|过敏|同意|叫"
)
_UNSPACED: Final = expression(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STRONG: Final = expression(
    r"(?i)\b(?:decided|agreed|moved|switched|replaced|fixed|prefers?|allergic|released|signed|joined|lives?|works?)\b"
    r"|决定|改为|改成|换成|修复|喜欢|过敏|住在|搬到"
)

_NAME: Final = expression(r"(?<=[a-z,;] )[A-Z][a-z]{2,20}\b(?!['’]?[A-Z])")
"""A word with a capital behind another word: in English, a name."""
_NO_NAMES: Final = frozenset({"Internet", "English", "German", "Chinese", "The", "This", *day_name, *month_name})

NamesIn = Callable[[str], Collection[str]]
"""The entities that a sentence names, as they are written, in order."""


def recurring_names(texts: Iterable[str]) -> frozenset[str]:
    """Return words that are written as names, within sentences, in more than one of the logs of some days."""
    named = ({name for one in sentences_of(text) for name in _NAME.findall(one)} for text in texts)
    logs = Counter(name for names in named for name in names)
    return frozenset(name for name, count in logs.items() if count > 1 and name not in _NO_NAMES)


def has_retain(text: str) -> bool:
    """Tell whether a log has a Retain section, be it empty: then nothing is inferred for it."""
    return _RETAIN.search(text) is not None


def inferred_lines(
    text: str,
    names_in: NamesIn,
    known: Collection[MemoryId] = (),
    is_forgotten: Callable[[RetainedLine], bool] = lambda _: False,
) -> tuple[RetainedLine, ...]:
    """Return what may be retained of a log, in the order in which it stands there; `known` is stated elsewhere."""
    candidates: dict[MemoryId, tuple[int, int, RetainedLine]] = {}
    for at, sentence in enumerate(islice(sentences_of(text), MAX_SENTENCES)):
        line = _line(sentence, names_in)
        if line is not None and line.id not in known and not is_forgotten(line):
            candidates.setdefault(line.id, (-_score(sentence, line), at, line))
    best = sorted(candidates.values(), key=lambda one: one[:2])[:MAX_LINES]
    return tuple(line for _, _, line in sorted(best, key=lambda one: one[1]))


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of prose and bullets: of no heading, code, quotation, table, front matter or other scope."""
    sentences = (sentence.strip() for paragraph in _paragraphs(text) for sentence in _ENDS.split(paragraph))
    yield from filter(None, sentences)


def _paragraphs(text: str) -> Iterator[str]:
    data = padded(text)
    structure = analyse(tabulate(data), front_matter_bytes(data))
    scoped = [span for span in scoped_spans(data) if span.scope != GLOBAL]
    # what is for one agent must not be proposed as a memory of all
    others = {line - 1 for span in scoped for line in range(span.first_line, span.last_line + 1)}
    gathered: list[str] = []
    last = -2
    for row, line in _rows(structure):
        number = int(structure.lines.numbers[row])
        is_new = number != last + 1 or _MARK.match(line) is not None
        if gathered and is_new:
            yield " ".join(gathered)
            gathered = []
        if number not in others and not _NO_PROSE.match(line):
            gathered.append(_MARK.sub("", line, count=1).strip())
            last = number
    if gathered:
        yield " ".join(gathered)


def _rows(structure: Structure) -> Iterable[tuple[int, str]]:
    for row in range(len(structure.lines.starts)):
        if not structure.code[row] and not structure.levels[row]:
            yield row, structure.lines.line(row).decode("utf-8", "replace").rstrip("\r\n")


def _line(sentence: str, names_in: NamesIn) -> RetainedLine | None:
    shortest = MIN_CHARS_UNSPACED if _UNSPACED.search(sentence) else MIN_CHARS
    if not shortest <= len(sentence) <= MAX_CHARS or _LEANS.match(sentence) or _SUPPOSED.search(sentence):
        return None
    kinds = ((_PREFERS, Kind.OPINION), (_DID, Kind.EXPERIENCE), (_DEFINITE, Kind.WORLD))
    kind = next((kind for pattern, kind in kinds if pattern.search(sentence)), None)
    if kind is None or redacted(sentence) != sentence:
        return None
    names = tuple(names_in(sentence))[:MAX_NAMES]
    return RetainedLine(kind, sentence, names) if names else None


def _score(sentence: str, line: RetainedLine) -> int:
    has_number = any(map(str.isdigit, sentence))
    return 2 * bool(_STRONG.search(sentence)) + has_number + len(line.entities) + (line.kind is not Kind.WORLD)


MIN_DAYS: Final = 3
"""Days on which something must have happened before it recurs."""
MAX_OBSERVATIONS: Final = 5
"""Of one run."""
MAX_TERMS: Final = 40
"""Words of a memory that are looked at."""
MAX_IDS: Final = 12
"""Memories that an observation names."""
_MIN_LETTERS: Final = 4
"""Of a word that says what happened; two in a script without spaces."""


class Recurrence(Struct, frozen=True):
    """What recurred: memories of different days, the oldest first, about an entity, that share a word."""

    entity: str
    word: str
    memories: tuple[Memory, ...]

    @property
    def line(self) -> RetainedLine:
        """Return the observation as a line: it names the days, and the memories that it rests on."""
        days = ", ".join(one.first_recorded.isoformat() for one in self.memories)
        ids = ", ".join(short_id(one.id) for one in self.memories)
        text = f"“{self.word}” came up on {len(self.memories)} days: {days} (rests on {ids})"
        return RetainedLine(Kind.OBSERVATION, text, (self.entity,))


def recurrences(
    memories: Iterable[Memory], since: date, is_common: Callable[[str], bool] = lambda _: False
) -> tuple[Recurrence, ...]:
    """Return what recurred, one for each entity at most, with something of it recorded since a day.

    Of several words the one of the most days counts, and of these the longest. `is_common` says which words are said
    of everything.
    """
    by_entity: defaultdict[EntitySlug, defaultdict[str, dict[date, Memory]]] = defaultdict(lambda: defaultdict(dict))
    names: dict[EntitySlug, str] = {}
    for memory in sorted(memories, key=lambda one: (one.first_recorded, one.id)):
        if memory.line.network is not Network.EXPERIENCE:
            continue
        words = _words(memory, is_common)
        for name in memory.line.entities:
            names.setdefault(slug_of(name), name)
        for slug in memory.slugs:
            for word in words:
                by_entity[slug][word].setdefault(memory.first_recorded, memory)
    found = [_of_entity(names[slug], words, since) for slug, words in sorted(by_entity.items())]
    return tuple(sorted(filter(None, found), key=lambda one: (-len(one.memories), one.entity))[:MAX_OBSERVATIONS])


def _of_entity(name: str, words: dict[str, dict[date, Memory]], since: date) -> Recurrence | None:
    ranked = sorted(words.items(), key=lambda item: (-len(item[1]), -len(item[0]), item[0]))
    word, days = ranked[0] if ranked else ("", {})
    count = MIN_DAYS
    while count * 2 <= min(len(days), MAX_IDS):
        count *= 2
    memories = tuple(days.values())[:count]
    return None if len(days) < MIN_DAYS or memories[-1].recorded < since else Recurrence(name, word, memories)


def _words(memory: Memory, is_common: Callable[[str], bool]) -> list[str]:
    names = {term for name in memory.line.entities for term in query_terms(name)}
    return [
        term
        for term in query_terms(memory.line.text, limit=MAX_TERMS)
        if term not in names and not term.isdigit() and not is_common(term) and _says_something(term)
    ]


def _says_something(term: str) -> bool:
    return len(term) >= (2 if is_unspaced(term) else _MIN_LETTERS) and not term[0].isdigit()
